"""What an abused body did, seen from outside: poses, and SciPy's rotations; no kernel, law or engine has a part in it.

Finite is not enough. A body that nobody pushed does not fly off, does not sink into the floor, and no limb of it is
faster than muscles, gravity and the pushes that it got can make it:

    center   V + K + sum J / M + sqrt(2 fall)         J: N s of pushes, M: kg; fall: m2/s2, of -g . c from its highest
    limb     W + K + 2 sum J / m + sqrt(2 fall)       relative to the centre; m: kg of what was pushed and hangs from it

K: m/s, how fast given joints were seen to move what hangs from them, by their own turns alone. What is given moves with
whatever force that takes, and kicks off whatever it meets: a feed that shakes legs at 20 rad/s throws the body.

Both V and W are for a body of 1.75 m and go with the root of its length. In company, where a heavy arm may hit a light
body, both are `COMPANY` times that.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.kinematics import place_joints
from poise import Character, Pose

V, W = 4.0, 30.0  # m/s
COMPANY = 3.0
SUNK = 0.3  # of its length: a joint so far under the floor
RECENT = 2.0  # s, for which a push explains a speed


class Figure:
    """A character as points with mass."""

    def __init__(self, character: Character):
        skeleton = character.skeleton
        self.skeleton, self.parents = skeleton, list(skeleton.parents)
        self.masses, self.centers = np.zeros(len(skeleton)), np.zeros((len(skeleton), 3))
        for segment in character.segments:
            k = skeleton.index(segment.joint)
            self.masses[k], self.centers[k] = segment.inertia.mass, segment.inertia.center
        self.mass, self.length = float(self.masses.sum()), character.height
        self.carried = self.masses.copy()
        for i in range(len(skeleton) - 1, 0, -1):
            self.carried[self.parents[i]] += self.carried[i]
        self.carries = np.eye(len(skeleton), dtype=bool)  # (J, J): whether joint i carries segment k
        for k in range(1, len(skeleton)):
            self.carries[:, k] |= self.carries[:, self.parents[k]]

    def place(self, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """(J, 3) m each: joints, and centres of segments."""
        places, turns = place_joints(self.skeleton, pose.root, pose.rotations)
        return places, np.array(
            [at + turn.apply(own) for at, turn, own in zip(places, turns, self.centers, strict=True)]
        )


class Watch:
    """One actor of an episode, over time."""

    def __init__(self, figure: Figure, gravity: np.ndarray, start: Pose):
        self.figure, self.gravity = figure, gravity
        self.pushes: list[tuple[float, float, float]] = []  # when (s), and J / M, J / m (m/s)
        self.kicks: list[tuple[float, float]] = []  # when (s), and K (m/s)
        self.highest = -float(gravity @ (figure.masses @ figure.place(start)[1] / figure.mass))

    def note_push(self, t: float, joint: int, impulse: float) -> None:
        """Somebody pushes from time t (s) on."""
        self.pushes.append((t, impulse / self.figure.mass, impulse / max(self.figure.carried[joint], 1e-3)))

    def judge(
        self, before: Pose, now: Pose, t: float, dt: float, floor: np.ndarray | None, in_company: bool,
        given: np.ndarray,
    ) -> str | None:  # fmt: skip
        """What is wrong with it, from two poses a step apart; None: nothing.

        floor  (J,) m under the joints' places;  given  (J,) bool, joints whose motion is given
        """
        figure = self.figure
        joints, centers = figure.place(now)
        turned = Rotation.from_quat(before.rotations, scalar_first=True).inv() * Rotation.from_quat(
            now.rotations, scalar_first=True
        )
        arms = np.linalg.norm(centers - joints[:, None], axis=-1) * figure.carries * (figure.masses > 0.0)
        self.kicks.append((t, float(((turned.magnitude() * given / dt) @ arms).max())))
        kick = max(each for when, each in self.kicks if t - when < RECENT or not self.gravity.any())
        speeds = (centers - figure.place(before)[1]) / dt
        center, speed = (figure.masses @ x / figure.mass for x in (centers, speeds))
        height = -float(self.gravity @ center)
        self.highest = max(self.highest, height)
        recent = [push for push in self.pushes if t - push[0] < RECENT or not self.gravity.any()]
        size = np.sqrt(figure.length / 1.75) * (COMPANY if in_company else 1.0)
        fall = np.sqrt(2.0 * (self.highest - height))
        most = V * size + kick + sum(push[1] for push in recent) + fall
        if np.linalg.norm(speed) > most:
            return f"fast: its centre goes at {np.linalg.norm(speed):.1f} m/s; {most:.1f} is explained"
        limb = np.linalg.norm(speeds - speed, axis=1) * (figure.masses > 1e-4 * figure.mass)
        # a foot that lands stops, and the rest goes on
        most = W * size + kick + 2.0 * sum(push[2] for push in recent) + fall
        if limb.max() > most:
            return f"fast: joint {int(limb.argmax())} goes at {limb.max():.0f} m/s; {most:.0f} is explained"
        if floor is not None:
            deep = float(np.max((floor - joints[:, 1])[figure.masses > 1e-4 * figure.mass]))
            if deep > SUNK * figure.length:
                return f"sunk: {deep:.2f} m under the floor"
        return None
