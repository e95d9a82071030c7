"""The touch page: a room behind the page's door that tablets and phones open, and the wire that it speaks over.

Files are in `touch/`. Ten times a second every screen is told how it goes: what is played, since when, by whom, what
hands mean in this layer, and the last sentence for people.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from poise.errors import printable
from poise.files.input import read_bytes
from poise.puppetry.mapping import STEMS, HandMapping
from poise.studio.server import Answer
from poise.studio.touch_hands import MOST_BYTES, TouchHands

FOLDER = Path(__file__).parent / "touch"
PATH = "/hands"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_EVERY, _AT_LEAST = 0.1, 10  # s between looks at what is new; looks, after which it is said all the same
# Where the ends of routes are not what people call them.
_WORDS = {
    "UpperLeg": "thigh", "LowerLeg.bend": "knee", "Foot.bend": "toes", "heading": "turn round", "neck": "head",
    "hips.side": "pelvis tilts", "hips.bend": "pelvis leans", "hips.turn": "pelvis turns", "UpperArm": "arm",
    "LowerArm.bend": "elbow", "Hand.side": "wrist", "tension.LowerArm": "stiff elbows", "tension": "stiffness",
}  # fmt: skip
Doer = Callable[[str, str], None]


def describe_hands(mapping: HandMapping) -> list[dict[str, str]]:
    """What each hand moves, left and right, in words: by what of it (turn, left, up, ahead, grip)."""
    found: list[dict[str, str]] = [{}, {}]
    for route in mapping.routes:
        stem = route.joint.removeprefix("left").removeprefix("right")
        plain = stem + route.to[len(route.joint) :] if stem in STEMS else route.to
        for hand, side in enumerate(("left", "right")):
            if route.hand in (side, "each"):
                found[hand].setdefault(route.source, printable(_WORDS.get(plain, plain)))
    return found


class TouchRoom:
    """See `serving.Room`.

    hands   what screens move;  do: called with what a screen asks for, and of what; must not wait
    state   what every screen is told: plain data; set whole, by any thread
    """

    path, most_bytes = PATH, MOST_BYTES

    def __init__(self, hands: TouchHands, do: Doer):
        self.hands, self.do = hands, do
        self.state: Mapping[str, Any] = {}
        names = {PATH: "touch.html"} | {
            f"{PATH}/{each}": each for each in ("touch.css", "touch.js", "pads.js", "view.css")
        }
        self._files = {path: Answer(_KINDS[Path(name).suffix], read_bytes(FOLDER / name))
                       for path, name in names.items()}  # fmt: skip

    def find_file(self, path: str) -> Answer | None:
        """See `Room.find_file`."""
        return self._files.get(path)

    async def hear(self, connection: Any) -> None:
        """See `Room.hear`."""
        from websockets.exceptions import ConnectionClosed

        screen = self.hands.join()
        if screen is None:
            await connection.close(1013, "too many screens play already")
            return
        told = asyncio.create_task(self._tell(connection, screen))
        try:
            async for message in connection:
                said = self.hands.take(screen, message)
                if said.answer is not None:
                    await connection.send(said.answer)
                if said.deed is not None:
                    self.do(said.deed, said.name)
        except ConnectionClosed:
            pass
        finally:
            told.cancel()
            self.hands.leave(screen)
            await asyncio.gather(told, return_exceptions=True)

    async def _tell(self, connection: Any, screen: int) -> None:
        """Say how it goes, where that is new."""
        last, since = "", 0
        while True:
            now = json.dumps({**self.state, "yours": self.hands.has(screen), "homes": self.hands.homes})
            since += 1
            if now != last or since >= _AT_LEAST:
                last, since = now, 0
                await connection.send(now)
            await asyncio.sleep(_EVERY)
