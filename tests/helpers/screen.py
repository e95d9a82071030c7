"""A screen that plays a puppet without a browser: a plain websocket behind the page's door."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import numpy as np

from poise import rotation


class Screen:
    """A tablet, as the wire sees it. address: of the touch page, with its key."""

    def __init__(self, address: str):
        import websockets.sync.client as client

        with urllib.request.urlopen(address) as answer:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
        self.socket = client.connect(find_wire(address), additional_headers={"Cookie": cookie})

    def say(self, words: Any) -> None:
        self.socket.send(words if isinstance(words, str | bytes) else json.dumps(words))

    def hear(self, key: str = "mode") -> dict[str, Any]:
        """The next that is told that has a key."""
        while True:
            told = json.loads(self.socket.recv(timeout=10.0))
            if key in told:
                return dict(told)

    def touch(self, held: bool = True, **hands: tuple[Any, Any]) -> None:
        """Move hands: left=(place, turn as a vector), right alike."""
        self.say({**{side: numbers(*each) for side, each in hands.items()}, "held": held})

    def sync(self) -> None:
        """Wait until all that was said is heard."""
        self.say({"ping": 7.0})
        assert self.hear("pong") == {"pong": 7.0}

    def close(self) -> None:
        self.socket.close()


def numbers(place: Any, vector: Any = (0.0, 0.0, 0.0), grip: float = 0.0) -> list[float]:
    return [*map(float, place), *rotation.exp(np.array(vector, float)).tolist(), grip]


def find_wire(address: str) -> str:
    return address.partition("?")[0].replace("http", "ws") + "/wire"
