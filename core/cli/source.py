"""The options that say where graph and backbone come from, the same for every subcommand."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from core.backbone.loading import load_module, load_weights
from core.backbone.module import ModuleBackbone, freeze, measured_module
from core.backbone.train import Backbone, measured
from core.datasets import load
from core.datasets.dataset import Dataset
from core.datasets.owner.roles import Roles
from core.datasets.owner.snapshotfile import read_snapshot
from core.errors import BadInput
from core.study.study import Study

Decorator = Callable[[Any], Any]


@dataclass(frozen=True)
class Source:
    """What the owner named on the command line: a data set, its columns, a snapshot, and a backbone if not our own."""

    name: str
    roles: Roles
    structural: bool = False
    backbone: str | None = None
    layers: int | None = None
    snapshot: Path | None = None

    def dataset(self) -> Dataset:
        """Load the data set, with the named snapshot in the place of its own; raises `BadInput`."""
        dataset = load(self.name, roles=self.roles, structural=self.structural)
        if self.snapshot is None:
            return dataset
        return replace(dataset, snapshot=read_snapshot(self.snapshot, dataset.nodes, self.roles))

    def study(self, dataset: Dataset, seed: int = 0) -> Study:
        """The desk of a data set under the named backbone, or our own GCN; what the owner must know goes to stderr."""
        study = Study(dataset, self.named_backbone(dataset), seed=seed)
        for note in study.notes:
            click.echo(f"privcfs: note: {note}", err=True)
        return study

    def named_backbone(self, dataset: Dataset) -> Backbone | ModuleBackbone | None:
        """The backbone that was named, None for our own; raises `UnsupportedBackbone`."""
        if self.backbone is None:
            if self.layers is not None:
                raise BadInput(f"layers: found {self.layers} without a backbone, expected --backbone beside it")
            return None
        if os.path.isfile(self.backbone):
            if self.layers is not None:
                raise BadInput("layers: found them with a state dict, which is a two-layer GCN; leave --layers out")
            return measured(dataset, load_weights(Path(self.backbone), dataset.nodes))
        return measured_module(dataset, freeze(load_module(self.backbone), dataset.nodes, self.layers))


def data_source(default: str | None = None, required: bool = True) -> Decorator:
    """`--dataset`, the column roles, `--snapshot` and `--backbone`, handed on as one `source: Source`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(
            *,
            dataset_name: str | None,
            backbone: str | None,
            layers: int | None,
            snapshot_file: Path | None,
            **values: Any,
        ) -> Any:
            roles, structural = taken(values)
            source = Source(dataset_name or "", roles, structural, backbone, layers, snapshot_file)
            return command(source=source, **values)

        names = "cora, lastfm, karate, planetoid:Cora, synthetic:..., or the path of your own folder or graph file."
        given: dict[str, Any] = (
            {"required": required} if default is None else {"default": default, "show_default": True}
        )
        options = (
            click.option(
                "--layers",
                type=click.IntRange(0, 16),
                help="Message-passing layers of a foreign backbone, if not counted.",
            ),
            click.option(
                "--backbone", metavar="NAME", help="module:attribute of an nn.Module, or a saved state dict of a GCN."
            ),
            click.option(
                "--snapshot",
                "snapshot_file",
                type=click.Path(dir_okay=False, path_type=Path),
                metavar="FILE",
                help="Your real snapshot: public node pairs by id, in order of disclosure or with an order column.",
            ),
            click.option("--dataset", "dataset_name", help=names, **given),
        )
        return functools.reduce(lambda decorated, option: option(decorated), options, columns(run))

    return decorate


def columns(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that give columns of an owner's files their parts; guessed where they aren't given."""
    for part, what in reversed(ROLES.items()):
        command = click.option(f"--{part}-column", f"{part}_column", metavar="NAME", help=what)(command)
    for part, what in reversed(LISTS.items()):
        command = click.option(f"--{part}", f"{part}_columns", metavar="NAME", multiple=True, help=what)(command)
    command = click.option(
        "--header/--no-header", default=None, help="Whether the first line of delimited files names the columns."
    )(command)
    return click.option(
        "--structural-features", "structural", is_flag=True,
        help="Add features computed from the private edges: voids the guarantee.",
    )(command)  # fmt: skip


def taken(values: dict[str, Any]) -> tuple[Roles, bool]:
    """Take the values of `columns` out of a command's arguments."""
    roles = {part: values.pop(f"{part}_column") for part in ROLES}
    features, ignore, categorical, numeric = (values.pop(f"{part}_columns") for part in LISTS)
    return Roles(
        **roles,
        features=features or None,
        ignore=ignore,
        categorical=categorical,
        numeric=numeric,
        header=values.pop("header"),
    ), values.pop("structural")


ROLES = {
    "source": "Column of a tie's first end.",
    "target": "Column of a tie's second end.",
    "order": "Column of the snapshot's disclosure order.",
    "id": "Column of the node ids.",
    "label": "Column of the labels; empty: none.",
    "split": "Column that says train, validation or test.",
}
LISTS = {
    "feature": "Column that becomes a feature; repeat it. The others don't, then.",
    "ignore": "Column that becomes no feature; repeat it.",
    "categorical": "Feature column to read as categories; repeat it.",
    "numeric": "Feature column to read as numbers; repeat it.",
}
