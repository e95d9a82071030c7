"""A gamepad as two hands.

Each stick tilts its hand, each trigger lifts it, and a gyroscope turns the hand whose shoulder button is held.

    left stick, left trigger, left shoulder     left hand: to a side and ahead; up; turned as the pad
    right ...                                   right hand likewise
    A B X Y ...                                 buttons of the right hand, the cross those of the left, as bits
    both shoulders                              grip, while both are held

When a pad is unplugged, its hands stay where they were; the next pad that is plugged in continues from there.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from poise.live.sdl import get_sdl, start
from poise.puppetry.device import HandsReading, HeldHands
from poise.spatial import rotation

DEAD = 0.12  # of a stick's range around its centre, that has no effect
TIPS, LIFTS = np.radians(70.0), 0.22  # rad and m, at the end of a stick's and a trigger's range
FULL = 32767.0
_LONGEST = 0.1  # s, of gyroscope rates that are integrated at once
_LEFT_BUTTONS, _RIGHT_BUTTONS = ("DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT"), ("A", "B", "X", "Y")


def read_stick(x: float, y: float) -> np.ndarray:
    """Return the rotation (4,) of a stick: x and y from -1 to 1, to the right and *down*, as gamepads have them."""
    size = float(np.hypot(x, y))
    if size <= DEAD:
        return rotation.identity()
    by = min((size - DEAD) / (1.0 - DEAD), 1.0) / size * np.array([x, y]) * TIPS
    # Up is ahead: the lower end goes to +z by a turn about -x. The user's right is the puppet's -x.
    return np.asarray(rotation.exp(np.array([by[1], 0.0, -by[0]])))


def turn_on(turn: np.ndarray, rates: np.ndarray, dt: float) -> np.ndarray:
    """Return a rotation (4,) after dt seconds at a pad's rates (3,) rad/s about its right, up and towards the user."""
    # A pad's right is the puppet's -x, and towards its user is -z.
    step = rotation.exp(np.asarray(rates) * (-1.0, 1.0, -1.0) * min(max(dt, 0.0), _LONGEST))
    return np.asarray(rotation.multiply(turn, step))


class GamepadHands(HeldHands):
    """Hands of the first connected gamepad."""

    name = "gamepad"

    def __init__(self) -> None:
        super().__init__()
        self._sdl = get_sdl()
        start(self._sdl, self._sdl.SDL_INIT_GAMECONTROLLER, "gamepads")
        self._pad: Any = None
        self._called, self._was = "", tuple[Any, ...]()
        self._felt = [rotation.identity(), rotation.identity()]
        self._feels, self._at = False, time.perf_counter()
        self._find()

    def _find(self) -> None:
        sdl = self._sdl
        for number in range(sdl.SDL_NumJoysticks()):
            if sdl.SDL_IsGameController(number):
                self._pad = sdl.SDL_GameControllerOpen(number)
                if self._pad:
                    said = sdl.SDL_GameControllerName(self._pad)
                    self._called = (said or b"gamepad").decode(errors="replace")
                    gyro = sdl.SDL_SENSOR_GYRO
                    self._feels = bool(sdl.SDL_GameControllerHasSensor(self._pad, gyro)) and (
                        sdl.SDL_GameControllerSetSensorEnabled(self._pad, gyro, sdl.SDL_TRUE) == 0
                    )
                    return
        self._pad = None

    def read(self) -> HandsReading | None:
        """See `HandsDevice.read`."""
        sdl = self._sdl
        sdl.SDL_GameControllerUpdate()
        if self._pad is not None and not sdl.SDL_GameControllerGetAttached(self._pad):
            sdl.SDL_GameControllerClose(self._pad)
            self._pad = None
        if self._pad is None:
            self._find()
        if self._pad is not None:
            self._look()
        return super().read()

    def _look(self) -> None:
        sdl, pad = self._sdl, self._pad
        axes = [sdl.SDL_GameControllerGetAxis(pad, k) / FULL for k in range(6)]  # left x y, right x y, triggers
        pressed = [sdl.SDL_GameControllerGetButton(pad, getattr(sdl, f"SDL_CONTROLLER_BUTTON_{name}"))
                   for name in ("LEFTSHOULDER", "RIGHTSHOULDER", *_LEFT_BUTTONS, *_RIGHT_BUTTONS)]  # fmt: skip
        turned = self._feel(pressed[:2])
        now = (*axes, *pressed)
        if now == self._was and not turned:
            return
        self._was = now
        grip = 1.0 if pressed[0] and pressed[1] else 0.0
        for hand in range(2):
            tipped = read_stick(axes[2 * hand], axes[2 * hand + 1])
            place = np.array([0.0, LIFTS * min(max(axes[4 + hand], 0.0), 1.0), 0.0])
            held = pressed[2 + 4 * hand : 6 + 4 * hand]
            bits = sum(1 << k for k, is_down in enumerate(held) if is_down)
            self.put(hand, place, np.asarray(rotation.multiply(self._felt[hand], tipped)), grip, bits)

    def _feel(self, shoulders: list[int]) -> bool:
        """Turn the hands whose shoulder buttons are held by the gyroscope; return whether any is."""
        at, past = time.perf_counter(), time.perf_counter() - self._at
        self._at = at
        if not self._feels:
            return False
        import ctypes

        rates = (ctypes.c_float * 3)()
        sdl = self._sdl
        if sdl.SDL_GameControllerGetSensorData(self._pad, sdl.SDL_SENSOR_GYRO, rates, 3) != 0:
            return False
        for hand in range(2):
            self._felt[hand] = turn_on(self._felt[hand], np.array(rates), past) if shoulders[hand] else (
                rotation.identity()
            )  # fmt: skip
        return any(shoulders)

    def status(self) -> tuple[bool, str]:
        """See `HandsDevice.status`."""
        if self._pad is None:
            return False, "no gamepad is there. Plug one in, or choose another device."
        return True, f"gamepad {self._called:.60}" + (", feels how it is turned" if self._feels else "")

    def close(self) -> None:
        """See `HandsDevice.close`."""
        if self._pad is not None:
            self._sdl.SDL_GameControllerClose(self._pad)
            self._pad = None
        self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER)
