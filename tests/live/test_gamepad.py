"""A gamepad that is not there: SDL's virtual one plays the puppet, is unplugged in a take, and comes back.   [M1]"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.live.gamepad import LIFTS, TIPS, GamepadHands, read_stick, turn_on
from poise.live.puppet_loop import PuppetLoop
from poise.live.puppet_session import RECORD, PuppetSession
from poise.puppetry.hands_file import load_hands
from poise.spatial import rotation


class VirtualPad:
    """A gamepad of SDL's own."""

    def __init__(self, sdl: Any):
        self.sdl = sdl
        self.number = sdl.SDL_JoystickAttachVirtual(sdl.SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 15, 0)
        assert self.number >= 0, sdl.SDL_GetError()
        self.joystick = sdl.SDL_JoystickOpen(self.number)

    def axis(self, number: int, value: float) -> None:
        self.sdl.SDL_JoystickSetVirtualAxis(self.joystick, number, round(32767 * value))

    def button(self, number: int, is_down: bool) -> None:
        self.sdl.SDL_JoystickSetVirtualButton(self.joystick, number, int(is_down))

    def unplug(self) -> None:
        self.sdl.SDL_JoystickDetachVirtual(self.number)
        self.sdl.SDL_JoystickClose(self.joystick)
        self.sdl.SDL_JoystickUpdate()


@pytest.fixture
def sdl() -> Iterator[Any]:
    pytest.importorskip("sdl2", reason="PySDL2 is not installed")
    from poise.live.sdl import get_sdl, start

    found = get_sdl()
    start(found, found.SDL_INIT_GAMECONTROLLER, "gamepads")
    yield found
    found.SDL_QuitSubSystem(found.SDL_INIT_GAMECONTROLLER)


def test_sticks_and_triggers_are_two_hands(sdl: Any) -> None:
    pad = VirtualPad(sdl)
    hands = GamepadHands()
    try:
        is_there, said = hands.status()
        assert is_there and "gamepad" in said
        for axis in (4, 5):
            pad.axis(axis, -1.0)  # triggers at rest
        first = hands.read()
        assert first is not None and np.allclose(first.places, 0.0) and np.allclose(first.turns, rotation.identity())
        pad.axis(1, -1.0)  # left stick up
        pad.axis(2, 1.0)  # right stick to the right
        pad.axis(4, 1.0)  # left trigger
        pad.button(0, True)  # A
        found = hands.read()
        assert found is not None and found.received > first.received
        assert found.places[0] == pytest.approx([0.0, LIFTS, 0.0], abs=1e-3)
        foot = np.array([0.0, -1.0, 0.0])
        ahead = rotation.rotate(found.turns[0], foot)
        assert ahead[2] == pytest.approx(np.sin(TIPS), abs=1e-3) and abs(ahead[0]) < 1e-6
        aside = rotation.rotate(found.turns[1], foot)
        assert aside[0] == pytest.approx(-np.sin(TIPS), abs=1e-3) and abs(aside[2]) < 1e-6
        assert found.buttons.tolist() == [0, 1]
        again = hands.read()
        assert again is not None and again.received == found.received  # nothing new
    finally:
        hands.close()
        pad.unplug()


def test_a_gamepad_plays_a_puppet_and_is_unplugged_in_the_middle(sdl: Any, tmp_path: Path) -> None:
    pad, told = VirtualPad(sdl), list[str]()
    hands = GamepadHands()
    session = PuppetSession(poise.Rehearsal(tmp_path), poise.Character.human(1.75, 75))
    now = [0.0]
    loop = PuppetLoop(session, hands, told.append, lambda: now[0])
    knee = session.character.skeleton.index("leftLowerLeg")

    def ticks(count: int) -> Any:
        for _ in range(count):
            now[0] += 1.0 / 120.0
            shown = loop.tick()
        assert shown is not None
        return shown.pose.rotations[knee]

    try:
        for axis in (4, 5):
            pad.axis(axis, -1.0)
        still = ticks(60)
        loop.post(session.record)
        pad.axis(4, 1.0)
        bent = ticks(60)
        assert np.abs(bent - still).max() > 0.2
        pad.unplug()
        held = ticks(60)
        assert len(told) == 1 and "no gamepad is there" in told[0] and "take goes on" in told[0]
        assert session.mode == RECORD and np.abs(held - still).max() > 0.2  # the knee stays up
        pad = VirtualPad(sdl)
        for axis in (4, 5):
            pad.axis(axis, -1.0)
        ticks(90)
        assert len(told) == 2 and "gamepad" in told[1]
        session.close()
        heights = load_hands(tmp_path / "legs-1.hands").places[:, 0, 1]
        assert len(heights) == 211 and heights[115] == pytest.approx(LIFTS, abs=1e-3)  # while nobody was there
        assert heights[-1] == pytest.approx(0.0, abs=1e-3)
    finally:
        hands.close()
        pad.unplug()


def test_a_stick_around_its_middle_means_nothing() -> None:
    assert np.array_equal(read_stick(0.05, -0.1), rotation.identity())
    assert np.linalg.norm(rotation.log(read_stick(0.2, 0.0))) < 0.2


def test_a_pad_that_is_turned_turns_a_hand() -> None:
    turn = rotation.identity()
    for _ in range(100):  # nodding away from who holds it, for a second
        turn = turn_on(turn, np.array([-0.5, 0.0, 0.0]), 0.01)
    assert rotation.log(turn) == pytest.approx([0.5, 0.0, 0.0], abs=1e-9)  # its top goes ahead
    assert np.linalg.norm(rotation.log(turn_on(rotation.identity(), np.array([1.0, 0.0, 0.0]), 60.0))) < 0.2


def test_without_sdl_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sdl2", None)
    rejects(GamepadHands, "poise[gamepad]")
