"""Studies that all sessions of a server share: pure results, bounded, keyed by what they are computed from."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict

from core.datasets import Dataset
from core.study.study import Study

SHARED_STUDIES = 4

_studies: OrderedDict[str, Study] = OrderedDict()
_lock = threading.Lock()


def shared_study(dataset: Dataset) -> Study:
    """The study of a data set under our own GCN, one for all sessions; raises `BadInput` where none can be trained."""
    with _lock:
        if dataset.digest in _studies:
            _studies.move_to_end(dataset.digest)
            return _studies[dataset.digest]
    study = Study(dataset)
    with _lock:
        study = _studies.setdefault(dataset.digest, study)
        while len(_studies) > SHARED_STUDIES:
            _studies.popitem(last=False)
    return study


@functools.lru_cache(maxsize=SHARED_STUDIES)
def reseeded(study: Study, seed: int) -> Study:
    """The same graph and backbone under the simulated snapshot of another seed, one for all sessions."""
    return study.with_seed(seed)
