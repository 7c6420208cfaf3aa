"""One palette for every view, in light and dark; no colour is ever the only cue."""

from __future__ import annotations

from dataclasses import dataclass

from core.prior.prior import PriorKind

FLIP_MARKER, SAME_MARKER, EMPTY_MARKER = "circle", "x", "star"
FLIP_HATCH, SAME_HATCH, EMPTY_HATCH = " ", "/", "."
PRIOR_MARKERS = {PriorKind.GUIDED: "circle", PriorKind.UNIFORM: "square"}
PRIOR_DASHES = {PriorKind.GUIDED: "solid", PriorKind.UNIFORM: "dashed"}


@dataclass(frozen=True)
class Palette:
    """Colours of one theme as hex strings.

    `flip`, `same`, `empty`: what a candidate does. `public`: what the snapshot discloses. `noise`: what noise made up.
    `ink`, `muted`, `grid`: text and lines on `surface`. `owner`: the owner-only badge.
    `rho`: a ramp from little to much public knowledge.
    """

    dark: bool
    surface: str
    page: str
    ink: str
    muted: str
    grid: str
    flip: str
    same: str
    empty: str
    public: str
    noise: str
    owner: str
    primary: str
    rho: tuple[str, ...]

    def rho_colour(self, place: int, of: int) -> str:
        """Colour of curve `place` (0-based) among `of`, spread over the ramp."""
        last = len(self.rho) - 1
        return self.rho[last if of < 2 else round(place * last / (of - 1))]


LIGHT = Palette(
    dark=False,
    surface="#ffffff",
    page="#ffffff",
    ink="#1d252c",
    muted="#55606b",
    grid="#dde2e7",
    flip="#b34700",
    same="#5c6773",
    empty="#7a3d8f",
    public="#0b62a8",
    noise="#a3195b",
    owner="#805300",
    primary="#0b5a85",
    rho=("#5290c8", "#2774b8", "#0b5a9c", "#083f70", "#052644"),
)

DARK = Palette(
    dark=True,
    surface="#161b20",
    page="#161b20",
    ink="#e6eaee",
    muted="#a9b3bd",
    grid="#333c45",
    flip="#f08a4b",
    same="#9aa5b1",
    empty="#cf9ae3",
    public="#6db3f2",
    noise="#ffb3da",
    owner="#e5b454",
    primary="#7cc0ea",
    rho=("#3f7fb8", "#5c9bd3", "#83b8e6", "#aed2f2", "#dcecfa"),
)


def palette(dark: bool) -> Palette:
    """The palette of a theme."""
    return DARK if dark else LIGHT
