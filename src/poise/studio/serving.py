"""A page's server: viser, behind a door.

viser as it comes listens on all interfaces, asks nobody who he is, takes another port than it was given, and opens a
tunnel to the outside for any visitor. Here it listens where it was told, which is this machine unless somebody says
otherwise; a visitor needs the address with its key, which his browser then keeps as a cookie; pages of others cannot
speak to it (Host and Origin are checked); there is no tunnel.
"""

from __future__ import annotations

import contextlib
import hmac
import http
import io
import secrets
import socket
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

from poise.errors import InputError

HOST, PORT = "127.0.0.1", 8137
TRIES = 50  # ports that are tried one after the other, where none was asked for
COOKIE = "poise-key"
_patching = threading.Lock()


def get_viser() -> Any:
    """The library; InputError where it is not installed."""
    try:
        import viser
    except ImportError as error:
        raise InputError(
            f"the page needs viser, which is not here ({error}). Install it: pip install 'poise[page]'"
        ) from error
    return viser


def find_port(host: str, port: int | None) -> int:
    """A port that is free: the one that was asked for, or InputError; or one near the usual."""
    if port is not None and not 0 <= port <= 65535:
        raise InputError(f"a port is a number from 0 (any that is free) to 65535; {port} given.")
    for number in [port] if port is not None else [*range(PORT, PORT + TRIES), 0]:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind((host, number))
                return int(trial.getsockname()[1])
        except socket.gaierror as error:
            raise InputError(f"host '{host:.60}' is not known ({error.strerror}). Leave it out: {HOST}.") from error
        except OSError as error:
            why = error.strerror or str(error)
            if port is not None:
                raise InputError(f"port {port} of {host} cannot be had: {why}. Give another, or none.") from error
    raise InputError(f"no port of {host} can be had: {why}.")


class Door:
    """Who may come in.

    key  that a visitor's address has to have, or his cookie
    """

    def __init__(self, host: str, key: str | None = None):
        self.host, self.key = host, secrets.token_urlsafe(16) if key is None else key

    def is_known(self, name: str) -> bool:
        """Whether the page may be called so, in Host and Origin: by a number or localhost, or as it was told.

        A name of somebody else's that leads here is how a page of his would get in.
        """
        host = (urlsplit(f"//{name}").hostname or "").lower()
        if host in ("localhost", self.host.lower()):
            return True
        return host.replace(".", "").isdigit() or ":" in host

    def judge(self, path: str, headers: Any) -> tuple[int, bool]:
        """The status of a request (200: come in), and whether he showed the key in the address."""
        if not self.is_known(headers.get("Host", "")):
            return http.HTTPStatus.FORBIDDEN, False
        origin = headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc.lower() != headers.get("Host", "").lower():
            return http.HTTPStatus.FORBIDDEN, False
        shown = parse_qs(urlsplit(path).query).get("key", [""])[0]
        if hmac.compare_digest(shown.encode(), self.key.encode()):
            return http.HTTPStatus.OK, True
        kept = [each.strip().partition("=") for each in headers.get("Cookie", "").split(";")]
        mine = any(name == COOKIE and hmac.compare_digest(value.encode(), self.key.encode()) for name, _, value in kept)
        return (http.HTTPStatus.OK if mine else http.HTTPStatus.UNAUTHORIZED), False

    def guard(self, serve: Any) -> Any:
        """The websocket library's `serve` with this door before it."""

        def guarded(handler: Any, host: Any, port: Any, *, process_request: Any = None, **more: Any) -> Any:
            def ask(connection: Any, request: Any) -> Any:
                status, shown = self.judge(request.path, request.headers)
                if status != http.HTTPStatus.OK:
                    said = "This page needs its key: use the address that poise printed.\n"
                    return connection.respond(status, said)
                answer = None if process_request is None else process_request(connection, request)
                if shown and answer is not None:
                    answer.headers["Set-Cookie"] = f"{COOKIE}={self.key}; Path=/; HttpOnly; SameSite=Strict"
                return answer

            return serve(handler, host, port, process_request=ask, **more)

        return guarded


class PageServer:
    """A viser server behind a door.

    viser  its scene, gui and so on;  address: what a browser is given, key and all
    """

    def __init__(self, host: str = HOST, port: int | None = None, label: str = "Poise"):
        library = get_viser()
        import websockets.asyncio.server as sockets

        number = find_port(host, port)
        self.door = Door(host)
        with _patching, contextlib.redirect_stdout(io.StringIO()):
            plain = sockets.serve
            sockets.serve = self.door.guard(plain)
            try:
                self.viser = library.ViserServer(host=host, port=number, label=label, verbose=False)
            finally:
                sockets.serve = plain
        self.viser.request_share_url = lambda verbose=True: None
        self.port = int(self.viser.get_port())
        name = f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host
        self.address = f"http://{name}:{self.port}/?key={self.door.key}"

    def stop(self) -> None:
        """Close it."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()
