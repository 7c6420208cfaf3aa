"""Write the example of an owner's folder, `data/example/`: python data/make_example.py.

120 invented people of three departments, whose friendships are the private edges. An older list
of friendships is public: most of its pairs still hold, some have ended since. Everything is drawn
from one seed; no real person is described.
"""

from __future__ import annotations

import csv
import datetime
import itertools
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "example"
SEED = 7
PEOPLE = 120
UNLABELLED = 4
FRIENDSHIPS = 320
WITHIN = 0.82
STILL_PUBLIC = 170
ENDED = 30
DEPARTMENTS = ("Laboratory", "Office", "Workshop")
# Chance of each habit in the Laboratory, the Office and the Workshop.
HABITS = {
    "plays chess": (0.60, 0.25, 0.15),
    "speaks French": (0.45, 0.40, 0.15),
    "codes at home": (0.55, 0.15, 0.20),
    "stargazes": (0.45, 0.10, 0.15),
    "sings in the choir": (0.15, 0.50, 0.20),
    "runs marathons": (0.15, 0.45, 0.25),
    "drinks only tea": (0.30, 0.55, 0.15),
    "organises the quiz": (0.10, 0.40, 0.15),
    "restores motorbikes": (0.10, 0.10, 0.55),
    "plays football": (0.15, 0.25, 0.55),
    "keeps bees": (0.10, 0.15, 0.40),
    "bakes bread": (0.20, 0.25, 0.50),
    "cycles to work": (0.40, 0.35, 0.30),
    "owns a dog": (0.25, 0.35, 0.40),
    "reads crime novels": (0.30, 0.35, 0.25),
    "volunteers": (0.25, 0.30, 0.30),
}


def draw_names(rng: np.random.Generator) -> list[str]:
    """Return `PEOPLE` distinct pronounceable names."""
    syllables = [a + b for a, b in itertools.product("bdfglmnrstvk", ("a", "e", "i", "o", "u"))]
    names: dict[str, None] = {}
    while len(names) < PEOPLE:
        stem = "".join(rng.choice(syllables, size=2)) + str(rng.choice(["n", "r", "l", "s", "ra", "lo", "mi"]))
        names[stem.capitalize()] = None
    return list(names)


def draw_pairs(rng: np.random.Generator, homes: np.ndarray, count: int, taken: set[tuple[int, int]]) -> list:
    """Return `count` new pairs of people, sociable people more often, mostly within a department."""
    pairs: list[tuple[int, int]] = []
    charm = rng.gamma(2.0, size=PEOPLE)
    while len(pairs) < count:
        first = rng.choice(PEOPLE, p=charm / charm.sum())
        same = homes == homes[first] if rng.random() < WITHIN else homes != homes[first]
        second = rng.choice(PEOPLE, p=charm * same / (charm * same).sum())
        pair = (int(min(first, second)), int(max(first, second)))
        if first != second and pair not in taken:
            taken.add(pair)
            pairs.append(pair)
    return pairs


def write(file: str, header: list[str], rows: list[list]) -> None:
    """Write one CSV file of the example."""
    with (FOLDER / file).open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


def main() -> None:
    """Draw the people, their friendships and the older list, and write the four files."""
    rng = np.random.default_rng(SEED)
    names = draw_names(rng)
    homes = rng.permutation(np.arange(PEOPLE) % len(DEPARTMENTS))
    habits = (rng.random((PEOPLE, len(HABITS))) < np.array(list(HABITS.values())).T[homes]).astype(int)
    labels = [DEPARTMENTS[home] for home in homes]
    for person in rng.choice(PEOPLE, size=UNLABELLED, replace=False):
        labels[person] = ""
    taken: set[tuple[int, int]] = set()
    friends = draw_pairs(rng, homes, FRIENDSHIPS, taken)
    ended = draw_pairs(rng, homes, ENDED, taken)
    public = [friends[place] for place in rng.choice(FRIENDSHIPS, size=STILL_PUBLIC, replace=False)] + ended
    days = [
        datetime.date(2023, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(365, size=len(public))
    ]
    FOLDER.mkdir(exist_ok=True)
    write("nodes.csv", ["id", "label", *HABITS], [[names[p], labels[p], *habits[p]] for p in range(PEOPLE)])
    write("edges.csv", ["source", "target"], [[names[u], names[v]] for u, v in sorted(friends)])
    dated = sorted(zip(days, public, strict=True))
    write("snapshot.csv", ["source", "target", "order"], [[names[u], names[v], day] for day, (u, v) in dated])
    asked = rng.choice([p for p in range(PEOPLE) if labels[p]], size=6, replace=False)
    write("targets.csv", ["id"], [[names[person]] for person in sorted(asked)])


if __name__ == "__main__":
    main()
