"""Colours keep AA contrast and stay apart for dichromats; no kind relies on colour alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from explorer import palette as module
from explorer.palette import DARK, LIGHT, Palette

# Viénot, Brettel & Mollon 1999: linear RGB as a protanope and a deuteranope see it.
PROTANOPE = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
DEUTERANOPE = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted((float(linear(one) @ weights), float(linear(other) @ weights)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_colours_reach_aa_and_marks_three_to_one(colours: Palette) -> None:
    for name in ("ink", "muted", "flip", "same", "empty", "public", "noise", "owner", "primary"):
        assert contrast(getattr(colours, name), colours.surface) >= 4.5, name
    for colour in colours.rho:
        assert contrast(colour, colours.surface) >= 3, colour


def test_contrast_knows_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") < 4.5


@pytest.mark.parametrize("sight", [np.eye(3), PROTANOPE, DEUTERANOPE], ids=["full", "protanope", "deuteranope"])
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_what_shares_a_figure_differs_for_every_eye(colours: Palette, sight: np.ndarray) -> None:
    for group in (("flip", "same", "empty"), ("flip", "public", "ink"), ("flip", "noise", "same")):
        for one, other in itertools.combinations(group, 2):
            seen = [np.cbrt(np.clip(sight @ linear(getattr(colours, name)), 0, 1)) for name in (one, other)]
            assert np.linalg.norm(seen[0] - seen[1]) > 0.1, (one, other)


def test_kinds_differ_without_colour() -> None:
    assert len({module.FLIP_MARKER, module.SAME_MARKER, module.EMPTY_MARKER}) == 3
    assert len({module.FLIP_HATCH, module.SAME_HATCH, module.EMPTY_HATCH}) == 3


def test_rho_ramp_is_spread_and_ordered() -> None:
    picked = [LIGHT.rho_colour(place, 4) for place in range(4)]
    assert len(set(picked)) == 4
    assert [contrast(colour, LIGHT.surface) for colour in picked] == sorted(contrast(c, LIGHT.surface) for c in picked)
