"""A puppet in the air: a hop, a jump.   [marionette, 8: future work]

The ground pushes and never pulls. A puppet hangs from the foot that carries, so its centre of mass c goes as strings
have it; where that would be below the path of a body that is thrown,

    c_k < c_k-1 + v dt - g dt^2,    v = (c_k-1 - c_k-2) / dt                                            [air, 1]

legs that straightened have let go of the ground: from then on c goes on that path, and strings only move the limbs
about it. It begins where c was, with the velocity that it had: nothing jumps. Whichever point of a foot comes to the
ground first carries again (`drivers/root/anchored.py`), and what is left of the fall is taken by the legs.

Only who rises is let go, faster than RISES for some frames: a puppet that crouches faster than it could fall is a
puppeteer's to decide. And strings hold it over where it was: hips that whip back as knees straighten do not throw it,
since along the ground its speed becomes, within TAU, what it was over the last third of a second.
"""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.drivers.body import Body

RISES, _FOR = 0.6, 3  # m/s; frames
TAU, _KNOWN = 0.06, 42  # s; frames that are known
HIGHEST = 3.5  # m/s, that hands throw it up with at most: 62 cm, as far as people jump who are good at it
LONGEST = 3.0  # s, that it is in the air at most


class PuppetFlight:
    """Where the centre of mass of a puppet goes while nothing carries it.

    past   (_KNOWN, 3) m, the centre of mass in the last frames, the newest last
    thrown (8,) m and m/s, of the centre of mass; m/s along the ground, x and z, that it comes to
    shift  (3,) m, of the root by what legs that are led weigh, in the last frame
    count  (2,) frames that `past` knows, and frames that it has been in the air: 0 on the ground
    """

    def __init__(self, character: Character, gravity: np.ndarray):
        self.gravity = np.asarray(gravity, float)
        masses = np.array([each.mass for each in character.inertias])
        self._shares = masses / masses.sum() if masses.sum() > 0.0 else np.eye(len(masses))[0]
        self._centers = np.array([each.center for each in character.inertias])
        self.past, self.thrown, self.count = np.zeros((_KNOWN, 3)), np.zeros(8), np.zeros(2, np.int64)
        self.shift = np.zeros(3)

    def numbers(self) -> dict[str, np.ndarray]:
        """All that changes, by name."""
        return {
            "air_past": self.past, "air_thrown": self.thrown, "air_count": self.count, "air_shift": self.shift,
        }  # fmt: skip

    @property
    def is_up(self) -> bool:
        """Whether nothing carries it."""
        return bool(self.count[1] > 0)

    @property
    def velocity(self) -> np.ndarray:
        """(3,) m/s, of the centre of mass in the air."""
        return self.thrown[3:6]

    def find_center(self, body: Body) -> np.ndarray:
        """(3,) m, the centre of mass of a body that is up to date."""
        places = body.p + np.einsum("jab,jb->ja", body.R, self._centers)
        return np.asarray(self._shares @ places)

    def forget(self) -> None:
        """Know of no frames before."""
        self.count[:] = 0

    def see(self, body: Body) -> None:
        """Remember where the centre of mass is in a frame."""
        self.past[:-1] = self.past[1:]
        self.past[-1] = self.find_center(body)
        self.count[0] = min(self.count[0] + 1, len(self.past))

    def lets_go(self, body: Body, dt: float) -> bool:
        """Whether the frame that a body is in would need the ground to pull; then it is thrown from here on."""
        if self.count[0] < len(self.past):
            return False
        speeds = np.diff(self.past[-_FOR - 1 :, 1]) / dt
        if speeds.min() < RISES:
            return False
        v = (self.past[-1] - self.past[-2]) / dt
        free = self.past[-1] + v * dt + self.gravity * dt * dt
        if self.find_center(body)[1] >= free[1]:  # c_k < c_k-1 + v dt - g dt^2   [air, 1]
            return False
        v = v * (1.0, min(1.0, HIGHEST / v[1]), 1.0)
        self.thrown[:3], self.thrown[3:6] = self.past[-1], v
        self.thrown[6:] = (self.past[-1] - self.past[0])[[0, 2]] / ((len(self.past) - 1) * dt)
        self.count[1] = 1
        return True

    def advance(self, dt: float) -> None:
        """Go on by a frame."""
        self.thrown[3:6] += self.gravity * dt
        self.thrown[[3, 5]] += (self.thrown[6:] - self.thrown[[3, 5]]) * (1.0 - np.exp(-dt / TAU))
        self.thrown[:3] += self.thrown[3:6] * dt
        self.count[1] += 1

    def place(self, body: Body) -> None:
        """Put a body, up to date but for its root's place, where its centre of mass is on its path."""
        body.update()
        body.state.root += self.thrown[:3] - self.find_center(body)

    def land(self) -> None:
        """Be carried again."""
        self.count[:] = 0

    def is_over(self, dt: float) -> bool:
        """Whether it has been up for longer than anybody is."""
        return bool(self.count[1] * dt > LONGEST)
