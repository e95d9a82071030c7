"""The motion that `Strength` follows: its pose now and at the end of a step, and a plan of its centre of mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise.body.geometry.soles import build_footing
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.kinematic.kinematic import Kinematic, KinematicPlayer
from poise.drivers.strength.records import CenterPlan, Feet, StepRecord
from poise.world.foot_boxes import find_corners, find_soles_of

if TYPE_CHECKING:
    from poise.drivers.strength.strength import Strength

CENTER = "center"  # the centre of mass among paths
# Samples of a plan of the centre of mass, and s between them: 4 s, replanned after half of it. Not swept.
WINDOW, INTERVAL = 241, 1.0 / 60.0
# Fraction of the support polygon, about its middle, within which the centre of pressure is planned; the rest is left
# for errors. Not swept.
PLANNED_SUPPORT = 0.75


class Reference:
    """The motion on bodies of its own, which have the actor's tree but are not simulated.

    pose     body in the motion's pose at the beginning of a step, and `end` at the end of it
    feet     soles;  feet_joints (2,): their joints;  stands (2,): which of them stand
    middles  (2, 3) m, middles of the soles in the feet's axes
    shift    (3,) m, horizontal: from the motion's feet to those of the body that stand
    step     addresses of what a step reads and writes; others add theirs
    planned  (1,) s, when the plan of the centre of mass begins; NaN: there is none
    began    (2,) m, height of the lowest sole and of the hips at the beginning
    """

    def __init__(self, driver: Strength, body: Body, joints: np.ndarray, t: float):
        self._driver, self._dt = driver, body.dt
        self.pose, self.end, self._scout = Body(body.character), Body(body.character), Body(body.character)
        every = np.arange(len(body.tree)) if driver.motion.moves_root else joints
        player = Kinematic(driver.motion, driver.start, driver.cutoff)
        moved = player.claim(body.character, every.tolist(), "body").moved
        self.player: KinematicPlayer = player.build(self.pose, np.array(moved), t)  # type: ignore[assignment]
        corners = np.stack([find_corners(box) for box in build_footing(body.skeleton)])
        self.feet = Feet(
            count=2, has_motion=int(self.player.moves_root), corners=corners,
            joint=np.array([body.skeleton.index(f"{side}Foot") for side in SIDES]),
        )  # fmt: skip
        self.middles, self.feet_joints, self._corners, self.stands = (
            corners.mean(axis=1), self.feet.joint, corners, self.feet.stands,
        )  # fmt: skip
        self.step = StepRecord(
            body=body.block.address, motion=self.pose.block.address, end=self.end.block.address,
            feet=self.feet.address,
        )  # fmt: skip
        self.shift, self.planned, self.began = np.zeros(3), np.full(1, np.nan), np.zeros(2)
        self.axes = np.array(["xyz".index(axis) for axis in driver.center], np.int64)
        self.plan = CenterPlan(samples=WINDOW, interval=INTERVAL, scale=PLANNED_SUPPORT)
        self._planned = self.plan.planned

    @property
    def moves_root(self) -> bool:
        """Whether the motion says where the root is."""
        return self.player.moves_root

    def begin(self, body: Body, t: float) -> None:
        """Begin at time t (s); joints that the motion does not move stay as the body has them."""
        for pose in (self.pose, self.end):
            pose.state.q[:], pose.state.root[:] = body.state.q, body.state.root
        self.set_time(t)
        self.began[:] = self.find_soles(self.pose)[..., 1].min(), self.pose.p[0, 1]
        self.feet.ground = float(self.began[0])
        self.planned[0] = np.nan

    def set_time(self, t: float) -> None:
        """Write the motion's pose at time t (s), and at the end of the step that begins then."""
        ahead, end = t + self._dt, self._driver.start + self.player.track.end
        if t < end <= ahead + 1e-9:  # a motion stops after its last frame, and not in the step that ends there
            ahead = end - 1e-6 * self._dt
        for pose, at in ((self.end, ahead), (self.pose, t)):
            self.player.write(pose, at)
            pose.update()

    def find_soles(self, body: Body, sides: list[int] | None = None) -> np.ndarray:
        """Return the corners (2, 4, 3) m of a body's soles in the world; of some sides, if they are given."""
        joints, corners = self.feet_joints, self._corners
        if sides is not None:
            joints, corners = joints[sides], corners[sides]
        return find_soles_of(body.R, body.p, joints, corners)

    def lifts(self, side: int) -> bool:
        """Return whether the motion lifts a foot now."""
        from poise.drivers.strength.kernels import is_lifted

        return bool(is_lifted(self.step.address, side))

    def find_center(self, body: Body, t: float) -> np.ndarray:
        """Return the planned centre of mass (3, 3) at time t: m, m/s and m/s2, on the motion's own ground."""
        late = t - float(self.planned[0])
        if not 0.0 <= late <= 0.5 * WINDOW * INTERVAL:
            self._plan_center(body, t, late)
        at = min(max((t - float(self.planned[0])) / INTERVAL, 0.0), WINDOW - 1.001)
        i, share = int(at), at - int(at)
        planned = self._planned
        return np.asarray((1.0 - share) * planned[i] + share * planned[i + 1])

    def _plan_center(self, body: Body, t: float, late: float) -> None:
        """Plan the centre of mass from time t (s) on, `late` seconds after the plan so far began."""
        from poise.drivers.strength.kernels import add_sample, plan_center

        plan, scout, path = self.plan, self._scout, self._driver.paths.get(CENTER)
        scout.state.q[:], scout.state.root[:] = self.pose.state.q, self.pose.state.root
        plan.start[:] = body.c - self.shift
        if late > 0.0:
            plan.start[:] = plan.planned[min(round(late / INTERVAL), WINDOW - 1), 0]
        if scout.tree is not body.tree:
            scout.set_tree(body.tree)
        for i in range(WINDOW):
            self.player.write(scout, t + i * INTERVAL)
            scout.update()
            add_sample(scout.block, self.feet, plan, i)
            if path is not None:
                point, axes = path.at(t + i * INTERVAL - self._driver.start), self.axes
                plan.center[i, axes], plan.velocity[i, axes] = (point.place - self.shift)[axes], point.velocity[axes]
        plan.gravity = float(np.linalg.norm(body.gravity))
        plan_center(plan)
        self.planned[0] = t
        self.player.write(self.end, t + self._dt)
        self.player.write(self.pose, t)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {
            "began": self.began, "stands_on": self.feet.stands, "plan": self.plan.planned, "planned": self.planned,
            "shift": self.shift,
            # joints that the motion does not move
            "ghost_q": self.pose.state.q, "ghost_root": self.pose.state.root,
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the motion's own player, after `numbers`."""
        self.feet.ground = float(self.began[0])
        self.end.state.q[:], self.end.state.root[:] = self.pose.state.q, self.pose.state.root
        self.player.restore(saved["guide"])


class CaptureShortfall(NamedTuple):
    """By how much a body's balance is short.

    Balance is short if the capture point, c + c' sqrt(h / g) with h the height of c over the soles, is outside the
    support polygon: no pressure under the soles then stops the body.

    distance   m, of the capture point outside the soles, less what the motion itself lacks; negative inside
    edge       (3,) m, the nearest point of the soles' outline
    direction  (3,) unit, horizontal, from the edge to the capture point
    """

    distance: float
    edge: np.ndarray
    direction: np.ndarray


def find_capture_shortfall(body: Body, reference: Reference) -> CaptureShortfall:
    """Return by how much a body's balance is short now."""
    gravity = float(np.linalg.norm(body.gravity))
    feet = [side for side in range(2) if not reference.lifts(side)] or [0, 1]
    short, (x, z), (ex, ez), height = _find_capture_point(body, reference.find_soles(body, feet), gravity)
    if reference.moves_root:
        pose = reference.pose
        short -= max(_find_capture_point(pose, reference.find_soles(pose, feet), gravity)[0], 0.0)
    way = np.array([x - ex, 0.0, z - ez])
    far = float(np.linalg.norm(way))
    return CaptureShortfall(short, np.array([ex, height, ez]), way / far if far > 1e-9 else np.array([0.0, 0.0, 1.0]))


def _find_capture_point(
    body: Body, soles: np.ndarray, gravity: float
) -> tuple[float, tuple[float, float], tuple[float, float], float]:
    """Return how far (m) the capture point is outside soles, its x and z, those of the nearest edge, and its height."""
    from poise.drivers.balance.support_kernels import clamp_to_hull, hull_margin
    from poise.drivers.strength.kernels import outline_of

    points = soles.reshape(-1, 3)
    hull = np.zeros((len(points) + 1, 2))
    size, height = outline_of(points, len(points), 1.0, hull)
    ahead = body.dc / np.sqrt(gravity / max(body.c[1] - height, 0.05)) if gravity > 0.0 else 0.0 * body.dc
    x, z = float(body.c[0] + ahead[0]), float(body.c[2] + ahead[2])
    return -hull_margin(hull, size, x, z), (x, z), clamp_to_hull(hull, size, x, z), height
