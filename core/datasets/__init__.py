"""Data sets by name: `load("cora")`, `load("planetoid:CiteSeer")`, `load("path/of/a/folder")`."""

from __future__ import annotations

from core.datasets.dataset import Dataset, Split
from core.datasets.registry import load, names
from core.datasets.report import LoadReport

__all__ = ["Dataset", "LoadReport", "Split", "load", "names"]
