"""A puppet in the air: a hop, a jump.   [marionette, 8: future work]

The ground pushes and never pulls. A puppet hangs from its anchored foot, so its centre of mass c follows the strings;
when that would be below the path of a thrown body,

    c_k < c_k-1 + v dt - g dt^2,    v = (c_k-1 - c_k-2) / dt                                            [air, 1]

legs that straightened have released the ground: from then on c follows that path, and strings only move the limbs about
it. It begins where c was, with the velocity that it had, without a jump. The first point of a foot that reaches the
ground is anchored again (`drivers/root/anchored.py`), and the legs absorb the rest of the fall.

Only a rising puppet is released, if it rose faster than RISES for some frames: crouching faster than a fall is the
puppeteer's decision. And strings keep it over where it was: hips that whip back as knees straighten do not throw it,
since its velocity along the ground becomes, within DRIFT, what it was over the last third of a second.
"""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.drivers.body import Body
from poise.drivers.stateful import Stateful

RISES, _RISING_FRAMES = 0.6, 3  # m/s, that it must have risen with in so many frames to be released
DRIFT = 0.06  # s, in which its velocity along the ground becomes that before
_KNOWN = 42  # frames before, over which that is measured: 0.34 s
HIGHEST = 3.5  # m/s, with which hands throw it up at most: 62 cm, as far as people jump who are good at it
LONGEST = 3.0  # s, that it is in the air at most


class PuppetFlight(Stateful):
    """Path of the centre of mass of a puppet in the air.

    past      (_KNOWN, 3) m, the centre of mass in the last frames, the newest last;  known: number of valid rows
    center, velocity   (3,) m, m/s, of the centre of mass in the air
    drift     (2,) m/s, x and z, that its velocity becomes
    shift     (3,) m, by which led legs moved the root in the last frame
    frames_up  number of frames that it has been in the air: 0 on the ground
    """

    STATE = ("past", "known", "center", "velocity", "drift", "shift", "frames_up")

    def __init__(self, character: Character, gravity: np.ndarray):
        self.gravity = np.asarray(gravity, float)
        masses = np.array([each.mass for each in character.inertias])
        self._fractions = masses / masses.sum() if masses.sum() > 0.0 else np.eye(len(masses))[0]
        self._centers = np.array([each.center for each in character.inertias])
        self.past, self.known, self.frames_up = np.zeros((_KNOWN, 3)), 0, 0
        self.center, self.velocity, self.drift, self.shift = np.zeros(3), np.zeros(3), np.zeros(2), np.zeros(3)

    @property
    def is_up(self) -> bool:
        """Whether it is in the air."""
        return self.frames_up > 0

    def find_center(self, body: Body) -> np.ndarray:
        """Return the centre of mass (3,) m of a body that is up to date."""
        places = body.p + np.einsum("jab,jb->ja", body.R, self._centers)
        return np.asarray(self._fractions @ places)

    def reset(self) -> None:
        """Be on the ground, and forget the frames before."""
        self.known, self.frames_up = 0, 0

    def remember(self, body: Body) -> None:
        """Store the centre of mass in a frame on the ground."""
        self.past[:-1] = self.past[1:]
        self.past[-1] = self.find_center(body)
        self.known = min(self.known + 1, len(self.past))

    def releases(self, body: Body, dt: float) -> bool:
        """Return whether the ground would have to pull in a body's frame; if so, throw it from the frame before."""
        if self.known < len(self.past):
            return False
        speeds = np.diff(self.past[-_RISING_FRAMES - 1 :, 1]) / dt
        if speeds.min() < RISES:
            return False
        v = (self.past[-1] - self.past[-2]) / dt
        free = self.past[-1] + v * dt + self.gravity * dt * dt
        if self.find_center(body)[1] >= free[1]:  # c_k < c_k-1 + v dt - g dt^2   [air, 1]
            return False
        self.center[:], self.velocity[:] = self.past[-1], v * (1.0, min(1.0, HIGHEST / v[1]), 1.0)
        self.drift[:] = (self.past[-1] - self.past[0])[[0, 2]] / ((len(self.past) - 1) * dt)
        self.frames_up = 1
        return True

    def advance(self, dt: float) -> None:
        """Advance by a frame."""
        self.velocity += self.gravity * dt
        self.velocity[[0, 2]] += (self.drift - self.velocity[[0, 2]]) * (1.0 - np.exp(-dt / DRIFT))
        self.center += self.velocity * dt
        self.frames_up += 1

    def place(self, body: Body) -> None:
        """Move the root of a body so that its centre of mass is on the path."""
        body.update()
        body.state.root += self.center - self.find_center(body)

    def is_over(self, dt: float) -> bool:
        """Return whether it has been in the air for longer than any jump."""
        return self.frames_up * dt > LONGEST
