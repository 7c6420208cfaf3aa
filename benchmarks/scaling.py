"""What a target costs as the graph, the universe, the degree and the number of processes grow."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from core.backbone.gcn import GCNWeights
from core.backbone.train import train_gcn
from core.datasets import load
from core.datasets.edges import simple_edges
from core.graph import Nodes, PrivateGraph
from core.prior.prior import PriorKind
from core.scale.cluster import local_workers, on_workers
from core.scoring.batched import score_many
from core.scoring.factorised import GCNScorer
from core.snapshot import simulate
from core.study.plan import Figures, Owned, Plan, price_elsewhere, price_here
from core.study.sheet import Sheet
from core.study.study import Study
from core.threads import use_one_thread
from core.universe import Arm, Limits, Universe, build_universe

NODES = (3_000, 15_000, 150_000, 1_000_000)
LIKE_CORA = "classes=7,features=1433,degree=10"
TWIN = "synthetic:nodes=15000,classes=40,degree=21.5"  # of ogbn-arxiv-core
DEGREES = (4, 16, 64)
BANDS = ((1, 8), (9, 16), (17, 32), (33, 168))
SAME_WORDS = Limits(k_features=8)  # a synthetic node has ten words at most, one of Cora up to thirty
GROWING = (
    Limits(2, 2), Limits(4, 4), Limits(8, 8), Limits(12, 12), Limits(16, 16), Limits(12, 12, 3, 4), Limits(20, 20),
    Limits(28, 20), Limits(37, 20),
)  # fmt: skip
HIDDEN = 32
SAMPLE = 64  # targets of a degree
REPEATS = 5


def main() -> None:
    parts = {
        "nodes": by_nodes,
        "twin": beside_cora,
        "universe": by_universe,
        "degree": by_degree,
        "workers": by_workers,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=parts, action="append", help="repeat it")
    parser.add_argument("--most-nodes", type=int, default=NODES[-1], help="of the synthetic graphs")
    parser.add_argument("--guided", type=int, help="Cora nodes that are priced under the guided prior, if not all")
    options = parser.parse_args()
    use_one_thread()
    for name in options.only or parts:
        parts[name](options)


def random_weights(nodes: Nodes) -> GCNWeights:
    """A frozen backbone of the usual shape that nothing was trained for."""
    rng = np.random.default_rng(0)
    shapes = [(nodes.n_features, HIDDEN), (HIDDEN, len(nodes.classes))]
    w1, w2 = (rng.uniform(-1.0, 1.0, shape) * (6.0 / sum(shape)) ** 0.5 for shape in shapes)
    return GCNWeights(w1, rng.normal(0.0, 0.1, HIDDEN), w2, rng.normal(0.0, 0.1, len(nodes.classes)))


def cpu_ms(ways: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Median CPU milliseconds of each way, one run of each in turn after one that doesn't count."""
    ms: dict[str, list[float]] = {name: [] for name in ways}
    for run in range(repeats + 1):
        for name, work in ways.items():
            started = time.process_time()
            work()
            if run:
                ms[name].append(1000 * (time.process_time() - started))
    return {name: statistics.median(each) for name, each in ms.items()}


def by_nodes(options: argparse.Namespace) -> None:
    """Targets of equal degree and equal universes on graphs of ever more nodes."""
    scorers = {n: random_scorer(f"synthetic:nodes={n},{LIKE_CORA}") for n in NODES if n <= options.most_nodes}
    universes = {
        (n, degree): universes_of(scorer, near_degree(scorer.graph, degree, SAMPLE))
        for n, scorer in scorers.items()
        for degree in DEGREES
    }
    ways: dict[str, Callable[[], object]] = {}
    for (n, degree), some in universes.items():
        ways[f"one {n} {degree}"] = lambda n=n, some=some: one_by_one(scorers[n], some)
        ways[f"many {n} {degree}"] = lambda n=n, some=some: list(score_many(scorers[n], some))
    ms = cpu_ms(ways)
    print(f"\nTargets of equal degree and equal universes, CPU ms a target (x: of {NODES[0]:,} nodes)\n")
    head(["nodes", "edges", *(f"degree {degree}, {way}" for degree in DEGREES for way in ("one at a time", "many"))])
    for n, scorer in scorers.items():
        cells = []
        for degree in DEGREES:
            for way in ("one", "many"):
                each = ms[f"{way} {n} {degree}"] / len(universes[n, degree])
                first = ms[f"{way} {NODES[0]} {degree}"] / len(universes[NODES[0], degree])
                cells.append(f"{each:.2f} ({each / first:.2f}x)")
        row([f"{n:,}", f"{scorer.graph.m:,}", *cells])


