"""Keys to the figures as small drawings with words, in the colours of the page."""

from __future__ import annotations

from explorer.wording import PRIOR_ALONE_WHY, PUBLIC_ONLY_WHY


def _svg(width: int, height: int, body: str) -> str:
    return f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" aria-hidden="true">{body}</svg>'


def _line(colour: str, width: float, dash: str = "") -> str:
    stroke = f'stroke="var(--px-{colour})" stroke-width="{width}" stroke-dasharray="{dash}"'
    return _svg(30, 14, f'<path d="M1 7H29" fill="none" {stroke}/>')


def _shape(body: str) -> str:
    return _svg(14, 14, body)


def _swatch(colour: str, pattern: str = "", opacity: float = 1.0) -> str:
    paint = f'fill="var(--px-{colour})" fill-opacity="{opacity}" stroke="var(--px-{colour})"'
    return _svg(22, 12, f'<rect x=".5" y=".5" width="21" height="11" {paint}/>{pattern}')


_PRIVATE = _line("ink", 1.2)
_PUBLIC = _line("public", 4.5)
_ABSENT = _line("public", 3, "7 5")
_FALSE = _line("noise", 2, "2 4")
_LOST = _line("muted", 1, "1 5")
_CUT = _svg(
    34,
    16,
    '<g fill="none" stroke="var(--px-flip)" stroke-width="2.5"><path d="M10 8H24"/>'
    '<circle cx="6" cy="8" r="4.5"/><circle cx="28" cy="8" r="4.5"/><path d="M13 4l8 8m0-8l-8 8"/></g>',
)
_TARGET = _shape('<rect x="1" y="1" width="12" height="12" fill="var(--px-ink)"/>')
_SAME = _shape('<circle cx="7" cy="7" r="5.5" fill="var(--px-same)" stroke="var(--px-ink)"/>')
_RUNNER_UP = _shape('<path d="M7 0l5 7-5 7-5-7z" fill="var(--px-surface)" stroke="var(--px-ink)"/>')
_OTHER = _shape('<circle cx="7" cy="7" r="5.5" fill="var(--px-surface)" stroke="var(--px-ink)"/>')
_FLIP = _shape(
    '<g fill="var(--px-flip)" stroke="var(--px-flip)"><circle cx="7" cy="7" r="4.5" fill-opacity=".35"/></g>'
)
_CROSS = _shape('<path d="M3 3l8 8m0-8l-8 8" stroke="var(--px-same)" stroke-width="1.8"/>')
_STAR = _shape(
    '<path d="M7 .5l1.7 4.3 4.6.3-3.6 2.9 1.2 4.5L7 10l-3.9 2.5 1.2-4.5L.7 5.1l4.6-.3z" fill="var(--px-empty)"/>'
)
_DASH = _shape('<path d="M1 7h12" stroke="var(--px-ink)" stroke-width="1.2"/>')
_OUTLINE = _shape('<rect x="3" y="1" width="8" height="12" fill="none" stroke="var(--px-ink)"/>')
_GUIDED = _svg(
    30, 14, '<g fill="var(--px-ink)" stroke="var(--px-ink)"><path d="M1 7H29" stroke-width="2.2"/>'
    '<circle cx="15" cy="7" r="3.2"/></g>'
)  # fmt: skip
_UNIFORM = _svg(
    30, 14, '<g fill="var(--px-surface)" stroke="var(--px-ink)"><path d="M1 7H29" stroke-width="2.2" '
    'stroke-dasharray="6 4"/><rect x="12" y="4" width="6" height="6" stroke-width="1.5"/></g>'
)  # fmt: skip
_ALONE = _svg(
    30, 14, '<g fill="var(--px-ink)" stroke="var(--px-ink)"><path d="M1 7H29" stroke-width="1.2" '
    'stroke-dasharray="2 3 6 3"/><path d="M1 4h7l-3.5 6z" stroke="none"/></g>'
)  # fmt: skip
_LIMIT = _line("owner", 2, "6 4")
_CEILING = _line("ink", 1.5, "1.5 3.5")
_HERE = _svg(8, 16, '<path d="M4 0V16" stroke="var(--px-muted)" stroke-width="1.5" stroke-dasharray="4 3"/>')
_STRIPES = '<path d="M4 11L10 1M11 11L17 1" stroke="var(--px-surface)" stroke-width="1.5"/>'
_DOTS = '<path d="M5 6h.1m6 0h.1m6 0h.1" stroke="var(--px-surface)" stroke-width="2.6" stroke-linecap="round"/>'

