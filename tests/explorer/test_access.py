"""Who may come in: other machines only past a password or OAuth, and no page of it from elsewhere."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from core.cli import run
from core.errors import BadInput
from explorer.access import LOGIN, Access

PASSWORD = "correct horse battery"


@pytest.fixture
def password(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text(PASSWORD + "\nnot this line\n")
    return file


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.7.7", "graphs.example.org"])
def test_other_machines_need_a_password(address: str, password: Path) -> None:
    with pytest.raises(BadInput, match="found no password"):
        Access(address).check_private()
    Access(address, password_file=password).check_private()
    Access(address, oauth_provider="github", oauth_key="k", oauth_secret_file=password).check_private()


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_does_not(address: str) -> None:
    Access(address).check_private()
    assert Access(address).served(5006)["websocket_origin"]


def test_an_address_that_no_browser_shows_needs_an_origin(password: Path) -> None:
    with pytest.raises(BadInput, match="--origin"):
        Access("0.0.0.0", password_file=password).served(5006)
    given = Access("0.0.0.0", password_file=password, origins=("a.example:5006",)).served(5006)
    assert set(given["websocket_origin"]) == {"a.example:5006", "127.0.0.1:5006", "localhost:5006"}
    assert given["basic_auth"] == PASSWORD and len(given["cookie_secret"]) == 64


@pytest.mark.parametrize(
    ("content", "said"), [("", "empty"), ("short\n", "5 characters"), (b"\xff\xfe\xff", "UTF-8"), (None, "No such")]
)
def test_a_password_that_cannot_be_used_is_refused(tmp_path: Path, content: str | bytes | None, said: str) -> None:
    file = tmp_path / "p"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput, match=said) as refused:
        Access(password_file=file).served(5006)
    assert "short" not in str(refused.value)


def test_users_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    file.write_text('{"ada": "a long enough one"}')
    assert Access(password_file=file).served(5006)["basic_auth"] == str(file)
    (tmp_path / "p").write_text(str(file))
    with pytest.raises(BadInput, match="name of a file"):
        Access(password_file=tmp_path / "p").served(5006)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"oauth_provider": "github"}, "--oauth-key"),
        ({"oauth_provider": "nobody", "oauth_key": "k", "oauth_secret_file": LOGIN}, "github"),
        ({"certificate": LOGIN}, "--certificate-key"),
        ({"certificate": Path("none.pem"), "certificate_key": LOGIN}, "none.pem"),
    ],
)
def test_half_a_setting_is_refused(given: dict, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Access(**given)


def test_two_ways_in_are_refused(password: Path) -> None:
    with pytest.raises(BadInput, match="one of them"):
        Access(oauth_provider="github", oauth_key="k", oauth_secret_file=password, password_file=password)


def test_the_command_refuses_before_it_reads_a_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--dataset", "no-such-set", "--address", "0.0.0.0"]) == 2
    assert "password" in capsys.readouterr().err


def test_the_login_page_asks_nobody_else() -> None:
    assert not re.search(r"https?:|//|PANEL_CDN", LOGIN.read_text().replace("<!DOCTYPE html>", ""))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    file = tmp_path_factory.mktemp("access") / "password"
    file.write_text(PASSWORD)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "core.cli", "serve", "--dataset", "karate", "--address", "0.0.0.0"]
    command += ["--port", str(port), "--origin", f"127.0.0.1:{port}", "--password-file", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        assert f"http://0.0.0.0:{port}" in lines[0] and "clear text" in lines[1], lines
        yield port
    finally:
        process.terminate()
        process.wait()


def test_nothing_is_served_before_the_password(guarded: int) -> None:
    base = f"http://127.0.0.1:{guarded}"
    jar = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    page = browser.open(base + "/").read().decode()
    assert 'name="password"' in page and "for their owner only" in page and "karate" not in page

    async def knock() -> None:
        await websocket_connect(HTTPRequest(f"ws://127.0.0.1:{guarded}/ws", headers={"Origin": base}))

    with pytest.raises(HTTPClientError):
        IOLoop.current().run_sync(knock)
    form = {"username": "ada", "password": "wrong"}
    page = browser.open(base + "/login", urllib.parse.urlencode(form).encode()).read().decode()
    assert "Invalid" in page and "karate" not in page
    form["password"] = PASSWORD
    page = browser.open(base + "/login", urllib.parse.urlencode(form).encode()).read().decode()
    assert "PrivCFS Explorer" in page and 'name="password"' not in page
    assert any(cookie.name == "user" for cookie in jar)


def test_a_forged_cookie_opens_nothing(guarded: int) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{guarded}/", headers={"Cookie": "user=ada"})
    assert 'name="password"' in urllib.request.urlopen(request).read().decode()
