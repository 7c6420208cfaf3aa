"""Private labels: a frozen classifier's labels are released when enough subsampled graphs agree on them."""
