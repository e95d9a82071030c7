"""A simulated body that follows a ghost by springs, on the ghost's feet.   [balance, K10]

The ghost is another actor, most often one that walks (`Walk`): it has no weight and nothing stops it. The body is
pushed, bent and stopped, and comes back. At every joint a spring and a damper pull it to the ghost's pose, whose
torques are taken at the end of the step, so that no step is too long for them:

    torque = k (q* - q) + d (w* - w)        k: so many times m g h, of what a joint carries

with legs as stiff as carrying all of the body takes. The foot that the ghost stands on is fixed to the world: where the
body has it at first, from where it slides to where the ghost has it, by some centimetres a second. The other one is
drawn to the ghost's by no more than a hand could pull, and fixed in its turn when the ghost stands on it.

Whoever follows can be held back, and then a ghost that walked on would pull ever harder. `Walk(waits_for=body)` has its
clock slow down instead (K11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.driver import TORQUE, BodyModel, Claim, Driver, Player
from poise.drivers.loose.loose import Loose
from poise.drivers.track.track import CRITICAL, Track
from poise.errors import InputError
from poise.kinds import checked
from poise.spatial import rotation
from poise.walking.feet.foot import build_feet

LEGS = ("UpperLeg", "LowerLeg", "Foot")
_PULL, _SLOW, _MOST = 3000.0, 150.0, 250.0  # N/m, N s/m and N of the foot that is drawn, of an adult of 75 kg
_TWIST, _TWISTED, _HARDEST = 40.0, 2.0, 15.0  # N m/rad, N m s/rad and N m
# How near to the ghost's a foot is fixed (m, rad), how long it takes (s) until it does with twice as far, and the most.
_NEAR, _FLAT, _PATIENCE, _FAR, _ASKEW = 0.025, 0.04, 0.15, 0.1, 0.2
# Of the height: a ghost that is farther ahead of its body is followed no harder. With 0.05 to 0.12 nobody fell. The
# lowest head in four runs at a wall, of its height at the start: 0.05 0.96, 0.07 0.75, 0.09 0.76, 0.12 0.82; in one
# run at a crate of 300 kg: 0.69, 0.73, 0.72, 0.74.
_LEASH = 0.07
_SAME = 1e-3  # of the height, that bones of a shadow and of its ghost may differ by
_SLIDE, _TURN = 0.15, 0.6  # m/s and rad/s, that a foot that is fixed goes to the ghost's


@checked
@dataclass(frozen=True, eq=False)
class Shadow(Driver):
    """Follows a ghost by springs, with the foot fixed that the ghost stands on.

    ghost      an actor of the same body
    stiffness  how many times m g h the springs are: 12 is firm, 4 gives way, 40 hardly
    damping    of critical
    """

    ghost: Any
    stiffness: float = 12.0
    damping: float = 1.0
    level = TORQUE
    active_after_fall = True

    def __post_init__(self) -> None:
        if not (hasattr(self.ghost, "pose") and hasattr(self.ghost, "character")):
            raise InputError(f"a shadow follows an actor, as of stage.add; given {self.ghost!r:.60}.")
        for what, value in (("stiffness", self.stiffness), ("damping", self.damping)):
            if not 0.01 <= value <= 1000.0:
                raise InputError(f"the {what} of a shadow is 0.01 to 1000; given {value:g}.")

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """All of the body, on the foot that the ghost stands on."""
        skeleton = character.skeleton
        if self.ghost.character.skeleton.names != skeleton.names:
            raise InputError("a shadow follows a ghost of its own body; this one has other joints.")
        apart = np.abs(self.ghost.character.skeleton.offsets - skeleton.offsets).max()
        if apart > _SAME * character.height:
            raise InputError(
                f"a shadow must be of the size of its ghost; '{character.name}' is {character.height:.2f} m tall, its "
                f"ghost {self.ghost.character.height:.2f} m, and their bones differ by up to {apart:.3f} m. Add the "
                "ghost with the shadow's character; retarget its clip first if it plays one."
            )
        needed = [skeleton.index(side + stem) for side in SIDES for stem in LEGS]
        absent = [skeleton.labels[i] for i in needed if i not in joints]
        if absent:
            lacks = ", ".join(absent)
            raise InputError(f"Shadow needs the whole of both legs; '{part}' lacks {lacks}. Drive 'body' with it.")
        moved = Track(self.ghost).claim(character, joints, part).moved
        foot = skeleton.index(SIDES[find_support(self.ghost)] + "Foot")
        return Claim(moved, pinned=(foot,), frees_root=True, follows=self.ghost)

    def build(self, body: Body, joints: np.ndarray, t: float) -> ShadowPlayer:
        """See `Driver.build`."""
        return ShadowPlayer(self, body, joints, t)


def find_support(ghost: Any) -> int:
    """The foot that a ghost stands on: 0 left, 1 right; of one that does not say so, the lower one."""
    for player in ghost.players:
        if hasattr(player, "support") and isinstance(player.support, int):
            return player.support
    skeleton = ghost.character.skeleton
    _, p = _place(ghost.body, ghost.pose())
    left, right = (float(p[skeleton.index(side + "Foot"), 1]) for side in SIDES)
    return 0 if left <= right else 1


def _place(body: Body, pose: Any) -> tuple[np.ndarray, np.ndarray]:
    """World orientations (J, 3, 3) and places (J, 3) m of a pose."""
    from poise.dynamics.body_kernels import pose_bodies

    tree = body.tree
    R, p = np.zeros((len(tree), 3, 3)), np.zeros((len(tree), 3))
    pose_bodies(tree.parents, tree.offsets, pose.root, pose.rotations, R, p)
    return R, p


class ShadowPlayer(Player):
    """Springs of one actor, the feet that are fixed and drawn, and how far off its ghost it is.

    pinned  the foot that is fixed: 0 left, 1 right
    aims    (2, 7) m and wxyz, where the ghost has its feet;  hold (7,): where the fixed one is held
    far     m, how far off the root is
    """

    needs_before_step = True

    def __init__(self, driver: Shadow, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, np.asarray(joints, np.int64)
        self.feet = build_feet(body.character)
        self._size = float(body.character.height)
        self.track = Track(driver.ghost, law=CRITICAL).build(body, self.joints, t)
        springs = Loose(driver.stiffness, driver.damping).build(body, self.joints, t)
        self.track.springs.stiffness[:], self.track.springs.damping[:] = springs.stiffness, springs.damping
        self._stiffen(body)
        self.pinned, self.aims, self.far = find_support(driver.ghost), np.zeros((2, 7)), 0.0
        self._wants, self._waited, self._body = False, 0.0, body
        self.hold = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def _stiffen(self, body: Body) -> None:
        """Have legs carry all of the body."""
        skeleton, springs = body.skeleton, self.track.springs
        legs = {skeleton.index(side + stem) for side in SIDES for stem in LEGS}
        body.update()
        height = max(float(body.c[1] - min(body.p[foot.joint, 1] for foot in self.feet)), 0.1)
        mass = float(body.tree.mass)
        k = self.driver.stiffness * mass * body.weight_per_mass * height
        d = 2.0 * self.driver.damping * np.sqrt(k * mass) * height * 0.5
        for row, joint in enumerate(self.joints.tolist()):
            if joint in legs:
                springs.stiffness[row] = max(springs.stiffness[row], k)
                springs.damping[row] = max(springs.damping[row], d)
        trunk = [skeleton.find_role(role) for role in ("spine", "chest", "upperChest")]
        for row, joint in enumerate(self.joints.tolist()):
            if joint in trunk:  # they bear the trunk on the legs, not the legs on the trunk
                springs.stiffness[row] = max(springs.stiffness[row], 0.5 * k)

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: at a start it is where its ghost is."""
        if starting:
            pose = self.driver.ghost.pose(t)
            body.state.root[:], body.state.q[0] = pose.root, pose.rotations[0]
            body.state.q[self.joints] = pose.rotations[self.joints]
            body.update()
        self.track.begin(body, t, starting)
        self._see(body, t)
        self._fix(body)

    def _fix(self, body: Body) -> None:
        """Hold the foot where it is."""
        foot = self.feet[self.pinned].joint
        self.hold[:3], self.hold[3:] = body.p[foot], body.world_turn(foot)

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`."""
        return BodyModel(pinned=(self.feet[self.pinned].joint,), bends_toes=True)

    def _slide(self, body: Body) -> None:
        """Move the foot that is fixed to where the ghost has it, slowly."""
        aim, hold, dt = self.aims[self.pinned], self.hold, body.dt
        hold[:3] += _limit(aim[:3] - hold[:3], _SLIDE * dt)
        turned = rotation.log(rotation.multiply(aim[3:], rotation.conjugate(hold[3:])))
        hold[3:] = rotation.normalize(rotation.multiply(rotation.exp(_limit(turned, _TURN * dt)), hold[3:]))
        body.move_pin(self.feet[self.pinned].joint, hold[:3], hold[3:])

    def before_step(self, body: Body, t: float) -> None:
        """See `Player.before_step`."""
        self.track.before_step(body, t)
        self._see(body, t)
        if self._wants_other(body):
            self._wants = True

    def _see(self, body: Body, t: float) -> None:
        """Where the ghost has its feet, and how far off the body is.

        A body that is held back while its ghost goes on stays on its feet: they are drawn to where the ghost would have
        them if it were no farther ahead than `_LEASH`.
        """
        pose = self.driver.ghost.pose(t)
        R, p = _place(body, pose)
        ahead = (pose.root - body.state.root) * [1.0, 0.0, 1.0]
        beyond = ahead - _limit(ahead, _LEASH * self._size)
        for side, foot in enumerate(self.feet):
            self.aims[side, :3], self.aims[side, 3:] = p[foot.joint] - beyond, rotation.from_matrix(R[foot.joint])
        self.far = float(np.linalg.norm(pose.root - body.state.root))

    def _wants_other(self, body: Body) -> bool:
        """Whether the other foot is to be fixed: the ghost stands on it, and the body can."""
        side = find_support(self.driver.ghost)
        return side != self.pinned and self.can_stand(side)

    def can_stand(self, side: int) -> bool:
        """Whether a foot is where the ghost has it: a ghost that waits asks before it stands on its other one."""
        if side == self.pinned:
            return True
        body, foot, aim = self._body, self.feet[side].joint, self.aims[side]
        body.update()  # what was found in the middle of the last step is not saved
        off = body.p[foot] - aim[:3]
        turned = rotation.log(rotation.multiply(aim[3:], rotation.conjugate(body.world_turn(foot))))
        # What it has waited for in vain it does with less of: the next step is made from there.
        patience = 1.0 + self._waited / _PATIENCE
        is_there = bool(
            np.linalg.norm(off) < min(_NEAR * patience, _FAR) and np.linalg.norm(turned) < min(_FLAT * patience, _ASKEW)
        )
        self._waited += 0.0 if is_there else body.dt
        return is_there

    def handle_request(self, body: Body, t: float) -> bool:
        """See `Player.handle_request`: stand on the other foot."""
        if not self._wants:
            return False
        self.pinned, self._wants, self._waited = 1 - self.pinned, False, 0.0
        self._fix(body)
        return True

    def write(self, body: Body, t: float) -> None:
        """See `Player.write`."""
        self.track.write(body, t)
        side = 1 - self.pinned
        foot, aim, scale = self.feet[side].joint, self.aims[side], float(body.tree.mass) / 75.0
        force = _PULL * scale * (aim[:3] - body.p[foot]) - _SLOW * scale * body.v[foot]
        turned = rotation.log(rotation.multiply(aim[3:], rotation.conjugate(body.world_turn(foot))))
        twist = _TWIST * scale * turned - _TWISTED * scale * body.om[foot]
        body.wrench[foot, :3] += _limit(twist, _HARDEST * scale)
        body.wrench[foot, 3:] += _limit(force, _MOST * scale)
        if self._wants:
            body.request()
        self._slide(body)

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        arrays = {"aims": self.aims.copy(), "hold": self.hold.copy()}
        return {"track": self.track.save(), "pinned": self.pinned, "far": self.far, "waited": self._waited, **arrays}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        self.track.restore(saved["track"])
        self.pinned, self.far = int(saved["pinned"]), float(saved["far"])
        self.hold[:] = saved["hold"]
        self.aims[:], self._wants, self._waited = saved["aims"], False, float(saved["waited"])


def _limit(vector: np.ndarray, most: float) -> np.ndarray:
    """A vector that is no longer than `most`."""
    return np.asarray(vector * min(1.0, most / max(float(np.linalg.norm(vector)), 1e-300)))
