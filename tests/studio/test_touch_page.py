"""Screens that play a puppet: who is let in, what is believed, who has which hand, and who vanishes.   [M1]"""

from __future__ import annotations

import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.screen import Screen, find_wire, numbers
from poise.live.puppet_session import PRACTISE, RECORD, PuppetSession
from poise.puppetry.hands_file import load_hands
from poise.puppetry.mapping import load_mapping
from poise.spatial import rotation
from poise.studio.touch_hands import MOST_A_SECOND, MOST_BYTES, MOST_SCREENS, SILENT, TouchHands
from poise.studio.touch_page import describe_hands

STILL = numbers((0.0, 0.0, 0.0))


class Clock:
    """A clock that somebody moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def held(**hands: list[float]) -> str:
    return json.dumps({**hands, "held": True})


# Hands.


def test_fingers_move_both_hands() -> None:
    hands = TouchHands()
    screen = hands.join()
    assert screen is not None
    hands.take(screen, held(left=numbers((0.0, 0.2, 0.0), (-0.5, 0, 0)), right=numbers((0.1, 0, 0), (0, 0, 0.3), 0.5)))
    found = hands.read()
    assert found is not None and found.places.tolist() == [[0.0, 0.2, 0.0], [0.1, 0.0, 0.0]]
    assert rotation.log(found.turns) == pytest.approx(np.array([[-0.5, 0, 0], [0, 0, 0.3]]))
    assert found.grips.tolist() == [0.0, 0.5] and hands.heard == 1 and hands.ignored == 0
    hands.calibrate()
    found = hands.read()
    assert found is not None and not found.places.any() and hands.homes == 1


@pytest.mark.parametrize(
    "message",
    [
        "", "nothing", "[]", "3", "null", "{}", b"{}", '{"left": 3}', '{"left": []}', '{"held": true}', '{"do": "fly"}',
        '{"do": ["record"]}', '{"do": {}}', '{"do": "layer", "name": 3}', '{"ping": "x"}', '{"ping": NaN}',
        '{"ping": true}',
        '{"left": [NaN, 0, 0, 1, 0, 0, 0, 0]}', '{"left": [0, Infinity, 0, 1, 0, 0, 0, 0]}',
        '{"left": [0, 0, 9, 1, 0, 0, 0, 0]}', '{"left": [0, 0, 0, 0, 0, 0, 0, 0]}',
        '{"left": [0, 0, 0, 1, 0, 0, 0, 2]}',
        '{"left": [0, 0, 0, 1, 0, 0, 0, 0], "right": [0], "held": true}',
        '{"left": [0, 0, 0, 1, 0, 0, 0, 0], "held": 1}',
        '{"left": [true, 0, 0, 1, 0, 0, 0, 0], "held": true}', '{"left": [1e999, 0, 0, 1, 0, 0, 0, 0], "held": true}',
        '{"left": [1' + "0" * 400 + ', 0, 0, 1, 0, 0, 0, 0], "held": true}', "[" * MOST_BYTES,
        json.dumps({"left": STILL, "held": True, "x": "x" * MOST_BYTES}),
    ],
)  # fmt: skip
def test_what_cannot_be_is_left_out_whole_and_counted(message: str | bytes) -> None:
    hands = TouchHands()
    screen = hands.join()
    assert screen is not None
    said = hands.take(screen, message)
    assert said == (None, None, "") and hands.ignored == 1 and hands.heard == 0
    found = hands.read()
    assert found is not None and not found.places.any() and found.received == 0.0
    assert "1 messages ignored" in hands.status()[1]


def test_broken_messages_break_nothing() -> None:
    hands, dice = TouchHands(clock=(clock := Clock())), random.Random(3)
    screen = hands.join()
    assert screen is not None
    whole = held(left=numbers((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)), right=STILL)
    for _ in range(20_000):
        clock.now += 0.002
        letters = list(whole)
        for _ in range(dice.randint(1, 4)):
            letters[dice.randrange(len(letters))] = dice.choice('{}[]",:.-+eE0123456789 NaInfty\x00é')
        hands.take(screen, "".join(letters)[: dice.randint(0, len(letters) + 40)])
    found = hands.read()
    assert hands.ignored > 10_000 and hands.heard > 100 and found is not None
    assert np.abs(found.places).max() <= 1.0
    assert np.linalg.norm(found.turns, axis=1) == pytest.approx([1.0, 1.0])


def test_too_many_are_too_many() -> None:
    clock = Clock()
    hands = TouchHands(clock=clock)
    screens = [hands.join() for _ in range(MOST_SCREENS)]
    assert None not in screens and hands.join() is None
    assert screens[0] is not None
    for _ in range(MOST_A_SECOND + 50):
        hands.take(screens[0], held(left=STILL))
    assert hands.ignored == 50
    clock.now += 1.0
    hands.take(screens[0], held(left=STILL))
    assert hands.ignored == 50
    hands.leave(screens[0])
    assert hands.join() is not None


def test_who_touched_last_has_the_hand() -> None:
    hands = TouchHands()
    one, two = hands.join(), hands.join()
    assert one is not None and two is not None
    hands.take(one, held(left=numbers((0, 0.1, 0)), right=numbers((0, 0.1, 0))))
    hands.take(two, held(right=numbers((0, 0.2, 0))))
    assert hands.has(one) == [True, False] and hands.has(two) == [False, True]
    # what glides back elsewhere does not take it away
    hands.take(one, json.dumps({"left": STILL, "right": STILL}))
    found = hands.read()
    assert found is not None and found.places[:, 1].tolist() == [0.0, 0.2]
    # and neither hand is lost without a word
    assert hands.status() == (True, "touch: 2 screens are connected")
    hands.leave(two)
    is_there, said = hands.status()
    assert (
        not is_there and said == "touch: who played the right hand is gone; 1 screen is there. Touch a pad to play on."
    )
    hands.take(one, held(right=STILL))
    assert hands.status() == (True, "touch: 1 screen is connected")
    hands.leave(one)
    assert hands.status() == (False, "touch: the screen that played is gone.")


def test_a_screen_that_is_silent_is_gone() -> None:
    clock = Clock()
    hands = TouchHands("http://10.0.0.7:8137/hands?key=secret", clock)
    assert hands.status()[1].startswith(
        "touch: no screen is there. Open http://10.0.0.7:8137/hands?key=secret on a tablet"
    )
    screen = hands.join()
    assert screen is not None and hands.status()[0]
    clock.now += SILENT + 0.1
    assert not hands.status()[0]
    hands.take(screen, '{"ping": 1}')
    assert hands.status()[0]


def test_what_hands_mean_is_said_in_words() -> None:
    legs, trunk = (describe_hands(load_mapping(name)) for name in ("legs", "trunk"))
    assert legs[1] == {"turn": "thigh", "up": "knee", "ahead": "toes"} and legs[0]["left"] == "turn round"
    assert trunk[0] == {"turn": "trunk", "left": "pelvis tilts", "ahead": "pelvis leans"} and trunk[1]["turn"] == "head"


def test_thumbs_that_go_round_walk(tmp_path: Path) -> None:
    hands, tips, lifts = TouchHands(), np.radians(70.0), 0.22  # as `touch/pads.js` has it
    screen = hands.join()
    assert screen is not None
    session = PuppetSession(poise.Rehearsal(tmp_path), poise.Character.human(1.75, 75))
    for k in range(480):
        t = k / 120.0
        said = {}
        for side, phase in (("left", 0.0), ("right", np.pi)):
            p, size = (
                np.pi * t + phase,
                min(t, 1.0),
            )  # a round in two seconds, a third of the way ahead and half of it up
            forth, up = -0.3 * size * np.cos(p), max(0.5 * size * np.sin(p), -0.1)
            said[side] = numbers((0.0, lifts * up, 0.0), (-tips * forth, 0.0, 0.0))
        hands.take(screen, held(**said))
        shown = session.tick(hands.read())
    assert hands.ignored == 0 and shown.pose.root[2] > 1.5 and abs(shown.pose.root[0]) < 0.1
    session.close()


# The wire.


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    pytest.importorskip("viser", reason="viser is not installed")
    from poise.studio.puppet_page import PuppetPage, PuppetPageRecipe

    found = PuppetPage(PuppetPageRecipe(tmp_path / "show", port=0))
    yield found
    found.close()


def wait(found: Callable[[], object], seconds: float = 20.0) -> None:
    """Until something is so."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_nobody_touches_without_the_key(page: Any) -> None:
    import websockets.sync.client as client
    from websockets.exceptions import ConnectionClosed, InvalidStatus

    address = page.touch.address
    bare, key = address.partition("?")[0], page.server.door.key
    for path in ("", "/touch.js", "/pads.js"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(bare + path)
        with urllib.request.urlopen(f"{bare}{path}?key={key}") as answer:
            assert answer.status == 200 and "default-src 'self'" in answer.headers["Content-Security-Policy"]
            assert len(answer.read()) == int(answer.headers["Content-Length"])
    for path in ("/none.js", "/../serving.py", "/%2e%2e/serving.py", "/touch.html/"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{bare}{path}?key={key}")
    wire, cookie = find_wire(address), {"Cookie": f"poise-key={key}"}
    with pytest.raises(InvalidStatus, match="401"):
        client.connect(wire)
    with pytest.raises(InvalidStatus, match="401"):
        client.connect(wire, additional_headers={"Cookie": "poise-key=wrong"})
    with pytest.raises(InvalidStatus, match="403"):
        client.connect(wire, origin="http://evil.example", additional_headers=cookie)  # type: ignore[arg-type]
    with pytest.raises(InvalidStatus, match="403"):
        client.connect(wire, additional_headers={**cookie, "Host": "evil.example"})
    with client.connect(wire, additional_headers=cookie) as socket:
        socket.send("x" * (MOST_BYTES + 1))  # more than it hears
        with pytest.raises(ConnectionClosed, match="1009"):
            while True:
                socket.recv(timeout=10.0)
    with client.connect(wire, additional_headers=cookie) as socket:
        assert "yours" in json.loads(socket.recv(timeout=10.0))  # others are let in as ever


def test_two_thumbs_record_a_layer_over_the_wire(page: Any, tmp_path: Path) -> None:
    screen = Screen(page.touch.address)
    page.start()
    screen.touch(left=((0.0, 0.0, 0.0),), right=((0.0, 0.0, 0.0),))  # type: ignore[arg-type]
    wait(lambda: page.loop.device is page.touch)  # handles were not moved: who touches plays
    wait(lambda: screen.hear()["plays"])
    assert page.panel.device.value == "touch" and "1 screen" in page.touch.status()[1]
    screen.say({"do": "record"})
    wait(lambda: screen.hear()["mode"] == "record")
    for k in range(60):
        s = np.sin(0.2 * k)
        screen.touch(left=((0, 0.1 + 0.1 * s, 0), (-0.5 * s, 0, 0)), right=((0, 0.1 - 0.1 * s, 0), (0.5 * s, 0, 0)))
        if k % 20 == 10:
            screen.say('{"left": [NaN]}')
        time.sleep(0.01)
    screen.sync()
    assert page.touch.ignored == 3
    screen.say({"do": "stop"})
    wait(lambda: screen.hear()["mode"] == "practise")
    take = load_hands(tmp_path / "show" / "legs-1.hands")
    heights = take.places[:, :, 1]
    assert ((heights[:, 0] > 0.15) & (heights[:, 1] < 0.05)).any() and (
        (heights[:, 1] > 0.15) & (heights[:, 0] < 0.05)
    ).any()
    screen.say({"do": "play"})
    wait(lambda: screen.hear()["mode"] == "play")
    # what cannot be done is told there, too
    screen.say({"do": "layer", "name": "../../wings.toml"})
    wait(lambda: "layer '../../wings.toml' is not known" in screen.hear()["message"])
    screen.say({"do": "layer", "name": "arms"})
    wait(lambda: screen.hear()["layer"] == "arms")
    told = screen.hear()
    assert told["message"] == "" and told["means"][0]["turn"] == "arm" and told["layers"] == ["legs", "trunk", "arms"]
    # calibrate: hands are back, and screens are told to follow
    screen.say({"do": "calibrate"})
    wait(lambda: screen.hear()["homes"] == 1)
    assert not page.touch.read().places.any()
    assert page.loop.latency is not None
    print(f"from the wire to a pose: {1000 * page.loop.latency:.1f} ms")
    screen.close()


def test_a_screen_that_vanishes_in_a_take_is_told_and_the_take_goes_on(page: Any, tmp_path: Path) -> None:
    screen = Screen(page.touch.address)
    page.start()
    screen.touch(left=((0, 0.15, 0),))  # type: ignore[arg-type]
    screen.say({"do": "record"})
    wait(lambda: page.session.mode == RECORD and page.loop.device is page.touch and page.loop._was_there)
    wait(lambda: page.session.time > 0.5)
    screen.close()  # or killed, or out of reach: `tell` knows who is silent
    wait(lambda: "the screen that played is gone" in page.panel.message)
    assert "The take goes on; hands stay where they were." in page.panel.message and page.session.mode == RECORD
    at = page.session.time
    wait(lambda: page.session.time > at + 0.3)
    again = Screen(page.touch.address)
    again.touch(left=((0, 0.05, 0),))  # type: ignore[arg-type]
    wait(lambda: "1 screen is connected" in page.panel.message)
    at = page.session.time
    wait(lambda: page.session.time > at + 0.2)
    again.say({"do": "stop"})
    wait(lambda: page.session.mode == PRACTISE)
    again.close()
    heights = load_hands(tmp_path / "show" / "legs-1.hands").places[:, 0, 1]
    assert heights[-1] == pytest.approx(0.05)
    assert (abs(heights - 0.15) < 1e-9).sum() > 90  # it stayed while nobody was there


def test_handles_and_fingers_hand_over_to_each_other_and_others_are_not_disturbed(page: Any) -> None:
    from poise.puppetry.device import HeldHands

    screen = page.touch.join()
    page.loop.tick()
    page.touch.take(screen, held(left=numbers((0, 0.1, 0))))
    page.loop.tick()
    page.loop.tick()
    assert page.loop.device is page.touch
    page.hands.mirror(page.touch)
    assert page.hands.place(0)[1] == 0.1  # handles show it, and that is no moving of them
    page.loop.tick()
    assert page.loop.device is page.touch
    page.hands.move(1, np.array([0.0, 0.2, 0.0]), rotation.identity())
    page.loop.tick()
    assert page.loop.device is page.hands
    other = HeldHands("gamepad")
    page.loop.device = other
    page.touch.take(screen, held(left=numbers((0, 0.2, 0))))
    page.loop.tick()
    assert page.loop.device is other  # it has to be asked for
    page.panel.act("take")
    page.loop.tick()
    assert page.loop.device is page.touch and not page.session.hands.neutral.any()


def test_the_address_is_one_that_others_can_open(page: Any) -> None:
    from poise.studio.server import find_own_number

    assert page.touch.address.startswith("http://127.0.0.1:") and "/hands?key=" in page.touch.address
    page.server.host = "0.0.0.0"
    assert find_own_number("0.0.0.0") in page.server.address_of("/hands", for_others=True)
    assert "//127.0.0.1:" in page.server.address_of("/")
    page.server.host = "::"
    assert "//[::1]:" in page.server.address_of("/")
