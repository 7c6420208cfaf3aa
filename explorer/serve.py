"""The explorer as a local web server."""

from __future__ import annotations

import socket

import panel as pn

from core.errors import BadInput
from core.study.study import Study
from explorer.app import TITLE, build_page
from explorer.state import Decisions, first_target

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(study: Study, port: int = 5006, address: str = "127.0.0.1", show: bool = False) -> None:
    """Serve the explorer on `study` until interrupted; says where it listens once it does.

    Its first target is scored before, so that the first page opens at once. `port`: 0 takes a free one.
    Everything on screen reads private edges: listen on another address than 127.0.0.1 only where everyone
    may see them; files of this machine can then no longer be opened by their path. Raises `BadInput`, also
    for a port that is taken.
    """
    study.prepare(first_target(study), Decisions.rho)
    opened = study.dataset
    listening = _bound(port, address)
    chosen = listening.getsockname()[1]
    listening.close()
    hosts = {address, "127.0.0.1", "localhost"}
    server = pn.serve(
        {"/": lambda: build_page(study, local=address in LOOPBACK)},
        title=TITLE,
        port=chosen,
        address=address,
        websocket_origin=[f"{host}:{chosen}" for host in sorted(hosts)],
        show=show,
        start=False,
        verbose=False,
    )
    server.start()
    print(f"{TITLE} on {opened.title}: http://{address}:{chosen}", flush=True)
    print("Owner only: it shows what private edges determine. Stop it with Ctrl+C.", flush=True)
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
