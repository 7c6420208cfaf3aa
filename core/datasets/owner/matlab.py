"""A process of its own that reads a MATLAB file from its input and writes plain arrays to its output."""

from __future__ import annotations

import io
import sys


def convert(data: bytes) -> bytes:
    """Return an .npz file with `ends` (k x 2) of the sparse `A`, N x N, and `info`, `local_info` as N x F int64.

    Raises whatever SciPy raises, and `ValueError` without `A` and for arrays that don't fit.
    """
    import numpy as np
    from scipy import sparse
    from scipy.io import loadmat, whosmat

    parts = loadmat(io.BytesIO(data), variable_names=["A", "local_info"])
    if "A" not in parts:
        raise ValueError(f"it holds {', '.join(name for name, *_ in whosmat(io.BytesIO(data))) or 'nothing'} and no A")
    ties = sparse.coo_array(parts["A"])
    table = np.asarray(parts.get("local_info", np.empty((ties.shape[0], 0))))
    if ties.ndim != 2 or ties.shape != (len(table), len(table)) or table.ndim != 2:
        raise ValueError(f"A is {ties.shape} and local_info {table.shape}, not N x N and N x F")
    whole = table.astype(np.int64)
    if (whole != table).any():
        raise ValueError("local_info holds numbers that are not whole")
    ends = np.stack([ties.row, ties.col], axis=1)[ties.data != 0].astype(np.int64)
    if len(ends) and (ends.min() < 0 or ends.max() >= len(table)):
        raise ValueError("A holds an entry outside its shape")
    stream = io.BytesIO()
    np.savez(stream, ends=ends, info=whole)
    return stream.getvalue()


if __name__ == "__main__":
    try:
        sys.stdout.buffer.write(convert(sys.stdin.buffer.read()))
    except Exception as error:
        sys.exit(str(error) or type(error).__name__)
