"""A page's server: viser, behind a door.

viser as it comes listens on all interfaces, asks nobody who he is, takes another port than it was given, and opens a
tunnel to the outside for any visitor. Here it listens where it was told, which is this machine unless somebody says
otherwise; a visitor needs the address with its key, which his browser then keeps as a cookie; pages of others cannot
speak to it (Host and Origin are checked); there is no tunnel.

Other pages of ours are rooms behind the same door, at the same port: whoever asks for a room's path, or opens a
websocket at it, is led there, and viser never hears of him.
"""

from __future__ import annotations

import contextlib
import hmac
import http
import io
import secrets
import socket
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs, urlsplit

from poise.errors import InputError

HOST, PORT = "127.0.0.1", 8137
TRIES = 50  # ports that are tried one after the other, where none was asked for
COOKIE = "poise-key"
ALONE = (HOST, "localhost", "::1")  # hosts that are this machine alone
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # hosts that are all of a machine's, and it by itself
_OURS_ALONE = "default-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; frame-ancestors 'self'"
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


def find_own_number(host: str) -> str:
    """The number that others reach this machine by, if it has one; no packet is sent to find it."""
    outside = (
        "2001:db8::1" if ":" in host else "192.0.2.1"
    )  # of nobody [RFC 3849, RFC 5737]: only the route is asked for
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((outside, 9))
            return str(asked.getsockname()[0])
    except OSError:
        return EVERYWHERE.get(host, host)


class Answer(NamedTuple):
    """What a room gives to who asks for a file."""

    kind: str
    body: bytes


class Room(Protocol):
    """A page of ours beside viser's.

    path        that it is at, as in /hands; what is below belongs to it
    most_bytes  of a message that it hears
    """

    path: str
    most_bytes: int

    def find_file(self, path: str) -> Answer | None:
        """What is at a path of it; None: nothing."""

    async def hear(self, connection: Any) -> None:
        """Speak with who opened a websocket, until he is gone."""


class Door:
    """Who may come in, and where to.

    key    that a visitor's address has to have, or his cookie
    rooms  that are not viser's
    """

    def __init__(self, host: str, key: str | None = None, rooms: Sequence[Room] = ()):
        self.host, self.key = host, secrets.token_urlsafe(16) if key is None else key
        self.rooms = tuple(rooms)

    def find_room(self, path: str) -> Room | None:
        """Whose a path is; None: viser's."""
        bare = urlsplit(path).path
        return next((each for each in self.rooms if bare == each.path or bare.startswith(each.path + "/")), None)

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
                try:
                    status, shown = self.judge(request.path, request.headers)
                except LookupError:  # a Host, an Origin or a Cookie that is there twice
                    status, shown = http.HTTPStatus.FORBIDDEN, False
                if status != http.HTTPStatus.OK:
                    said = "This page needs its key: use the address that poise printed.\n"
                    return connection.respond(status, said)
                room = self.find_room(request.path)
                if room is not None:
                    answer = _ask_room(room, connection, request)
                else:
                    answer = None if process_request is None else process_request(connection, request)
                if shown and answer is not None:
                    answer.headers["Set-Cookie"] = f"{COOKIE}={self.key}; Path=/; HttpOnly; SameSite=Strict"
                return answer

            async def lead(connection: Any) -> None:
                room = self.find_room(connection.request.path)
                await (handler if room is None else room.hear)(connection)

            return serve(lead, host, port, process_request=ask, **more)

        return guarded


def _ask_room(room: Room, connection: Any, request: Any) -> Any:
    """A response of a room; None where a websocket is opened."""
    if request.headers.get("Upgrade", "").lower() == "websocket":
        connection.protocol.max_message_size = room.most_bytes  # viser's own may be 50 MB
        return None
    found = room.find_file(urlsplit(request.path).path)
    if found is None:
        return connection.respond(http.HTTPStatus.NOT_FOUND, "There is no such page.\n")
    answer = connection.respond(http.HTTPStatus.OK, "")
    headers = {
        "Content-Type": found.kind, "Content-Length": str(len(found.body)), "Cache-Control": "no-store",
        "Content-Security-Policy": _OURS_ALONE,
        "Referrer-Policy": "no-referrer",
    }  # fmt: skip
    for name, value in headers.items():
        if name in answer.headers:
            del answer.headers[name]
        answer.headers[name] = value
    answer.body = found.body
    return answer


class PageServer:
    """A viser server behind a door.

    viser  its scene, gui and so on;  address: what a browser is given, key and all
    """

    def __init__(
        self, host: str = HOST, port: int | None = None, label: str = "Poise", rooms: Sequence[Room] = (),
    ):  # fmt: skip
        library = get_viser()
        import websockets.asyncio.server as sockets

        number = find_port(host, port)
        self.door = Door(host, rooms=rooms)
        with _patching, contextlib.redirect_stdout(io.StringIO()):
            plain = sockets.serve
            sockets.serve = self.door.guard(plain)
            try:
                self.viser = library.ViserServer(host=host, port=number, label=label, verbose=False)
            finally:
                sockets.serve = plain
        self.viser.request_share_url = lambda verbose=True: None
        self.port = int(self.viser.get_port())
        self.host = host
        self.address = self.address_of("/")

    def address_of(self, path: str, for_others: bool = False) -> str:
        """What a browser is given for a path; for others: one of another machine, where they are let in."""
        host = self.host
        if host in EVERYWHERE:
            host = find_own_number(host) if for_others else EVERYWHERE[host]
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}{path}?key={self.door.key}"

    def stop(self) -> None:
        """Close it."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()
