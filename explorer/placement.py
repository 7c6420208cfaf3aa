"""From placement diagnoses to rows of the screen."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from core.placement.mechanisms import GraphMechanism
from core.placement.result import Placement, Rates, rates
from explorer.figures.placement import PlacementBar
from explorer.wording import two_digits

EXPLANATION = "explanation-level (this tool)"
NAMES = {
    GraphMechanism.GAUSSIAN: "graph-level, Gaussian",
    GraphMechanism.LAPLACE: "graph-level, Laplace top-m",
    GraphMechanism.RR: "graph-level, randomized response",
}


@dataclass(frozen=True, eq=False)
class Run:
    """One diagnosis per graph-level mechanism, all on the same targets, ε, ρ and draws.

    `target_place`: place of the explorer's own target; the first `population` targets are the population.
    """

    target_id: str
    population_name: str
    population: int
    target_place: int
    placements: dict[GraphMechanism, Placement]

    @property
    def any(self) -> Placement:
        """A placement, for what all have in common."""
        return next(iter(self.placements.values()))

    def population_rates(self, kind: GraphMechanism) -> Rates:
        """Rates over the population, without the explorer's own target where it isn't part of it."""
        placement = self.placements[kind]
        size = len(placement.targets)
        return rates([cell for place, cell in enumerate(placement.cells) if place % size < self.population])

    def bars(self) -> list[PlacementBar]:
        """Bars of the population."""
        rows = [PlacementBar(EXPLANATION, self._explained_valid(), 0.0, 0.0, 0.0)]
        for kind in self.placements:
            found = self.population_rates(kind)
            shared = found.spurious * (found.spurious_polluted or 0.0)
            rows.append(PlacementBar(NAMES[kind], found.valid, shared, found.spurious - shared, found.polluted))
        return rows

    def _explained_valid(self) -> float:
        rows = self.any.explained[: self.population]
        return sum(row.valid for row in rows) / len(rows)

    def table(self) -> str:
        """HTML table: population and own target, one row a placement, exact to four decimals."""
        own = self.any.explained[self.target_place]
        body = _row(
            EXPLANATION,
            "pure ε, candidate names only",
            self._explained_valid(),
            None,
            own.valid,
            None,
            clean_accuracy=self.any.clean_accuracy,
        )
        for kind, placement in self.placements.items():
            body += _row(
                NAMES[kind],
                _guarantee(placement),
                None,
                self.population_rates(kind),
                None,
                placement.rates_at(self.target_place),
                placement,
            )
        head = "".join(f'<th scope="col" title="{escape(why)}">{name}</th>' for name, why in COLUMNS)
        return (
            f'<div class="scroll"><table><thead><tr><th></th><th colspan="4">{self.population} '
            f'{escape(self.population_name)} targets</th><th colspan="3">node {escape(self.target_id)}</th>'
            f'<th colspan="2">whole graph</th></tr><tr><th scope="col">placement</th>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )


COLUMNS = (
    ("valid", "Share of (target, draw) cells whose intervention flips the true graph"),
    ("spurious", "Share whose intervention flips the noised graph and not the true one"),
    ("of which polluted", "Share of the spurious cells whose prediction the noise alone had changed"),
    ("polluted", "Share of cells whose prediction the noise alone changes"),
    ("valid", "The same for the target chosen at the left, over noise draws"),
    ("spurious", "The same for the target chosen at the left, over noise draws"),
    ("polluted", "The same for the target chosen at the left, over noise draws"),
    ("accuracy", "Test accuracy of the classifier on the noised graph, mean over draws"),
    ("false edges", "Edges of the noised graph that the private graph lacks, mean over draws"),
)


def _row(
    name: str,
    guarantee: str,
    explained: float | None,
    population: Rates | None,
    own_explained: float | None,
    own: Rates | None,
    placement: Placement | None = None,
    clean_accuracy: float | None = None,
) -> str:
    if population is None or own is None or placement is None:
        values = [_exact(explained), "0", "–", "0", _exact(own_explained), "0", "0", _exact(clean_accuracy), "0"]
    else:
        values = [
            _exact(population.valid),
            _exact(population.spurious),
            _exact(population.spurious_polluted),
            _exact(population.polluted),
            _exact(own.valid),
            _exact(own.spurious),
            _exact(own.polluted),
            _exact(placement.accuracy),
            f"{placement.false_edges:,.0f}",
        ]
    cells = "".join(f"<td>{value}</td>" for value in values)
    return f'<tr><th scope="row">{escape(name)}<small>{escape(guarantee)}</small></th>{cells}</tr>'


def _exact(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _guarantee(placement: Placement) -> str:
    figures = placement.release.parameters(placement.epsilon)
    delta = float(figures["delta"])
    words = f"(ε, δ = {delta:g})" if delta else "pure ε"
    noise = {"sigma": "σ", "scale": "scale", "flip": "flips"}
    level = next((f", {noise[key]} {two_digits(float(figures[key]))}" for key in noise if key in figures), "")
    return words + level + ("" if figures["certified"] else ", not certified")
