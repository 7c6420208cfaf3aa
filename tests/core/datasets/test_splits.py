import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.splits import citation_split, share_split

labellings = st.lists(st.integers(-1, 4), min_size=1, max_size=300).map(lambda values: np.array(values, dtype=np.int64))


def test_citation_split_has_the_stated_sizes():
    labels = np.random.default_rng(0).integers(-1, 7, size=2_500)
    split = citation_split(labels)
    assert np.bincount(labels[split.train]).tolist() == [20] * 7
    assert (len(split.validation), len(split.test)) == (500, 1000)


@given(labellings)
def test_share_split_uses_every_labelled_row_once(labels):
    split = share_split(labels)
    assert sorted(split.rows) == np.flatnonzero(labels >= 0).tolist()


@given(labellings)
def test_share_split_trains_on_twenty_or_half_of_a_class(labels):
    split = share_split(labels)
    for name in range(5):
        size = int((labels == name).sum())
        assert int((labels[split.train] == name).sum()) == min(20, size // 2)


def test_share_split_validates_on_a_fifth():
    split = share_split(np.repeat([0, 1], 500))
    assert (len(split.train), len(split.validation), len(split.test)) == (40, 200, 760)


def test_splits_are_seeded_but_not_in_row_order():
    labels = np.repeat([0, 1], 500)
    one, two = share_split(labels), share_split(labels)
    assert one.train.tolist() == two.train.tolist()
    assert one.train.tolist() != [*range(20), *range(500, 520)]
