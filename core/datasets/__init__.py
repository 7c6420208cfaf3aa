"""Data sets by name or path: `load("cora")`, `load("planetoid:CiteSeer")`, `load("path/of/a/folder")`."""

from __future__ import annotations

from core.datasets.dataset import Dataset, Split
from core.datasets.description import describe, described
from core.datasets.owner.export import export_folder
from core.datasets.owner.roles import Roles
from core.datasets.registry import load, names
from core.datasets.report import LoadReport

__all__ = ["Dataset", "LoadReport", "Roles", "Split", "describe", "described", "export_folder", "load", "names"]
