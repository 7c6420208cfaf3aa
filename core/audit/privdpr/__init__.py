"""The PrivDPR case: a published node-DP graph mechanism, rebuilt small, and the pairs that falsify its claim."""
