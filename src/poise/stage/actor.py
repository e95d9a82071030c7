"""A character on a stage, with its drivers, which can be changed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.body.shape import Shape
from poise.body.strength import find_strength
from poise.drivers.anchored import Anchored, AnchoredPlayer
from poise.drivers.balance import BalancePlayer
from poise.drivers.driver import MOTION, Claim, Driver, MotionPlayer, Player, TorquePlayer
from poise.drivers.kinematic import Kinematic, KinematicPlayer
from poise.drivers.loose import FIRM, Loose
from poise.drivers.rig import Load, Rig, load_tree
from poise.drivers.root import Attached, Free
from poise.dynamics.tree import build_tree
from poise.engines.scene import BALL, FREE, GIVEN, Joint, SceneBody
from poise.errors import InputError, check_most, unknown_name
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.motion.own.figure import Figure
from poise.motion.own.tracks import build_clip, stand
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.partition import Partition, build_partition
from poise.stage.stance import plant_feet
from poise.world.footing import build_footing

if TYPE_CHECKING:
    from poise.stage.stage import Stage

ROOT = "root"
MOST_PHYSICAL = 1000  # joints: an engine takes memory by their square
MOST_PUSHES = 100_000  # at once, of one actor
# kg: what carries less than this moves nothing, and no engine can integrate it: it is held.
_FEATHER = 1e-4
_FIRST = 20  # steps in which a body that was put down settles; its efforts are not told
# The last step's share in the connectors' acceleration that the `paper` coupling goes by; the rest is of those before.
# With 1, as published, a part that weighs r times its connector answers an acceleration by -r times it a step later,
# and explodes where r > 1: both arms of a conductor do, at any step. With a share b, r may be up to 2 / b - 1.
LATEST = 0.4


@dataclass(eq=False)
class Assignment:
    """One driver on the joints that it moves and holds."""

    part: str
    driver: Driver
    claim: Claim
    player: Player | None = None


@dataclass(frozen=True)
class Push:
    """A force on a body for a while.

    joint     index of the joint whose body is pushed, at its centre of mass
    force     (3,) N, world axes
    start, seconds   s on the stage's clock
    """

    joint: int
    force: tuple[float, float, float]
    start: float
    seconds: float


class Actor:
    """Made by `Stage.add`. What a user needs: `drive`, `change`, `load`, `drop`, `push`, `listen`."""

    def __init__(self, stage: Stage, character: Character, name: str, pose: Pose | None, loads: Iterable[Load]):
        self.stage, self.character, self.name = stage, character, name
        self.loads = list(loads)
        self.rig = Rig(character, self.loads)
        self.assignments: list[Assignment] = []
        self.listeners: list[Callable[[Any], None]] = []
        self.pushes: list[Push] = []
        self._listed, self._push_rows = list[Push](), np.zeros((0, 6))
        self.fallen: float | None = None
        self.started = False
        self.is_let_go = False  # whether its balance gave up in the last step
        self.rest: TorquePlayer | None = None
        self._undriven: list[int] = []
        self._rest_aim: dict[int, np.ndarray] = {}
        self._strained = False
        start = _stand(character) if pose is None else pose
        if start.root.shape != (3,) or start.rotations.shape != (len(character.skeleton), 4):
            raise InputError(
                f"the pose has {start.rotations.shape[0]} rotations; '{name}' has {len(character.skeleton)} joints."
            )
        self.rig.state.root[:], self.rig.state.q[:] = start.root, start.rotations
        self.partition: Partition | None = None
        self.joints: tuple[Joint, ...] = ()
        self.seat = (np.zeros(3), rotation.identity())
        self.start_height = 0.0
        self._make_work()

    def _make_work(self) -> None:
        j, room = len(self.rig.tree), self.rig.arena
        self.given, self.touched, self.accelerating = (np.ones(j, bool) for _ in range(3))
        self.work, self.coupling = room.zeros(3, j, 3), room.zeros(j, 6)
        self.w_before, self.v_before = room.zeros(j, 3), room.zeros(3)
        self.al, self.acc = np.zeros((j, 3)), np.zeros((j, 3))
        self.connectors: list[int] = []
        self.strength = find_strength(self.character)

    def _reset_work(self) -> None:
        for mask in (self.given, self.touched, self.accelerating):
            mask[:] = True
        for array in (self.work, self.coupling, self.al, self.acc):
            array[:] = 0.0
        self.w_before[:], self.v_before[:] = self.rig.state.w, self.rig.state.v

    # What a user does.

    def drive(self, part: str | Iterable[str], driver: Driver) -> None:
        """Put a driver on a part: `legs`, `arms`, `trunk`, ..., `root`, or a list of joints. At any time.

        Pose and velocity go on without a jump. Joints that no driver moves hold their pose.
        """
        name = part if isinstance(part, str) else ", ".join(part)
        joints = [0] if part == ROOT else part_joints(self.character.skeleton, part)
        if isinstance(driver, (Free, Attached, Anchored)) != (part == ROOT) and not isinstance(driver, Kinematic):
            raise InputError(f"'{name}' cannot be driven by {type(driver).__name__}: the root is Free, Attached or "
                             "Kinematic, or Anchored; only the root is Free or Attached, or Anchored.")  # fmt: skip
        claim = driver.claim(self.character, joints, name)
        taken = {*claim.moved, *claim.held}
        kept = []
        for old in self.assignments:
            if not taken & {*old.claim.moved, *old.claim.held}:
                kept.append(old)
                continue
            left = [i for i in (*old.claim.moved, *old.claim.held) if i not in taken]
            try:
                again = old.driver.claim(self.character, left, old.part) if left else None
            except InputError:
                again = None  # what is left is not enough for that driver
            if again is not None:
                kept.append(Assignment(old.part, old.driver, again))
        before = self.assignments
        with self.stage.hold():
            self.assignments = sorted([*kept, Assignment(name, driver, claim)], key=lambda a: a.driver.after_others)
            try:
                self._divide()
            except InputError:
                self.assignments = before
                raise
            if self.stage.is_built:
                self.tell("switched", f"{name} by {type(driver).__name__}")
            self.stage.rebuild(self)

    def change(self, part: str | None = None, **parameters: Any) -> None:
        """Change parameters of a gesture while it runs: `change(bpm=140)`, `change("arms", size=1.5)`."""
        players = [
            a.player
            for a in self.assignments
            if isinstance(a.player, (KinematicPlayer, AnchoredPlayer)) and part in (None, a.part)
        ]
        if not self.stage.is_built:
            raise InputError("parameters are changed while a stage runs; before that, give them to the gesture.")
        if not players:
            known = [a.part for a in self.assignments if isinstance(a.player, (KinematicPlayer, AnchoredPlayer))]
            raise unknown_name("part", str(part), known, f"what '{self.name}' plays")
        for player in players:  # all or none
            player.check_change(**parameters)
        with self.stage.hold():
            for player in players:
                player.change(self.stage.time, **parameters)
            self.stage.refresh(self)

    def load(self, load: Load) -> None:
        """Put something heavy on a joint."""
        self.character.skeleton.index(load.joint)
        self._set_loads([*self.loads, load])

    def drop(self, joint: str) -> None:
        """Let go of all that a joint holds."""
        index = self.character.skeleton.index(joint)
        kept = [load for load in self.loads if self.character.skeleton.index(load.joint) != index]
        if len(kept) == len(self.loads):
            raise InputError(f"'{joint}' of '{self.name}' holds nothing that it could drop.")
        self._set_loads(kept)
        self.tell("dropped", f"what {joint} held")

    def push(self, joint: str, force: Iterable[float], seconds: float, start: float | None = None) -> None:
        """Push a body at its centre of mass with a force (N, world axes) for some seconds, from now or from `start`.

        A push that has ended is forgotten.
        """
        try:
            x, y, z = (float(a) for a in force)
        except (TypeError, ValueError):
            raise InputError(f"a push is three newtons (world axes); given {force!r}.") from None
        at = self.stage.time if start is None else start
        if not (np.isfinite([x, y, z, seconds, at]).all() and seconds > 0.0):
            raise InputError(f"a push takes finite newtons for more than 0 s; given {[x, y, z]} for {seconds:g} s.")
        push = Push(self.character.skeleton.index(joint), (x, y, z), at, seconds)
        if len(self.pushes) >= MOST_PUSHES:
            raise InputError(
                f"'{self.name}' has {len(self.pushes)} pushes before it already, as many as can be planned at once. "
                "Let some of them end first."
            )
        with self.stage.hold():
            self.pushes.append(push)
            self.stage.expect(push.start + push.seconds, self)
            self.stage.refresh(self)

    def drop_pushes(self, t: float) -> None:
        """Forget the pushes that have ended by time t."""
        self.pushes[:] = [push for push in self.pushes if t < push.start + push.seconds]

    def list_pushes(self) -> np.ndarray:
        """(n, 6) as `coupling_kernels.add_pushes` reads them, sorted by their start."""
        if self._listed != self.pushes:
            self._listed = list(self.pushes)
            ordered = sorted(self.pushes, key=lambda push: push.start)
            rows = [[push.joint, *push.force, push.start, push.seconds] for push in ordered]
            self._push_rows = np.array(rows, float).reshape(-1, 6)
        return self._push_rows

    def listen(self, listener: Callable[[Any], None]) -> None:
        """Have a function called with every event of this actor."""
        self.listeners.append(listener)

    def tell(self, kind: str, message: str = "") -> None:
        """Something happened."""
        self.stage.record_event(self, kind, message)

    @property
    def balance(self) -> BalancePlayer | None:
        """The player of its balance, where it has one."""
        return next((a.player for a in self.assignments if isinstance(a.player, BalancePlayer)), None)

    # Who moves what.

    @property
    def carrier(self) -> str | None:
        """The prop that it rides on."""
        return next((a.driver.prop for a in self.assignments if isinstance(a.driver, Attached)), None)

    def sit(self, position: np.ndarray, turn: np.ndarray) -> None:
        """Remember where the root is in the frame of the prop that carries it, which is now here."""
        state, back = self.rig.state, rotation.conjugate(turn)
        self.seat = (rotation.rotate(back, state.root - position), rotation.multiply(back, state.q[0]))

    def ride(self, position: np.ndarray, turn: np.ndarray, velocity: np.ndarray, spin: np.ndarray) -> None:
        """Put the root where the prop carries it: place, orientation and both velocities of the prop in the world."""
        state, arm = self.rig.state, rotation.rotate(turn, self.seat[0])
        state.root[:], state.q[0] = position + arm, rotation.multiply(turn, self.seat[1])
        state.v[:] = velocity + np.cross(spin, arm)
        state.w[0] = rotation.rotate(rotation.conjugate(state.q[0]), spin)

    def _set_loads(self, loads: list[Load]) -> None:
        tree = load_tree(build_tree(self.character), self.character, loads)
        with self.stage.hold():
            self.loads, self.rig.tree = loads, tree
            if self.balance is not None:
                self.balance.weigh(self.rig)
            self.stage.rebuild(self)

    def _divide(self) -> None:
        """Who moves each joint; raises where the split cannot be."""
        skeleton, tree = self.character.skeleton, self.rig.tree
        moved = {i: a for a in self.assignments for i in a.claim.moved}
        held = {i for a in self.assignments for i in a.claim.held}
        free = any(a.claim.frees_root for a in self.assignments) and 0 not in moved
        outboard = tree.masses.copy()
        for i in range(len(tree) - 1, 0, -1):
            outboard[tree.parents[i]] += outboard[i]
        physical: set[int] = set()
        loose: list[int] = []
        for i in range(len(skeleton)):
            parent = int(skeleton.parents[i])
            if i in moved:
                if moved[i].driver.level != MOTION:
                    physical.add(i)
            elif i == 0:
                if free:
                    physical.add(i)
            elif i not in held and parent in physical and parent not in held and outboard[i] > _FEATHER:
                physical.add(i)
                loose.append(i)
        check_most(f"{len(physical)} joints of '{self.name}' would be physical", len(physical), MOST_PHYSICAL,
                   "Drive fewer by physics, and the rest by a motion.")  # fmt: skip
        for a in self.assignments:
            a.driver.check_given(skeleton, sorted(physical))
        self.partition = build_partition(skeleton, sorted(physical))
        self._undriven = loose

    def build(self, t: float, starting: bool) -> None:
        """Players for all that is driven, and what the engine is to move, at the present state."""
        self._divide()
        rig, stage = self.rig, self.stage
        rig.dt, rig.gravity = stage.dt, np.array(stage.gravity)
        rig.ground = stage.ground.height if stage.ground is not None else -np.inf
        rig.friction = stage.ground.friction if stage.ground is not None else 0.0
        if not starting:
            rig.turning[:], rig.handed[:] = (rig.state.w - self.w_before) / rig.dt, self.measure()[0]
        for a in self.assignments:
            if a.player is None and a.driver.level == MOTION:
                a.player = a.driver.play(rig, np.array(a.claim.moved), t)
                if isinstance(a.player, MotionPlayer):
                    if starting:
                        a.player.pose(rig, t)
                    else:
                        a.player.meet(rig, t)
        stands = any(a.claim.frees_root for a in self.assignments)
        if stands and stage.ground is None:
            raise InputError("Balance stands on the ground, and this stage has none. Give it one: Stage(ground=...).")
        if starting and stands:
            plant_feet(rig)
        rig.update()
        for a in self.assignments:
            if a.player is None:
                a.player = a.driver.play(rig, np.array(a.claim.moved), t)
        self._hold(t)
        if starting:
            self.start_height = self._hip_height() - (rig.ground if np.isfinite(rig.ground) else 0.0)
        rig.turning[:] = rig.handed[:] = 0.0  # the change of hands is over
        self._settle_masks()

    def _hold(self, t: float) -> None:
        """A firm spring on each joint that hangs from a physical body and that nobody drives."""
        self.rest = None
        if self._undriven:
            held = Loose(stiffness=FIRM, damping=1.0).play(self.rig, np.array(self._undriven), t)
            # What was held before is held where it was held, not where it is now.
            for k, joint in enumerate(self._undriven):
                if joint in self._rest_aim:
                    held.aim[k], held.lead[k] = self._rest_aim[joint], 0.0
            self._rest_aim = {joint: held.aim[k] for k, joint in enumerate(self._undriven)}
            self.rest = held

    def save_rest(self) -> Any:
        """What holds the joints that nobody drives, the velocities before the last step, and given accelerations."""
        return self.rest, dict(self._rest_aim), self.w_before.copy(), self.v_before.copy(), self.rig.dw.copy()

    def restore_rest(self, saved: Any) -> None:
        """Back to what was saved."""
        self.rest, self._rest_aim = saved[0], dict(saved[1])
        self.w_before[:], self.v_before[:], self.rig.dw[:] = saved[2], saved[3], saved[4]

    def _settle_masks(self) -> None:
        partition, parents = self.partition, self.rig.tree.parents
        if partition is None:
            raise InputError(f"actor '{self.name}' has not been divided into parts yet.")
        self._reset_work()
        self.given[list(partition.physical)] = False
        # What accelerates by itself: a root that rides on a prop only goes along with it.
        self.accelerating[:] = self.given
        self.accelerating[0] &= self.carrier is None
        for i in range(len(parents)):
            self.touched[i] = self.accelerating[i] or (parents[i] >= 0 and self.touched[parents[i]])
        self.connectors = sorted({part.connector for part in partition.parts}) or ([0] if self.carrier else [])
        kinds: dict[int, Joint] = {}
        for a in self.assignments:
            if isinstance(a.player, TorquePlayer):
                kinds.update(a.player.kinds(self.rig))
        free_root = bool(not self.given[0])
        self.joints = tuple(
            Joint(FREE) if i == 0 and free_root else Joint(GIVEN) if self.given[i] else kinds.get(i, Joint(BALL))
            for i in range(len(parents))
        )
        # A joint that was given keeps no acceleration of its own once it is physical.
        self.rig.dw[~self.given] = 0.0

    def describe(self) -> SceneBody:
        """What the engine has to build."""
        state = self.rig.state
        pinned = tuple(i for a in self.assignments for i in a.claim.pinned)
        root, q = state.root.copy(), state.q.copy()
        if self.carrier is not None:
            root, q[0] = self.seat
        return SceneBody(
            self.name, self.rig.tree, self.joints, root, q, state.v.copy(), state.w.copy(),
            self._shapes(), pinned, self.carrier, self.stage.couple == "exact",
        )  # fmt: skip

    def _shapes(self) -> tuple[tuple[int, Shape], ...]:
        if not self.given.all():
            try:
                left, right = build_footing(self.character.skeleton)
            except InputError:
                return ()
            index = self.character.skeleton.index
            return ((index("leftFoot"), left), (index("rightFoot"), right), *self.stage.body_shapes(self))
        return ()

    @property
    def players(self) -> list[Player]:
        """All players, the one that holds what nobody drives last."""
        found = [a.player for a in self.assignments if a.player is not None]
        return [*found, self.rest] if self.rest is not None else found

    # The step, one method a line of it.

    def give(self, t: float) -> None:
        """1. What is given, at time t."""
        rig = self.rig
        for a in self.assignments:
            if isinstance(a.player, MotionPlayer):
                a.player.give(rig, t)
        rig.update()

    def couple(self, t: float) -> None:
        """2. What the kinematic parts put on their connectors, and pushes."""
        from poise.stage import coupling_kernels as kernels

        rig, x = self.rig, self.rig.tree
        rig.wrench[:] = 0.0
        if self.stage.couple == "exact":
            kernels.couple_exact(
                x.parents, x.masses, x.centers, x.inertias, self.accelerating, self.touched, rig.R, rig.p, rig.state.w,
                rig.dw, rig.a, rig.om, self.stage.gain, self.work, rig.wrench,
            )  # fmt: skip
        else:
            kernels.couple_paper(
                x.parents, x.masses, x.centers, x.inertias, self.given, rig.R, rig.p, rig.state.w, rig.dw, rig.om,
                self.al, self.acc, rig.gravity, self.stage.gain, self.stage.torque_only, rig.f, rig.n, rig.wrench,
            )  # fmt: skip
        kernels.hand_to_connectors(x.parents, self.accelerating, rig.p, rig.wrench)
        self.coupling[:] = rig.wrench
        if self.pushes:
            kernels.add_pushes(self.list_pushes(), t, rig.R, x.centers, rig.wrench)
            kernels.hand_to_connectors(x.parents, self.accelerating, rig.p, rig.wrench)

    def act(self, t: float) -> None:
        """3. Torques of the physical drivers."""
        rig = self.rig
        rig.torque[:] = 0.0
        rig.damping[:] = 0.0
        self.w_before[:], self.v_before[:] = rig.state.w, rig.state.v
        for player in self.players:
            if isinstance(player, TorquePlayer):
                player.act(rig, t)

    def settle(self) -> None:
        """5. After the engine's step: a balance that was lost, and accelerations for the paper's coupling."""
        balance = self.balance
        if balance is not None and balance.gone is None and balance.lost_at >= 0.0:
            self.stage.check_finite(self)
            balance.give_up(self.rig, balance.lost_at)
            self.is_let_go = True
        if self.stage.couple == "paper":
            self._differentiate()

    def follow(self, t: float) -> None:
        """Falls, and what drivers tell."""
        rig = self.rig
        if self.fallen is None and np.isfinite(rig.ground) and not self.given[0]:
            height = self._hip_height() - rig.ground
            up, least = self._uprightness()
            # A deep bow is not a fall, as long as the hips stay up.
            if height < least or (up < 0.4 and height < 1.4 * least):
                self.fallen = t
                why = "its hips sank" if height < least else "it tipped over"
                self.tell("fell", f"{why}: hips at {height:.2f} m")
        for player in self.players:
            if isinstance(player, TorquePlayer):
                for news in player.events():
                    self.tell(news.replace(" ", "-"), news)

    def _hip_height(self) -> float:
        """m, of the hips, which a root may be far below; as of the last step's beginning if they are not the root."""
        hips = self.character.skeleton.find_role("hips") or 0
        return float(self.rig.p[hips, 1] if hips else self.rig.state.root[1])

    def _uprightness(self) -> tuple[float, float]:
        """Cosine of the hips' tilt, and the root's least height (m) of a body that stands.

        Both count from what a balance aims at: one that follows a crouch or a bow has not fallen.
        """
        q, balance = self.rig.state.q[0], self.balance
        if balance is None or balance.way is None:
            return 1.0 - 2.0 * float(q[1] ** 2 + q[3] ** 2), 0.6 * self.start_height
        t = self.stage.time - balance.driver.follow_start
        up = balance.way.wanted_up(t) @ rotation.rotate(q, balance.way.own_up)
        return float(up), 0.6 * (self.start_height + min(balance.way.sinking(t), 0.0))

    def _differentiate(self) -> None:
        """World accelerations of the physical bodies over the last steps, which the paper's coupling asks for."""
        rig, dt = self.rig, self.stage.dt
        om, v = rig.om.copy(), rig.v.copy()
        rig.update()
        with np.errstate(over="ignore"):  # where it explodes, the stage says so
            self.al += LATEST * ((rig.om - om) / dt - self.al)
            self.acc += LATEST * ((rig.v - v) / dt - self.acc)

    def measure(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque (J, 3) N m at each joint in body axes, and effort (J,): its share of the joint's strength.

        Given joints: by inverse dynamics, from the connectors' accelerations over the last step. Others: what their
        drivers gave.
        """
        from poise.dynamics import instant

        rig, x = self.rig, self.rig.tree
        turning, moving = (rig.state.w - self.w_before) / rig.dt, (rig.state.v - self.v_before) / rig.dt
        dw = np.where(self.given[:, None], rig.dw, turning)
        al, acc, f, n = (np.zeros_like(rig.p) for _ in range(4))
        instant.accelerate_bodies(x.parents, rig.R, rig.p, rig.state.w, dw, rig.om, moving - rig.gravity, al, acc)
        instant.net_forces(x.masses, x.centers, x.inertias, rig.R, rig.om, al, acc, f, n)
        instant.gather_inward(x.parents, rig.p, f, n)
        world = np.where(self.given[:, None], n, rig.torque)
        torque = np.einsum("jab,ja->jb", rig.R, world)
        effort = np.linalg.norm(torque, axis=-1) / self.strength
        self._tell_effort(np.where(self.given, effort, 0.0))
        return torque, effort

    def _tell_effort(self, effort: np.ndarray) -> None:
        """Tell once when a kinematic joint is asked for more than its strength, and again after it has rested."""
        hardest = int(np.argmax(effort))
        if effort[hardest] > 1.0 and not self._strained and self.stage.steps > _FIRST:
            label = self.character.skeleton.labels[hardest]
            self.tell("effort", f"{label} is asked for {effort[hardest]:.2f} of its strength")
        self._strained = bool(effort[hardest] > (0.9 if self._strained else 1.0))

    def show(self, t: float) -> None:
        """Put what is given where it is at time t, in the rig's state."""
        for a in self.assignments:
            if isinstance(a.player, MotionPlayer):
                a.player.give(self.rig, t)
        self.rig.update()


def _stand(character: Character) -> Pose:
    """A relaxed stand for humans; the rest pose of anything else."""
    try:
        figure = Figure(character.skeleton)
        clip: Clip = build_clip(figure, stand(figure, np.zeros(1)), "stand")
    except InputError:
        skeleton = character.skeleton
        q = np.zeros((len(skeleton), 4))
        q[:, 0] = 1.0
        return Pose(np.array(skeleton.offsets[0]), q)
    return Pose(clip.root[0].copy(), clip.rotations[0].copy())
