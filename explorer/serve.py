"""The explorer, or written results, as a local web server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import panel as pn

from core.study.written import Frontiers
from explorer.access import Access
from explorer.present.page import Presentation
from explorer.present.words import TITLE as RESULTS

if TYPE_CHECKING:  # a process that presents loads nothing that opens graphs
    from core.desk.ledger import Ledger
    from core.study.study import Study


def serve(study: Study, access: Access | None = None, ledger: Ledger | None = None) -> None:
    """Serve the explorer on `study` until interrupted; says where it listens once it does.

    Its first target is scored before, so that the first page opens at once. Everything on screen reads
    private edges, so other machines are let in only past a password or OAuth; they can't open files of
    this machine by their path. `ledger`: pays for releases made here. Raises `BadInput`, also for a port
    that is taken.
    """
    from explorer.app import TITLE, build_page
    from explorer.state import Decisions, first_target

    access = access or Access()
    access.check_private()
    study.prepare(first_target(study), Decisions.rho)
    _serve(
        lambda: build_page(study, local=not access.public, ledger=ledger),
        TITLE,
        study.dataset.title,
        "Owner only: it shows what private edges determine.",
        access,
    )


def present(shown: Frontiers, access: Access | None = None) -> None:
    """Serve written frontiers, read-only, until interrupted; no graph is opened. Raises `BadInput` as `serve` does."""
    _serve(
        lambda: Presentation(shown).page(),
        RESULTS,
        ", ".join(dict.fromkeys(shown.rows["dataset"])),
        "Its figures were computed from private edges: who may see them is the presenter's decision.",
        access or Access(),
    )


def _serve(page: Callable[[], Any], title: str, of: str, warning: str, access: Access) -> None:
    port = access.bind()
    server = pn.serve(
        {"/": page},
        title=title,
        start=False,
        verbose=False,
        **access.served(port),
    )
    server.start()
    scheme = "https" if access.certificate else "http"
    print(f"{title} on {of}: {scheme}://{access.address}:{port}", flush=True)
    for line in access.warnings:
        print(line, flush=True)
    print(f"{warning} Stop it with Ctrl+C.", flush=True)
    server.io_loop.start()
