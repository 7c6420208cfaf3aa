"""Figures as files: the frontier curves and the loss chain as SVG or PNG, in the palette of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from core.errors import BadInput
from core.files import whole_file
from core.prior.prior import PriorKind
from core.study.losschain import LossChain
from explorer.figures.curves import rho_label, top_of
from explorer.figures.losschain import stages
from explorer.palette import LIGHT, Palette

ENDINGS = (".svg", ".png")
PANEL = (2.9, 2.35)  # inches
NARROWEST = 7.8  # inches that title and key need
ROOM = {"w_pad": 0.09, "h_pad": 0.07}  # inches around what is drawn: a marker may reach beyond its panel
DOTS = 200  # per inch of a PNG
DASHES: dict[PriorKind, Any] = {PriorKind.GUIDED: "solid", PriorKind.UNIFORM: (0, (4, 2.5))}
MARKERS = {PriorKind.GUIDED: "o", PriorKind.UNIFORM: "s"}
OWNER_ONLY = "Owner-only: computed from private edges."
_LOOK = {
    "font.family": "DejaVu Sans",  # has ε, ρ and †, and comes with the library
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "privcfs",  # the same figures make the same file
}


def check_ending(path: Path, also: Sequence[str] = ()) -> None:
    """Raise `BadInput` unless `path` ends in a format that can be drawn, or in one of `also`."""
    known = [*ENDINGS, *also]
    if path.suffix.lower() not in known:
        raise BadInput(f"figure {path}: found the ending {path.suffix!r}, expected one of {', '.join(known)}")


def frontier_file(rows: pd.DataFrame, path: Path, palette: Palette = LIGHT) -> None:
    """Draw the frontier of one population: a column of panels for each ρ, a row for each arm. Raises `BadInput`."""
    check_ending(path)
    arms, rhos = list(dict.fromkeys(rows["arm"])), sorted(rows["rho"].unique())
    epsilons, top = sorted(rows["epsilon"].unique()), top_of(rows)
    first = rows.iloc[0]
    with matplotlib.rc_context(_LOOK):
        drawn = Figure(
            figsize=(max(PANEL[0] * len(rhos), NARROWEST), PANEL[1] * len(arms) + 1.05), layout="constrained"
        )
        drawn.get_layout_engine().set(**ROOM)
        axes = drawn.subplots(len(arms), len(rhos), sharex=True, sharey=True, squeeze=False)
        for i, arm in enumerate(arms):
            for j, rho in enumerate(rhos):
                mine = rows[(rows["arm"] == arm) & (rows["rho"] == rho)]
                _panel(axes[i, j], mine, epsilons, top, palette, palette.rho_colour(j, len(rhos)))
                axes[i, j].set_title(rho_label(rho) + (f", {arm} arm" if len(arms) > 1 else ""), color=palette.ink)
        for ax in axes[-1]:
            ax.set_xlabel("ε, budget of one release", color=palette.ink)
        for ax in axes[:, 0]:
            ax.set_ylabel("valid-CF", color=palette.ink)
        seeds = f"{first['seeds']} snapshot {'seed' if first['seeds'] == 1 else 'seeds'}"
        head = f"{first['dataset']}, {first['targets']} targets ({first['population']}), {seeds}"
        arm = f", {arms[0]} arm" if len(arms) == 1 else ""
        drawn.suptitle(f"Share of releases that flip the prediction: {head}{arm}", color=palette.ink, fontsize=10)
        bands = "Bands: mean ± std over seeds. " if first["seeds"] > 1 else ""
        key = drawn.legend(
            handles=_key(palette), loc="outside lower center", ncols=4, frameon=False, labelcolor=palette.ink,
            title=f"{bands}{'† never certified. ' if 1.0 in rhos else ''}{OWNER_ONLY}",
            title_fontproperties={"size": 8},
        )  # fmt: skip
        key.get_title().set_color(palette.muted)
        _write(drawn, path, palette)


def losschain_file(chain: LossChain, path: Path, population: str, dataset: str, palette: Palette = LIGHT) -> None:
    """Draw a loss chain as a waterfall: what is left after each restriction, hatched what it took. `BadInput`."""
    check_ending(path)
    names, rates = zip(*stages(chain), strict=True)
    before = [rates[0], *rates[:-1]]
    with matplotlib.rc_context(_LOOK):
        drawn = Figure(figsize=(7.2, 2.9), layout="constrained")
        drawn.get_layout_engine().set(**ROOM)
        ax = drawn.subplots()
        ax.barh(names, rates, height=0.58, color=palette.flip)
        lost = [max(high - low, 0.0) for high, low in zip(before, rates, strict=True)]
        ax.barh(names, lost, left=rates, height=0.58, fill=False, hatch="////", edgecolor=palette.same, linewidth=0.8)
        for place, (rate, gone) in enumerate(zip(rates, lost, strict=True)):
            bound = "≥ " if place == 0 and chain.not_exhaustive else ""
            text = f"{bound}{rate:.4f}" + (f"  (−{gone:.4f})" if gone > 0 else "")
            ax.annotate(text, (max(rate + gone, 0), place), (5, 0), textcoords="offset points", va="center",
                        color=palette.ink)  # fmt: skip
        ax.invert_yaxis()
        ax.set_xlim(0, 1.2)  # room for what stands beside a full bar
        ax.xaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
        ax.xaxis.set_major_formatter(PercentFormatter(1))
        ax.set_xlabel("share of targets that flip; hatched: lost at this stage", color=palette.ink)
        _quiet(ax, palette)
        ax.grid(axis="x", color=palette.grid, linewidth=0.7)
        ax.tick_params(axis="y", labelcolor=palette.ink, length=0)
        drawn.suptitle(f"Loss chain: {dataset}, {chain.targets} targets ({population})", color=palette.ink, fontsize=10)
        drawn.supxlabel(OWNER_ONLY + " † never certified.", color=palette.muted, fontsize=8)
        _write(drawn, path, palette)


def _panel(ax: Any, rows: pd.DataFrame, epsilons: Sequence[float], top: float, palette: Palette, colour: str) -> None:
    low, high = epsilons[0] / 1.25, epsilons[-1] * 1.25
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    ax.set_ylim(0, top * 1.04)
    ax.xaxis.set_major_locator(FixedLocator(epsilons))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    ax.yaxis.set_major_locator(FixedLocator([top * quarter / 4 for quarter in range(5)]))
    _quiet(ax, palette)
    ax.grid(color=palette.grid, linewidth=0.7)
    if rows.empty:
        ax.text(0.5, 0.5, "not in this table", transform=ax.transAxes, ha="center", color=palette.muted)
        return
    for kind in PriorKind:
        mine = rows[rows["prior"] == kind.value].sort_values("epsilon")
        if mine.empty:
            continue
        low_band, high_band = mine["valid"] - mine["valid_std"], mine["valid"] + mine["valid_std"]
        ax.fill_between(mine["epsilon"], low_band.clip(0, 1), high_band.clip(0, 1), color=colour, alpha=0.14, lw=0)
        ax.plot(
            mine["epsilon"], mine["valid"], color=colour, linestyle=DASHES[kind], linewidth=1.7, marker=MARKERS[kind],
            markersize=4.5, markerfacecolor=colour if kind is PriorKind.GUIDED else palette.surface, clip_on=False,
        )  # fmt: skip
    ax.axhline(float(rows["ceiling"].iloc[0]), color=colour, linestyle=(0, (1, 2)), linewidth=1.3)
    alone = rows["public_only"].dropna()
    if not alone.empty:
        ax.plot([low * 1.1, high / 1.1], [alone.iloc[0]] * 2, color=colour, linestyle="dashdot", linewidth=1.0,
                marker="v", markersize=5, clip_on=False)  # fmt: skip


def _key(palette: Palette) -> list[Line2D]:
    priors = [
        Line2D([], [], color=palette.ink, linestyle=DASHES[kind], linewidth=1.7, marker=MARKERS[kind], markersize=4.5,
               markerfacecolor=palette.ink if kind is PriorKind.GUIDED else palette.surface, label=f"{kind} prior")
        for kind in PriorKind
    ]  # fmt: skip
    alone = Line2D([], [], color=palette.ink, linestyle="dashdot", linewidth=1.0, marker="v", markersize=5,
                   label="public-only, no private edge read")  # fmt: skip
    return [*priors, alone, Line2D([], [], color=palette.ink, linestyle=(0, (1, 2)), linewidth=1.3, label="ceiling")]


def _quiet(ax: Any, palette: Palette) -> None:
    ax.set_facecolor(palette.surface)
    ax.set_axisbelow(True)
    ax.tick_params(colors=palette.muted, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(palette.muted)


def _write(drawn: Figure, path: Path, palette: Palette) -> None:
    kind = path.suffix.lower().removeprefix(".")
    undated = {"Date": None} if kind == "svg" else {}
    with whole_file(path) as stream:
        drawn.savefig(stream, format=kind, dpi=DOTS, facecolor=palette.surface, metadata=undated)
