"""LastFM friendships, real private social ties, from the data files of the `graphdatascience` package."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.dataset import Dataset
from core.datasets.edges import simple_edges
from core.datasets.packaged import read_packaged
from core.datasets.positions import stored_positions
from core.datasets.splits import citation_split
from core.graph import Nodes, PrivateGraph

LISTENERS = 20
TAGS = 5
# The package's serialize_lastfm.py adds this to artist ids, to keep them apart from user ids.
ARTIST_OFFSET = 10_000
SOURCE = (
    "LastFM, HetRec 2011 (Cantador et al.; GroupLens, non-commercial use), data files of the graphdatascience "
    "package (Apache-2.0); labels derived here from tags, split seeded here: 20 a class, 500, 1000"
)


def load_lastfm() -> Dataset:
    """Return the LastFM friendship graph: 1,892 users, 12,717 ties, 804 artists, 5 classes.

    Features: 1 for each artist the user listens to, over artists with at least `LISTENERS`
    listeners. Classes: the `TAGS` tags that most users have used; a user's class is the one most
    over-represented among the tags of the artists they listen to (`tag_labels`). Friendships play
    no part in features, classes or labels. Ids, artists and tags keep their HetRec 2011 numbers.
    """
    users = pd.Index(read_packaged("lastfm/user_nodes.parquet.gzip")["nodeId"])
    listens = read_packaged("lastfm/user_listen_artist_rels.parquet.gzip")
    taggings = read_packaged("lastfm/user_tag_artist_rels.parquet.gzip")
    ties = read_packaged("lastfm/user_friend_df_directed.parquet.gzip")

    listens = listens[["sourceNodeId", "targetNodeId"]].drop_duplicates()
    listeners = listens["targetNodeId"].value_counts()
    artists = pd.Index(np.sort(listeners.index[listeners >= LISTENERS]))
    x = _counts(listens["sourceNodeId"], users, listens["targetNodeId"], artists)
    users_of_tag = taggings.groupby("tagID")["sourceNodeId"].nunique()
    tags = users_of_tag.sort_values(ascending=False, kind="stable").index[:TAGS]
    labels = tag_labels(users, listens, taggings, tags)

    nodes = Nodes(
        tuple(users.astype(str)),
        x,
        tuple(f"artist {artist - ARTIST_OFFSET}" for artist in artists),
        tuple(f"tag {tag}" for tag in tags),
    )
    rows = np.stack([users.get_indexer(ties["sourceNodeId"]), users.get_indexer(ties["targetNodeId"])], axis=1)
    graph = PrivateGraph(nodes, simple_edges(rows, nodes.n))
    split = citation_split(labels)
    positions = stored_positions("lastfm", nodes)
    return Dataset("lastfm", "LastFM friendships", graph, labels, split, SOURCE, positions=positions)


def tag_labels(users: pd.Index, listens: pd.DataFrame, taggings: pd.DataFrame, tags: pd.Index) -> np.ndarray:
    """Return each user's most over-represented tag, N int64 places in `tags`, -1 without a tagged artist.

    With `p_at` the share of tag `t` among the taggings of artist `a` that use `tags`, and
    `s_ut = sum of p_at over the artists a that u listens to`, the label is
    `argmax_t s_ut / sum_u s_ut`, ties to the earlier tag.
    """
    taggings = taggings[taggings["tagID"].isin(tags)]
    tagged = pd.Index(np.sort(taggings["targetNodeId"].unique()))
    uses = _counts(taggings["targetNodeId"], tagged, taggings["tagID"], tags)
    shares = uses.toarray() / uses.sum(axis=1)[:, None]
    heard = _counts(listens["sourceNodeId"], users, listens["targetNodeId"], tagged)
    scores = heard @ shares
    return np.where(scores.any(axis=1), np.argmax(scores / scores.sum(axis=0), axis=1), -1).astype(np.int64)


def _counts(rows: pd.Series, row_index: pd.Index, columns: pd.Series, column_index: pd.Index) -> sparse.csr_array:
    """How often each (row, column) occurs, by place in the indexes; values outside them are left out."""
    at, across = row_index.get_indexer(pd.Index(rows)), column_index.get_indexer(pd.Index(columns))
    kept = (at >= 0) & (across >= 0)
    shape = (len(row_index), len(column_index))
    return sparse.coo_array((np.ones(kept.sum()), (at[kept], across[kept])), shape=shape).tocsr()