_NODES = (
    (_TARGET, "target"),
    (_SAME, "predicted as the target"),
    (_RUNNER_UP, "as the runner-up"),
    (_OTHER, "other class"),
)


def ties(hidden: int) -> str:
    """Key to the ego graph; `hidden` two-hop nodes aren't drawn."""
    more = f'<p class="quiet">{hidden:,} more two-hop nodes are not drawn.</p>' if hidden else ""
    lines = _items(
        (_PRIVATE, "private edge"),
        (_PUBLIC, "public candidate"),
        (_ABSENT, "public, no longer an edge"),
        (_CUT, "marked intervention"),
    )
    return lines + _items(*_NODES) + more


def noised_ties() -> str:
    """Key to the ego graphs of the placement view."""
    lines = _items(
        (_PRIVATE, "private edge"),
        (_FALSE, "made up by the noise"),
        (_LOST, "lost in the noise"),
        (_CUT, "marked intervention"),
    )
    return lines + _items(*_NODES)


def kinds() -> str:
    """Key to the distribution figures."""
    return _items(
        (_FLIP, "flips the prediction"),
        (_CROSS, "does not flip"),
        (_STAR, "∅, no intervention"),
        (_DASH + _OUTLINE, f'<span title="{PRIOR_ALONE_WHY}">prior alone, before any private edge counts</span>'),
    )


def frontier(here: bool = True) -> str:
    """Key to the frontier curves; colour tells ρ. `here`: whether a line stands at the present ε."""
    present = [(_HERE, "present ε")] if here else []
    return _items(
        (_GUIDED, "guided prior"),
        (_UNIFORM, "uniform prior"),
        (_ALONE, f'<span title="{PUBLIC_ONLY_WHY}">public-only, no private edge read</span>'),
        (_CEILING, '<span title="Share of targets that some candidate flips.">ceiling</span>'),
        *present,
    )


def placements() -> str:
    """Key to the placement bars."""
    return _items(
        (_swatch("flip"), "flips the true graph"),
        (_swatch("noise", _STRIPES), "spurious, and polluted"),
        (_swatch("noise", opacity=0.35), "spurious, not polluted"),
        (_swatch("same", _DOTS), "polluted (lower bar)"),
    )


def audit_pairs() -> str:
    """Key to the ratios of an audit."""
    return _items(
        (_swatch("flip"), "pairs near the target"),
        (_swatch("same", _STRIPES, 0.0), "pairs anywhere"),
        (_LIMIT, "what ε allows"),
    )


def audit_marks() -> str:
    """Key to the two graphs of an audited pair."""
    lines = _items(
        (_PRIVATE, "private edge"),
        (_FALSE, "only in the neighbouring graph"),
        (_LOST, "missing there"),
        (_CUT, "the tie that the neighbour lacks"),
    )
    return lines + _items(*_NODES)


def labels() -> str:
    """Key to the labels figure."""
    return _items(
        (_line("flip", 2.5), "labels come out"),
        (_line("noise", 2, "6 4"), "halted: an edge in too many subgraphs"),
        (_line("ink", 2, "6 3 2 3"), "accuracy of the most frequent answer"),
        (_swatch("muted", opacity=0.16), "outside the walls"),
    )


def embeddings() -> str:
    """Key to the utility curves."""
    return _items(
        (_line("flip", 2.2), "cycles"),
        (_line("same", 2.2), "trees"),
        (_line("ink", 2.2), "noised densities"),
        (_line("ink", 2.2, "6 4"), "noise on the graph: randomized response"),
        (_line("ink", 2.2, "2 3"), "noise on the graph: degree-preserving"),
        (_line("ink", 2.2, "6 3 2 3"), "no privacy"),
    )


def _items(*items: tuple[str, str]) -> str:
    return "<ul>" + "".join(f"<li>{drawing}{words}</li>" for drawing, words in items) + "</ul>"
