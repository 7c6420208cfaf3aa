"""Server-side time from a moved control to the patch that a browser would get, on Cora."""

from __future__ import annotations

import argparse
import itertools
import statistics
import time

import numpy as np
from bokeh.document import Document
from bokeh.protocol import Protocol

from core.datasets import load
from core.prior.prior import PriorKind
from core.threads import use_one_thread
from explorer.app import Explorer


class Patches:
    """Counts and serialises document changes as the server does before it sends them."""

    def __init__(self, document: Document) -> None:
        self._protocol = Protocol()
        self.events: list = []
        document.callbacks.on_change(self.events.append)

    def flush(self) -> int:
        """Bytes of the pending changes, serialised; forgets them."""
        changes = [event for event in self.events if hasattr(event, "to_serializable")]
        self.events.clear()
        if not changes:
            return 0
        message = self._protocol.create("PATCH-DOC", changes)
        return sum(len(part) for part in (message.header_json, message.metadata_json, message.content_json))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=60)
    moves = parser.parse_args().moves
    use_one_thread()
    started = time.perf_counter()
    dataset = load("cora")
    explorer = Explorer(dataset)
    document = explorer.page().server_doc(Document())
    print(f"load, backbone and first document: {time.perf_counter() - started:.1f} s")
    desk, patches = explorer.desk, Patches(document)
    rng = np.random.default_rng(0)
    work = {
        "epsilon": [{"epsilon": float(10**x)} for x in rng.uniform(-1, 1, moves)],
        "rho": [{"rho": round(float(x), 2)} for x in rng.uniform(0, 1, moves)],
        "target": [{"target": int(v)} for v in rng.choice(dataset.nodes.n, moves, replace=False)],
        "hub and back": [{"target": int(v)} for v in np.argsort(-dataset.graph.degree)[:moves]],
    }
    print("\n| prior | moved | median, ms | 95th percentile, ms | patch, kB (median) |\n|---|---|---|---|---|")
    first = desk.decisions.target
    for (seed, prior), (name, changes) in itertools.product(enumerate(PriorKind), work.items()):
        # another snapshot has remembered nothing of the other prior's moves
        start = {"seed": seed, "prior": prior.value, "target": first, "epsilon": 1.0, "rho": 0.5}
        if not desk.choose(**start):
            raise SystemExit(desk.problem)
        patches.flush()
        seconds, sizes = [], []
        for change in changes:
            begun = time.perf_counter()
            desk.choose(**change)
            sizes.append(patches.flush())
            seconds.append(time.perf_counter() - begun)
        slowest = statistics.quantiles(seconds, n=20)[-1]
        print(
            f"| {prior.value} | {name} | {1000 * statistics.median(seconds):.1f} | {1000 * slowest:.1f} "
            f"| {statistics.median(sizes) / 1000:.0f} |"
        )


if __name__ == "__main__":
    main()
