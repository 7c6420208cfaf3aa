"""Private embeddings in tables: accuracy over ε, attack, counting speed and its growth, expressivity, audit.

All noise in the accuracy tables is simulated and seeded; the audit draws through OpenDP.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
from networkx.algorithms.isomorphism import GraphMatcher

from core.audit.certified import audit
from core.audit.claims import Claim, Pair, Relation
from core.audit.sampling import Witness
from core.embeddings import plan as planning
from core.embeddings.accounting import TCDP
from core.embeddings.attack import attack
from core.embeddings.audited import Along, EmbeddingRelease
from core.embeddings.baselines import Baseline
from core.embeddings.counting import adjacency_of, counts, plan
from core.embeddings.domain import Domain
from core.embeddings.experiments import UtilityRow, treewidth_classes, utility_table
from core.embeddings.expressivity import expressivity
from core.embeddings.graphset import bare_graph
from core.embeddings.patterns import EDGE, Pattern, clique, cycle, path
from core.embeddings.pipelines import Classifier
from core.embeddings.plan import noise_plan
from core.embeddings.samplers import PatternClass, sample
from core.embeddings.sbm import CYCLE_CLASSES, block_graphs
from core.threads import use_one_thread

BASELINES = (Baseline.RR, Baseline.DPRR)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=300, help="nodes of each graph of the block models")
    parser.add_argument("--graphs", type=int, default=20, help="graphs of each class")
    parser.add_argument("--epsilon", type=float, action="append", help="budgets; repeat it")
    parser.add_argument("--figure", help="write the scaling figure to this file")
    options = parser.parse_args()
    use_one_thread()
    epsilons = options.epsilon or [0.1, 0.3, 1.0, 3.0]
    bound = int(0.72 * options.nodes)
    graphs = block_graphs(CYCLE_CLASSES, options.graphs, options.nodes, seed=0)
    kinds = [PatternClass.parse("tree"), PatternClass.parse("cycle")]

    print(f"SBM classes, {options.graphs} graphs each on {options.nodes} nodes, δ = 1e-5; accuracy of 5-NN, 5 folds")
    for title, degree in (("any graph", None), (f"degrees at most {bound} in public", bound)):
        print(f"\n{title}")
        print_utility(
            utility_table(
                graphs, kinds, epsilons, degree_bound=degree, repeats=3, baselines=[] if degree else BASELINES
            )
        )
    print("\nTreewidth at most k, SVM, n = 120, degrees at most 96, patterns of at most 5 vertices")
    narrow = [replace(kind, most_vertices=5) for kind in treewidth_classes(3)]
    small = block_graphs(CYCLE_CLASSES, options.graphs, 120, seed=1)
    print_utility(
        utility_table(
            small, narrow, epsilons, degree_bound=96, repeats=3, baselines=[], dimensions=20, classifier=Classifier.SVM
        )
    )
    attack_table(epsilons)
    speed_table()
    rows = scaling()
    if options.figure:
        draw(rows, options.figure)
    expressivity_table()
    audit_table()


def print_utility(rows: Sequence[UtilityRow]) -> None:
    budgets = sorted({row.epsilon for row in rows if row.epsilon is not None})
    print(
        f"  {'patterns':<13}{'d':>4}  {'method':<18}" + "".join(f"{f'ε = {e:g}':>13}" for e in budgets) + f"{'none':>8}"
    )
    for (kind, method), group in itertools.groupby(
        sorted(rows, key=lambda row: (row.patterns, row.method)), key=lambda row: (row.patterns, row.method)
    ):
        found = list(group)
        cells = {row.epsilon: f"{row.accuracy:.2f} ± {row.std:.2f}" for row in found}
        line = "".join(f"{cells.get(e, ''):>13}" for e in budgets)
        print(f"  {kind:<13}{found[0].dimensions:>4}  {method:<18}{line}{cells.get(None, '')[:4]:>8}")


def attack_table(epsilons: Sequence[float]) -> None:
    print("\nBest edge-presence attack: advantage (0: guessing, 1: certain), mean over 40 pairs, SBM graph, n = 80")
    graph = CYCLE_CLASSES[1].draw(80, np.random.default_rng(2))
    rng = np.random.default_rng(3)
    pairs = [tuple(sorted(rng.choice(80, 2, replace=False).tolist())) for _ in range(40)]
    for name in ("tree", "cycle", "treewidth:2"):
        patterns = sample(replace(PatternClass.parse(name), most_vertices=6), 20, 0)
        found = [attack(noise_plan(patterns, Domain(80), e, 1e-5), graph, pairs) for e in epsilons]
        cells = "  ".join(
            f"ε = {e:g}: {r.advantage:.3f} (allowed {2 * r.bound - 1:.3f})"
            for e, r in zip(epsilons, found, strict=True)
        )
        print(f"  {name:<13}{cells}  without noise: {2 * found[0].bare - 1:.3f}")


def speed_table() -> None:
    print("\nCounting, ms (median of 3): ours, NetworkX, every map one by one; ratios; the counts agree")
    graph = nx.gnp_random_graph(30, 0.3, seed=1)
    matrix = nx.to_numpy_array(graph)
    adjacency = [set(graph[node]) for node in graph]

    def every_map(pattern: Pattern) -> int:
        """Backtracking over all maps, the check after each vertex: a fair brute force."""
        near = [[other for other in row if other < vertex] for vertex, row in enumerate(pattern.neighbours)]

        def extend(image: list[int]) -> int:
            if len(image) == pattern.vertices:
                return 1
            return sum(
                extend([*image, node]) for node in graph if all(node in adjacency[image[o]] for o in near[len(image)])
            )

        return extend([])

    def matcher(pattern: Pattern) -> int:
        """NetworkX counts injective maps: the homomorphisms of a clique."""
        return sum(1 for _ in GraphMatcher(graph, nx.Graph(pattern.edges)).subgraph_monomorphisms_iter())

    for pattern in (clique(3), clique(4), cycle(5), path(5)):
        ours, count = timed(lambda p=pattern: counts([p], matrix)[0])
        brute, expected = timed(lambda p=pattern: every_map(p), 1)
        assert count == expected
        text = ""
        if pattern.size == pattern.vertices * (pattern.vertices - 1) // 2:
            theirs, injective = timed(lambda p=pattern: matcher(p), 1)
            assert injective == count
            text = f"NetworkX matcher {1000 * theirs:9.1f} ({theirs / ours:8.0f} x)"
        print(
            f"  {pattern.name:<12} n = 30: {1000 * ours:7.3f} brute {1000 * brute:8.1f} ({brute / ours:7.0f} x)  {text}"
        )
    large = nx.gnp_random_graph(1000, 0.05, seed=2)
    matrix = nx.to_numpy_array(large)
    ours, count = timed(lambda: counts([clique(3)], matrix)[0])
    theirs, triangles = timed(lambda: 2 * sum(nx.triangles(large).values()), 1)
    assert count == triangles
    print(f"  triangles    n = 1000: {1000 * ours:.1f} ms, NetworkX {1000 * theirs:.1f} ms ({theirs / ours:.0f} x)")


def scaling() -> list[tuple[int, int, float, float]]:
    print(
        "\nSeconds a pattern over n and treewidth (at most 7 vertices, density 0.5), and multiplications and additions"
    )
    rows = []
    for width in (1, 2, 3):
        kind = replace(PatternClass.parse(f"treewidth:{width}"), most_vertices=7)
        patterns = [one for one in sample(kind, 60, 0) if one.treewidth == width and not one.cycle][-6:]
        for n in (25, 50, 100, 200):
            if width == 3 and n > 100:
                continue
            graph = bare_graph(n, np.argwhere(np.triu(np.random.default_rng(n).random((n, n)) < 0.5, 1)))
            matrix = adjacency_of(graph)
            seconds = statistics.mean(timed(lambda p=p, m=matrix: counts([p], m))[0] for p in patterns)
            operations = statistics.mean(plan(p, n).operations if width > 1 else p.size * 2 * n * n for p in patterns)
            rows.append((width, n, seconds, operations))
            print(f"  treewidth {width}, n = {n:4}: {1000 * seconds:9.3f} ms  {operations:.2g} operations")
    return rows


def draw(rows: Sequence[tuple[int, int, float, float]], path_: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for width, marker in zip((1, 2, 3), "osD", strict=True):
        points = [(n, seconds) for w, n, seconds, _ in rows if w == width]
        axes.loglog(*zip(*points, strict=True), marker=marker, label=f"treewidth {width}")
    axes.set(xlabel="nodes n", ylabel="seconds a pattern", title="Counting homomorphisms")
    axes.legend()
    figure.savefig(path_, dpi=150, bbox_inches="tight")
    print(f"  figure written to {path_}")


def expressivity_table() -> None:
    print("\nPairs of non-isomorphic graphs told apart in expectation")
    for nodes in (4, 5, 6):
        found = expressivity(nodes)
        cells = ", ".join(f"{row.kind} {row.separated:,}" for row in found)
        print(f"  {nodes} nodes, {found[0].pairs:,} pairs: {cells}")


def audit_table() -> None:
    print("\nAudit of the real draw on a pair of neighbours, 10,000 draws a side: ρ = 0.5, δ = 0.1")
    claim = Claim(TCDP(0.5).epsilon(0.1), Relation.EDGE, 0.1)
    graph = bare_graph(8, np.array([[k, k + 1] for k in range(7)]))
    pair = Pair("path and cycle", graph, graph.toggled(0, 7), Relation.EDGE)
    for name, factor in (("as it is", 1), ("sensitivity halved on purpose", 2)):
        with understated(factor):
            made = noise_plan((EDGE,), Domain(8), claim.epsilon, claim.delta)
            witness = Witness("likelihood", Along.between(made, pair.one, pair.other))
            [result] = audit(EmbeddingRelease(made), pair, claim, [witness], select=3_000, evaluate=10_000, seed=1)
        print(f"  {name:<31} ε at least {result.epsilon_lb:.2f}, claimed {claim.epsilon:.2f}: {result.verdict}")


@contextlib.contextmanager
def understated(factor: int) -> Iterator[None]:
    """Divide every bound that plans and draws read: a mistake made on purpose."""
    exact = planning.bound
    planning.bound = lambda pattern, domain: exact(pattern, domain) / factor
    try:
        yield
    finally:
        planning.bound = exact


def timed(work: Callable[[], object], repeats: int = 3) -> tuple[float, object]:
    """Median seconds and the last result; the first call, which plans, isn't counted when there are more."""
    if repeats > 1:
        work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


if __name__ == "__main__":
    main()