def beside_cora(options: argparse.Namespace) -> None:
    """256 targets of a 15,000-node graph beside Cora nodes of equal degree, under random and trained weights."""
    twin, cora = load(TWIN), load("cora")
    rng = np.random.default_rng(0)
    targets = rng.choice(np.flatnonzero((twin.graph.degree >= 1) & (wordy(twin.graph))), 256, replace=False)
    targets = targets[twin.graph.degree[targets] <= cora.graph.degree.max()]
    alike = np.array([near_degree(cora.graph, int(degree), 1, rng)[0] for degree in twin.graph.degree[targets]])
    print(f"\n{len(targets)} targets of {TWIN} ({twin.graph.m:,} edges)")
    print("beside Cora nodes of the nearest degree, equal universes, CPU ms a target (x: of Cora's)\n")
    head(["weights", "degree", "targets", "one at a time", "Cora's", "x", "many", "Cora's", "x"])
    for name in ("random", "trained"):
        here, there = (
            GCNScorer(data.graph, random_weights(data.nodes) if name == "random" else train_gcn(data).weights)
            for data in (twin, cora)
        )
        for low, high in [*BANDS, (1, BANDS[-1][1])]:
            band = (twin.graph.degree[targets] >= low) & (twin.graph.degree[targets] <= high)
            mine, its = universes_of(here, targets[band]), universes_of(there, alike[band])
            ms = cpu_ms(
                {
                    "one": lambda here=here, mine=mine: one_by_one(here, mine),
                    "Cora's one": lambda there=there, its=its: one_by_one(there, its),
                    "many": lambda here=here, mine=mine: list(score_many(here, mine)),
                    "Cora's many": lambda there=there, its=its: list(score_many(there, its)),
                }
            )
            ours, cora_one, many, cora_many = (each / len(mine) for each in ms.values())
            figures = [ours, cora_one, ours / cora_one, many, cora_many, many / cora_many]
            row([name, f"{low}-{high}", len(mine), *(f"{figure:.2f}" for figure in figures)])


def by_universe(options: argparse.Namespace) -> None:
    """The Cora nodes of most neighbours that have words enough, under ever wider limits."""
    data = load("cora")
    scorer = GCNScorer(data.graph, train_gcn(data).weights)
    words = np.diff(data.nodes.x.indptr)
    listed = np.flatnonzero(words >= max(limits.k_features for limits in GROWING))
    targets = listed[np.argsort(-data.graph.degree[listed])][:3]
    degrees = ", ".join(map(str, data.graph.degree[targets]))
    print(f"\nCora nodes of degree {degrees}, CPU ms a target\n")
    head(["pairs", "features", "combined", "candidates", "one at a time", "ns a candidate", "many"])
    for limits in GROWING:
        some = universes_of(scorer, targets, limits)
        one, many = both_ways(scorer, some)
        size = statistics.mean(universe.size for universe in some)
        combined = f"{limits.max_edges} and {limits.max_features}"
        figures = [f"{one:.2f}", f"{1e6 * one / size:,.0f}", f"{many:.2f}"]
        row([limits.k_edges, limits.k_features, combined, f"{size:,.0f}", *figures])


def by_degree(options: argparse.Namespace) -> None:
    """Targets of ever more neighbours; ties are added at random to those beyond what the graph holds."""
    drawn = load(f"synthetic:nodes={min(150_000, options.most_nodes)},{LIKE_CORA}").graph
    degrees = [4**k for k in range(7)] + [8192]
    wanted = np.repeat([degree for degree in degrees if drawn.degree.max() < degree < drawn.n], 8)
    rng = np.random.default_rng(0)
    hubs = rng.choice(np.flatnonzero(wordy(drawn)), len(wanted), replace=False)
    ends = [
        np.column_stack([np.full(k, hub), rng.choice(drawn.n, k, replace=False)])
        for hub, k in zip(hubs, wanted, strict=True)
    ]
    graph = drawn.with_edges(simple_edges(np.concatenate([drawn.edges, *ends]), drawn.n))
    scorer = GCNScorer(graph, random_weights(graph.nodes))
    print(f"\n{graph.n:,} nodes, {graph.m:,} edges: 8 targets near each degree, CPU ms a target\n")
    head(["degree (mean)", "candidates", "one at a time", "many"])
    for degree in degrees:
        targets = near_degree(graph, degree, 8)
        some = universes_of(scorer, targets)
        size = statistics.median(universe.size for universe in some)
        figures = [f"{each:.2f}" for each in both_ways(scorer, some)]
        row([f"{graph.degree[targets].mean():,.0f}", f"{size:,.0f}", *figures])


