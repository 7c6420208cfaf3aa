"""Where the explorer listens, and who may come in."""

from __future__ import annotations

import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import BadInput

LOOPBACK = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("0.0.0.0", "::", "")
SHORTEST_PASSWORD = 12  # characters
LOGIN = Path(__file__).with_name("login.html")  # the usual one asks another server for its looks


@dataclass(frozen=True)
class Access:
    """Address and port to listen on (port 0: a free one), and what a browser must show to get in.

    `origins`: hosts, with their ports where not the usual one, that pages may connect from, beside the
    address itself and this machine. `password_file`: its first line is the password; or JSON of user
    names and passwords. `oauth_provider`, `oauth_key`, `oauth_secret_file`: as Panel knows them.
    `certificate`, `certificate_key`: PEM files for TLS. Raises `BadInput` for what can't be read or
    doesn't go together.
    """

    address: str = "127.0.0.1"
    port: int = 5006
    show: bool = False
    origins: tuple[str, ...] = ()
    password_file: Path | None = None
    oauth_provider: str | None = None
    oauth_key: str | None = None
    oauth_secret_file: Path | None = None
    certificate: Path | None = None
    certificate_key: Path | None = None

    def __post_init__(self) -> None:
        oauth = (self.oauth_provider, self.oauth_key, self.oauth_secret_file)
        if any(oauth) and not all(oauth):
            raise BadInput("oauth: found a part of it, expected --oauth-provider, --oauth-key and --oauth-secret-file")
        if any(oauth) and self.password_file:
            raise BadInput("access: found both a password and OAuth, expected one of them")
        if bool(self.certificate) != bool(self.certificate_key):
            raise BadInput("certificate: found one of two files, expected --certificate and --certificate-key")
        for file in (self.certificate, self.certificate_key):
            if file is not None and not file.is_file():
                raise BadInput(f"certificate {file}: found no such file, expected a PEM file")
        if self.oauth_provider is not None:
            _check_provider(self.oauth_provider)

    @property
    def public(self) -> bool:
        """Whether other machines can reach it."""
        return self.address not in LOOPBACK

    @property
    def guarded(self) -> bool:
        """Whether it asks who is there."""
        return bool(self.password_file or self.oauth_provider)

    def check_private(self) -> None:
        """Raise `BadInput` where pages that read private edges would be open to anyone."""
        if self.public and not self.guarded:
            raise BadInput(
                f"address {self.address}: found no password, and every page reads private edges; expected "
                "--password-file FILE or OAuth, or an address of this machine only"
            )

    @property
    def warnings(self) -> list[str]:
        """What whoever starts it should know, a line each."""
        if self.public and self.guarded and not self.certificate:
            return ["Without --certificate what is typed and shown crosses the network in clear text."]
        return []

    def bind(self) -> int:
        """The port, the one that is free where it is 0. Raises `BadInput` when it can't be had."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        with socket.socket(family) as probe:
            try:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((self.address, self.port))
            except OSError as error:
                raise BadInput(
                    f"address {self.address} port {self.port}: can't listen there ({error.strerror}); choose another "
                    "--port, or 0"
                ) from None
            return int(probe.getsockname()[1])

    def served(self, port: int) -> dict[str, Any]:
        """What `panel.serve` takes. Raises `BadInput` for a secret that can't be read, and for no origin at all."""
        if self.address in EVERYWHERE and not self.origins:
            raise BadInput(
                f"address {self.address}: found no --origin, expected the host and port in the address bar of those "
                "who may come, for example --origin graphs.example.org:5006"
            )
        hosts = {"127.0.0.1", "localhost"} | ({self.address} - set(EVERYWHERE))
        named = {f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host in hosts}
        given: dict[str, Any] = {
            "port": port,
            "address": self.address,
            "websocket_origin": sorted(named | set(self.origins)),
            "show": self.show,
        }
        if self.certificate:
            given |= {"ssl_certfile": str(self.certificate), "ssl_keyfile": str(self.certificate_key)}
        if self.password_file is not None:
            given["basic_auth"] = _password(self.password_file)
        if self.oauth_provider is not None:
            assert self.oauth_secret_file is not None
            secret = _first_line(self.oauth_secret_file, "OAuth secret")
            given |= {"oauth_provider": self.oauth_provider, "oauth_key": self.oauth_key, "oauth_secret": secret}
        if self.guarded:
            given |= {"cookie_secret": secrets.token_hex(32), "login_template": str(LOGIN)}
        return given


def _password(file: Path) -> str:
    """What Panel takes: the password, or the path of its file of users."""
    line = _first_line(file, "password")
    if line.lstrip().startswith("{"):
        return str(file)
    if Path(line).is_file():
        raise BadInput(f"password {file}: found the name of a file in it, expected the password itself")
    if len(line) < SHORTEST_PASSWORD:
        raise BadInput(
            f"password {file}: found {len(line)} characters in its first line, expected at least {SHORTEST_PASSWORD}"
        )
    return line


def _first_line(file: Path, what: str) -> str:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"{what} {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{what} {file}: found bytes that are no UTF-8, expected a text") from None
    if not lines or not lines[0].strip():
        raise BadInput(f"{what} {file}: found an empty first line, expected the {what} there")
    return lines[0].strip()


def _check_provider(name: str) -> None:
    from panel.auth import AUTH_PROVIDERS

    if name not in AUTH_PROVIDERS:
        raise BadInput.choice("oauth provider", name, sorted(AUTH_PROVIDERS))
