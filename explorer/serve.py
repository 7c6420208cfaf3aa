"""The explorer, or written results, as a local web server."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import panel as pn

from core.errors import BadInput
from core.study.written import Frontiers
from explorer.present.page import Presentation
from explorer.present.words import TITLE as RESULTS

if TYPE_CHECKING:  # a process that presents loads nothing that opens graphs
    from core.study.study import Study

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(study: Study, port: int = 5006, address: str = "127.0.0.1", show: bool = False) -> None:
    """Serve the explorer on `study` until interrupted; says where it listens once it does.

    Its first target is scored before, so that the first page opens at once. `port`: 0 takes a free one.
    Everything on screen reads private edges: listen on another address than 127.0.0.1 only where everyone
    may see them; files of this machine can then no longer be opened by their path. Raises `BadInput`, also
    for a port that is taken.
    """
    from explorer.app import TITLE, build_page
    from explorer.state import Decisions, first_target

    study.prepare(first_target(study), Decisions.rho)
    _serve(
        lambda: build_page(study, local=address in LOOPBACK),
        TITLE,
        study.dataset.title,
        "Owner only: it shows what private edges determine.",
        (port, address, show),
    )


def present(shown: Frontiers, port: int = 5006, address: str = "127.0.0.1", show: bool = False) -> None:
    """Serve written frontiers, read-only, until interrupted; no graph is opened. Raises `BadInput` as `serve` does."""
    _serve(
        lambda: Presentation(shown).page(),
        RESULTS,
        ", ".join(dict.fromkeys(shown.rows["dataset"])),
        "Its figures were computed from private edges: who may see them is the presenter's decision.",
        (port, address, show),
    )


def _serve(page: Callable[[], Any], title: str, of: str, warning: str, where: tuple[int, str, bool]) -> None:
    port, address, show = where
    listening = _bound(port, address)
    chosen = listening.getsockname()[1]
    listening.close()
    hosts = {address, "127.0.0.1", "localhost"}
    server = pn.serve(
        {"/": page},
        title=title,
        port=chosen,
        address=address,
        websocket_origin=[f"{host}:{chosen}" for host in sorted(hosts)],
        show=show,
        start=False,
        verbose=False,
    )
    server.start()
    print(f"{title} on {of}: http://{address}:{chosen}", flush=True)
    print(f"{warning} Stop it with Ctrl+C.", flush=True)
    server.io_loop.start()


def _bound(port: int, address: str) -> socket.socket:
    """A socket on `address` and `port`, which shows that they can be had."""
    probe = socket.socket()
    try:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))
    except OSError as error:
        probe.close()
        raise BadInput(
            f"address {address} port {port}: can't listen there ({error.strerror}); choose another --port, or 0"
        ) from None
    return probe