def by_workers(options: argparse.Namespace) -> None:
    """The price list of Cora on worker processes, start-up apart, beside this process."""
    study = Study(load("cora"))
    everyone = np.arange(study.dataset.nodes.n)
    owned = Owned(study.dataset, study.backbone)
    print("\nPrice list of Cora, 4 rho x 6 epsilon, wall s (x: faster than this process)\n")
    head(["prior", "targets", "where", "start-up", "pricing", "x", "figures"])
    for name, targets, plan in (
        ("uniform", everyone, Plan(seeds=(0,), public_only=False)),
        ("guided and public-only", everyone[: options.guided], Plan(seeds=(0,), priors=(PriorKind.GUIDED,))),
    ):
        tasks = list(Sheet(study, plan, Arm.FULL, 0, targets).tasks())
        started = time.perf_counter()
        here = dict(price_here(study.with_seed(0), tasks))
        alone = time.perf_counter() - started
        row([name, len(targets), "this process", "", f"{alone:.2f}", "", ""])
        for workers in (1, 2):
            started = time.perf_counter()
            with local_workers(workers) as client:
                list(on_workers(client, price_elsewhere, owned, tasks[:1] * workers))  # imports, too
                ready = time.perf_counter()
                there = dict(on_workers(client, price_elsewhere, owned, tasks))
                done = time.perf_counter()
            figures = "equal" if same(here, there) else "DIFFERENT"
            where = f"{workers} worker{'s' if workers > 1 else ''}"
            row(
                [
                    name,
                    len(targets),
                    where,
                    f"{ready - started:.1f}",
                    f"{done - ready:.2f}",
                    f"{alone / (done - ready):.2f}",
                    figures,
                ]
            )


def same(here: dict[int, Figures], there: dict[int, Figures]) -> bool:
    """Whether every task gave the very same numbers."""
    return here.keys() == there.keys() and all(
        np.array_equal(mine, its, equal_nan=True)
        for place in here
        for mine, its in zip(here[place], there[place], strict=True)
    )


def random_scorer(name: str) -> GCNScorer:
    data = load(name)
    return GCNScorer(data.graph, random_weights(data.nodes))


def wordy(graph: PrivateGraph) -> np.ndarray:
    """Which nodes have words enough for universes of `SAME_WORDS` to be equal, N bool."""
    return np.diff(graph.nodes.x.indptr) >= SAME_WORDS.k_features


def near_degree(graph: PrivateGraph, degree: int, count: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """`count` rows whose degree is nearest, those of equal distance in random order."""
    rng = rng or np.random.default_rng(0)
    rows = np.flatnonzero(wordy(graph))
    return rows[np.lexsort((rng.random(len(rows)), np.abs(graph.degree[rows] - degree)))[:count]]


def universes_of(scorer: GCNScorer, targets: np.ndarray, limits: Limits = SAME_WORDS) -> list[Universe]:
    snapshot = simulate(scorer.graph, 0)
    return [build_universe(scorer.graph.nodes, snapshot, scorer.weights, int(row), limits) for row in targets]


def both_ways(scorer: GCNScorer, universes: Sequence[Universe]) -> tuple[float, float]:
    """CPU milliseconds a target, one at a time and many at once."""
    ways = {"one": lambda: one_by_one(scorer, universes), "many": lambda: list(score_many(scorer, universes))}
    one, many = (ms / len(universes) for ms in cpu_ms(ways).values())
    return one, many


def one_by_one(scorer: GCNScorer, universes: Sequence[Universe]) -> None:
    for universe in universes:
        scorer.score(universe, margins=False)


def head(columns: Sequence[str]) -> None:
    row(columns)
    row(["---"] * len(columns))


def row(cells: Sequence[object]) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
