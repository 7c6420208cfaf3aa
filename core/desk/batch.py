"""Many releases, one debit and one card each, that a second call completes and never pays twice."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from urllib.parse import quote

from core.desk.cardfile import check_place, write_card
from core.desk.entries import check_text
from core.desk.ledger import Ledger
from core.desk.release import release
from core.errors import BadInput, BudgetRefused
from core.progress import Progress, Stop, tracked
from core.study.settings import Settings
from core.study.study import Study

NAMES = uuid.UUID("7b1cf4b0-61c1-5f0e-9b4b-2f6f1f0c8f11")  # of the keys that a batch derives
KEPT = "batch.json"
LONGEST_STEM = 100


@dataclass(frozen=True)
class Batch:
    """A folder of cards and the key from which those of its releases are derived.

    `folder` keeps the key, so that a second call finds it.
    """

    folder: Path
    key: str

    def key_of(self, target: str) -> str:
        """The key of the release for a node id: the same whenever the batch is asked again."""
        return str(uuid.uuid5(NAMES, json.dumps([self.key, target])))

    def place_of(self, target: str) -> Path:
        """The card's file: the node id, spelt so that any file system takes it."""
        stem = quote(target, safe="")
        stem = stem if len(stem) <= LONGEST_STEM else f"{stem[: LONGEST_STEM - 37]}-{self.key_of(target)}"
        return self.folder / f"card-{stem}.json"


def open_batch(folder: Path, key: str | None = None) -> Batch:
    """Make or find the folder of a batch; without `key` its own, or a new random one.

    Raises `BadInput` for a folder that can't be made or written, that belongs to another key, or that holds
    something else.
    """
    kept = folder / KEPT
    try:
        folder.mkdir(exist_ok=True)
        others = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
        if others and KEPT not in others:
            raise BadInput(f"output {folder}: found {others[0]!r} there, expected a new folder or one of a batch")
        if not others:
            _keep(kept, str(uuid.uuid4()) if key is None else check_text(key, "key"))
        found = str(json.loads(kept.read_text(encoding="utf-8"))["key"])
    except OSError as error:
        raise BadInput(f"output {folder}: can't be used ({error.strerror}); choose another folder") from None
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"output {kept}: found no key of a batch, expected one; choose a new folder") from None
    if key not in (None, found):
        raise BadInput(f"output {folder}: found the batch of key {found}, expected {key}; choose a new folder")
    return Batch(folder, found)


def _keep(kept: Path, key: str) -> None:
    """Write the key of a new batch, unless another process was quicker: two keys would pay twice."""
    with tempfile.NamedTemporaryFile(dir=kept.parent, prefix=f".{kept.name}.") as stream:
        stream.write((json.dumps({"key": key}) + "\n").encode())
        stream.flush()
        os.fsync(stream.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(stream.name, kept)


def release_all(
    study: Study,
    targets: Sequence[int],
    rho: float,
    settings: Settings,
    epsilon: Fraction,
    ledger: Ledger,
    account: str,
    batch: Batch,
    progress: Progress | None = None,
    cancelled: Stop | None = None,
) -> Iterator[Path]:
    """Release for each of `targets` (rows), `epsilon` (pure, edge level) each; yield the file of each card.

    A release whose card is there costs a look at the ledger. Raises what `release` does; `BudgetRefused` and
    `Cancelled` leave the cards so far, and a second call goes on.
    """
    ids = study.dataset.nodes.ids
    for target in targets:
        check_place(batch.place_of(ids[target]), batch.key_of(ids[target]))
    for done, target in enumerate(tracked(targets, progress, cancelled)):
        key, place = batch.key_of(ids[target]), batch.place_of(ids[target])
        try:
            card, _ = release(study, target, rho, settings, epsilon, ledger, account, key)
        except BudgetRefused as error:
            raise BudgetRefused(
                f"{done} of {len(targets)} releases done, their cards are in {batch.folder}; {error}"
            ) from None
        write_card(card, place)
        yield place
