"""Settings and fixtures that every test may use."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # Read when numpy and torch load, which no import above does: one core per worker.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_configure(config: pytest.Config) -> None:
    """Keep trained weights in a folder of this run, shared by its workers, so that no older ones are read."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="privcfs-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["PRIVCFS_CACHE"] = folder.name


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cuda"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")


@pytest.fixture(scope="session")
def planetoid_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the raw Planetoid files that PLANETOID_ROOT names, which a loader may write into."""
    given = os.environ.get("PLANETOID_ROOT")
    if not given:
        pytest.skip("PLANETOID_ROOT is not set: no raw Planetoid files")
    if not Path(given).is_dir():
        pytest.skip(f"PLANETOID_ROOT: found no folder {given}")
    return Path(shutil.copytree(given, tmp_path_factory.mktemp("planetoid") / "files"))


@pytest.fixture(scope="session")
def cora():
    """The default data set, a `core.datasets.dataset.Dataset`."""
    from core.datasets import load

    return load("cora")


@pytest.fixture(scope="session")
def cora_backbone(cora):
    """The frozen GCN of `cora`, a `core.backbone.train.Backbone` (seed 0)."""
    from core.backbone.store import backbone_for

    return backbone_for(cora)
