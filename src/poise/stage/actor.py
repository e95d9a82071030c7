"""A character on a stage, with its drivers, which can be changed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.body.shape import Shape
from poise.body.strength import find_strength
from poise.drivers.driver import ACCELERATION, MOTION, Claim, Driver, MotionPlayer, Player
from poise.drivers.holding import hold_pose
from poise.drivers.rig import Rig, load_tree
from poise.drivers.root import check_part
from poise.dynamics.tree import build_tree
from poise.engines.scene import BALL, FREE, GIVEN, Joint, SceneBody
from poise.errors import InputError, check_most, unknown_name
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.motion.own.figure import Figure
from poise.motion.own.tracks import build_clip, stand
from poise.spatial.law import Block, Law
from poise.stage.asking import ROOT, find_driven, take_driver, take_load, take_loads
from poise.stage.partition import Partition, build_partition
from poise.stage.stance import plant_feet, put_on_floor
from poise.world.bulk import build_bulk
from poise.world.floor import Floor
from poise.world.footing import build_footing
from poise.world.load import Load
from poise.world.push import Push

if TYPE_CHECKING:
    from poise.stage.stage import Stage

MOST_PHYSICAL = 1000  # joints: an engine takes memory by their square
MOST_PUSHES = 100_000  # at once, of one actor
# kg: what carries less than this moves nothing, and no engine can integrate it: it is held.
_FEATHER = 1e-4
_FIRST = 20  # steps in which a body that was put down settles; its efforts are not told


@dataclass(eq=False)
class Assignment:
    """One driver on the joints that it moves and holds."""

    part: str
    driver: Driver
    claim: Claim
    player: Player | None = None


class Actor:
    """Made by `Stage.add`. What a user needs: `drive`, `change`, `load`, `drop`, `push`, `listen`."""

    def __init__(self, stage: Stage, character: Character, name: str, pose: Pose | None, loads: Iterable[Load]):
        self.stage, self.character, self.name = stage, character, name
        self.loads = take_loads(loads)
        self.rig = Rig(character, self.loads)
        self.assignments: list[Assignment] = []
        self.listeners: list[Callable[[Any], None]] = []
        self.pushes: list[Push] = []
        self.fallen: float | None = None
        self.started = False
        self.rest: Player | None = None
        self._undriven: list[int] = []
        self._rest_aim: dict[int, np.ndarray] = {}
        self._strained = False
        start = _stand(character) if pose is None else pose
        self._is_posed = pose is not None
        if start.root.shape != (3,) or start.rotations.shape != (len(character.skeleton), 4):
            raise InputError(
                f"the pose has {start.rotations.shape[0]} rotations; '{name}' has {len(character.skeleton)} joints."
            )
        self.rig.state.root[:], self.rig.state.q[:] = start.root, start.rotations
        self.partition: Partition | None = None
        self.joints: tuple[Joint, ...] = ()
        self.start_height = 0.0
        self._make_work()

    def _make_work(self) -> None:
        from poise.stage.step_law import COUPLING

        j, room = len(self.rig.tree), self.rig.arena
        self.given, self.touched, self.accelerating = (room.zeros(j, dtype=bool) for _ in range(3))
        self.work = room.zeros(3, j, 3)
        self.al, self.acc, om, vel = (np.zeros((j, 3)) for _ in range(4))
        self.connectors: list[int] = []
        self.strength = find_strength(self.character)
        self.coupling_block = Block(
            COUPLING, room, given=self.given, touched=self.touched, accelerating=self.accelerating, work=self.work,
            al=self.al, acc=self.acc, om_before=om, vel_before=vel, gain=self.stage.gain,
            torque_only=self.stage.torque_only,
        )  # fmt: skip

    def _reset_work(self) -> None:
        for mask in (self.given, self.touched, self.accelerating):
            mask[:] = True
        for array in (self.work, self.rig.coupling, self.al, self.acc):
            array[:] = 0.0
        self.rig.w_before[:], self.rig.v_before[:] = self.rig.state.w, self.rig.state.v

    # What a user does.

    def drive(self, part: str | Iterable[str], driver: Driver) -> None:
        """Put a driver on a part: `legs`, `arms`, `trunk`, ..., `body`, `root`, or a list of joints. At any time.

        Pose and velocity go on without a jump. Joints that no driver moves hold their pose.
        """
        driver = take_driver(driver, part)
        joints = find_driven(self.character.skeleton, part, driver)
        name = part if isinstance(part, str) else ", ".join(part)
        check_part(driver, name, part == ROOT)
        self._check_level(driver)
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
            self.assignments = [*kept, Assignment(name, driver, claim)]
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
        playing = {a.part: a.player for a in self.assignments if a.player is not None and a.player.is_changeable}
        players = [player for name, player in playing.items() if part in (None, name)]
        if not self.stage.is_built:
            raise InputError("parameters are changed while a stage runs; before that, give them to the gesture.")
        if not players:
            raise unknown_name("part", str(part), playing, f"what '{self.name}' plays")
        for player in players:  # all or none
            player.check_change(**parameters)
        with self.stage.hold():
            for player in players:
                player.change(self.stage.time, **parameters)
            self.stage.refresh(self)

    def load(self, load: Load) -> None:
        """Put something heavy on a joint."""
        load = take_load(load)
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
        push = Push(joint, force, seconds, self.stage.time if start is None else start)  # type: ignore[arg-type]
        self.character.skeleton.index(joint)
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
        ordered = sorted(self.pushes, key=lambda push: push.start)
        at = self.character.skeleton.index
        rows = [[at(push.joint), *push.force, push.start, push.seconds] for push in ordered]
        return np.array(rows, float).reshape(-1, 6)

    def listen(self, listener: Callable[[Any], None]) -> None:
        """Have a function called with every event of this actor."""
        self.listeners.append(listener)

    def tell(self, kind: str, message: str = "") -> None:
        """Something happened."""
        self.stage.record_event(self, kind, message)

    def player(self, part: str) -> Player:
        """What plays on a part, as it was named to `drive`, once the stage is built."""
        found = {a.part: a.player for a in self.assignments if a.player is not None}
        if part not in found:
            raise unknown_name("part", part, found, f"what '{self.name}' plays")
        return found[part]

    # Who moves what.

    def _check_level(self, driver: Driver) -> None:
        if driver.level == ACCELERATION and not self.stage.engine.abilities.accelerations:
            raise InputError(
                f"{type(driver).__name__} gives accelerations, which the engine '{self.stage.engine.name}' does not "
                "take. Use an engine that does, or a driver that gives torques."
            )

    @property
    def carrier(self) -> str | None:
        """The prop that it rides on."""
        return next((a.driver.carrier for a in self.assignments if a.driver.carrier is not None), None)

    def _set_loads(self, loads: list[Load]) -> None:
        tree = load_tree(build_tree(self.character), self.character, loads)
        with self.stage.hold():
            self.loads = loads
            self.rig.set_tree(tree)
            for player in self.players:
                player.weigh(self.rig)
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
        rig.floor = Floor(stage.ground, stage.props.values())
        rig.floor.move(t)
        rig.friction = stage.ground.friction if stage.ground is not None else 0.0
        if starting and not self._is_posed:
            put_on_floor(rig)
            self._is_posed = True
        rig.block["gravity"] = stage.gravity
        rig.block["called"] = 0
        if not starting:
            rig.turning[:], rig.handed[:] = (rig.state.w - rig.w_before) / rig.dt, self.measure()[0]
        for a in sorted(self.assignments, key=lambda a: a.driver.after_others):
            if a.player is None and a.driver.level == MOTION:
                self._begin(a, t, starting)
        stands = [type(a.driver).__name__ for a in self.assignments if a.claim.stands]
        if stands and stage.ground is None:
            raise InputError(
                f"{stands[0]} stands on the ground, and this stage has none. Give it one: Stage(ground=...)."
            )
        if starting and stands:
            plant_feet(rig)
        rig.update()
        for a in self.assignments:
            if a.player is None:
                self._begin(a, t, starting)
        self._hold(t)
        if starting:
            self.start_height = self._hips_over_floor()
        rig.turning[:] = rig.handed[:] = 0.0  # the change of hands is over
        self._settle_masks()

    def _begin(self, a: Assignment, t: float, starting: bool) -> None:
        a.player = a.driver.play(self.rig, np.array(a.claim.moved), t)
        a.player.begin(self.rig, t, starting)

    def _hold(self, t: float) -> None:
        """What holds the joints that hang from a physical body and that nobody drives."""
        self.rest = None
        if self._undriven:
            held = hold_pose(self.rig, self._undriven, t, self._rest_aim)
            self._rest_aim = {joint: held.aim[k] for k, joint in enumerate(self._undriven)}
            self.rest = held

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
            if a.player is not None:
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
        root, q = state.root.copy(), state.q.copy()
        for player in self.players:
            if player.carrier is not None:
                root, q[0] = player.seat
        pose = {"root": root, "rotations": q, "velocity": state.v.copy(), "angular_velocity": state.w.copy()}
        soles_only = any(player.touches_with_soles_only for player in self.players) and not self.stage.props
        return self.describe_at(self.joints, pose, not soles_only)

    def describe_at(self, joints: tuple[Joint, ...], pose: dict[str, np.ndarray], is_whole: bool) -> SceneBody:
        """What the engine had to build at a pose; is_whole: whether all of it touches things, or only its soles."""
        return SceneBody(
            self.name, self.rig.tree, joints, **pose, shapes=self._shapes(is_whole),
            pinned=tuple(i for a in self.assignments for i in a.claim.pinned), carrier=self.carrier,
            is_locked=self.stage.couple == "exact",
        )  # fmt: skip

    def _shapes(self, is_whole: bool) -> tuple[tuple[int, Shape], ...]:
        """What of it touches things: its soles, and the rest of it or not.

        While a body stands on them and there is only the ground, the engine's step is a fifth quicker without the rest.
        """
        if self.given.all():
            return ()
        skeleton = self.character.skeleton
        try:
            left, right = build_footing(skeleton)
        except InputError:
            return ()
        feet = skeleton.index("leftFoot"), skeleton.index("rightFoot")
        soles = ((feet[0], left), (feet[1], right))
        if not is_whole:
            return soles
        below = {i for foot in feet for i in skeleton.descendants(foot)}
        return (*soles, *((i, shape) for i, shape in build_bulk(self.character).items() if i not in below))

    @property
    def players(self) -> list[Player]:
        """All players, the one that holds what nobody drives last."""
        found = [a.player for a in self.assignments if a.player is not None]
        return [*found, self.rest] if self.rest is not None else found

    def in_order(self) -> list[Player]:
        """All players, those last whose motion depends on the others'."""
        return sorted(self.players, key=lambda player: player.after_others)

    def find_coupling(self) -> Law:
        """The law that couples what is given to what is physical; its block is up to date."""
        from poise.stage import step_law

        self.coupling_block.set(gain=self.stage.gain, pushes=self.list_pushes(), push_count=len(self.pushes))
        return step_law.couple_exactly if self.stage.couple == "exact" else step_law.couple_as_published

    def answer(self, t: float) -> bool:
        """Somebody called: whether the body is to be built anew."""
        self.rig.block["called"] = 0
        answers = [player.answer(self.rig, t) for player in self.players]  # everybody is asked
        return any(answers)

    def follow(self, t: float) -> None:
        """Falls, and what drivers tell."""
        rig = self.rig
        if self.fallen is None and rig.floor.ground is not None and not self.given[0]:
            height = self._hips_over_floor()
            up, least = self._uprightness(t)
            # A deep bow is not a fall, as long as the hips stay up.
            if height < least or (up < 0.4 and height < 1.4 * least):
                self.fallen = t
                why = "its hips sank" if height < least else "it tipped over"
                self.tell("fell", f"{why}: hips at {height:.2f} m")
        for player in self.players:
            for news in player.events():
                self.tell(news.replace(" ", "-"), news)

    def _hip_height(self) -> float:
        """m, of the hips, which a root may be far below; as of the last step's beginning if they are not the root."""
        hips = self.character.skeleton.find_role("hips") or 0
        return float(self.rig.p[hips, 1] if hips else self.rig.state.root[1])

    def _hips_over_floor(self) -> float:
        """m, of the hips over what is under them; over 0 where nothing is."""
        hips, rig = self._hip_height(), self.rig
        rig.floor.move(self.stage.time)
        floor = rig.floor.find(rig.state.root[0], rig.state.root[2], hips)[0]
        return hips - (floor if np.isfinite(floor) else 0.0)

    def _uprightness(self, t: float) -> tuple[float, float]:
        """Cosine of the hips' tilt, and the root's least height (m) of a body that stands.

        Both count from what its players aim at: one that follows a crouch or a bow has not fallen.
        """
        found = (player.find_bearing(self.rig, t) for player in self.players)
        bearing = next((each for each in found if each is not None), None)
        if bearing is None:
            q = self.rig.state.q[0]
            return 1.0 - 2.0 * float(q[1] ** 2 + q[3] ** 2), 0.6 * self.start_height
        return bearing.upright, 0.6 * (self.start_height + bearing.sunk)

    def measure(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque (J, 3) N m at each joint in body axes, and effort (J,): its share of the joint's strength.

        Given joints: by inverse dynamics, from the connectors' accelerations over the last step. Others: what their
        drivers gave.
        """
        from poise.stage import measure_kernels as kernels

        rig, x, j = self.rig, self.rig.block, len(self.rig.tree)
        work, torque, effort = np.empty((kernels.WORK, j, 3)), np.empty((j, 3)), np.empty(j)
        hardest = kernels.measure(
            x["parents"], x["masses"], x["centers"], x["inertias"], rig.R, rig.p, rig.om, rig.state.w, rig.state.v,
            rig.w_before, rig.v_before, rig.dw, self.given, rig.torque, rig.gravity, self.strength, rig.dt, work,
            torque, effort,
        )  # fmt: skip
        self._tell_effort(hardest, float(effort[hardest]) if self.given[hardest] else 0.0)
        return torque, effort

    def _tell_effort(self, hardest: int, effort: float) -> None:
        """Tell once when a kinematic joint is asked for more than its strength, and again after it has rested."""
        if effort > 1.0 and not self._strained and self.stage.steps > _FIRST:
            label = self.character.skeleton.labels[hardest]
            self.tell("effort", f"{label} is asked for {effort:.2f} of its strength")
        self._strained = effort > (0.9 if self._strained else 1.0)

    def show(self, t: float) -> None:
        """Put what is given where it is at time t, in the rig's state; a root that is carried stays where it is."""
        for player in self.in_order():
            if isinstance(player, MotionPlayer) and player.carrier is None:
                player.give(self.rig, t)
        self.rig.update()

    # Its state.

    def _numbers(self) -> dict[str, np.ndarray]:
        rig, state = self.rig, self.rig.state
        return {
            "root": state.root, "q": state.q, "v": state.v, "w": state.w, "dw": rig.dw, "a": rig.a,
            "w_before": rig.w_before, "v_before": rig.v_before, "torque": rig.torque, "damping": rig.damping,
            "al": self.al, "acc": self.acc, "coupling": rig.coupling,
        }  # fmt: skip

    def save(self) -> dict[str, Any]:
        """Its state, and its players', as plain data."""
        return {
            "numbers": {name: array.copy() for name, array in self._numbers().items()},
            "fallen": self.fallen,
            "start_height": self.start_height,
            "strained": self._strained,
            "players": [player.save() for player in self.players],
            "held": {str(joint): aim.copy() for joint, aim in self._rest_aim.items()},
            "pushes": [
                {"joint": push.joint, "force": list(push.force), "seconds": push.seconds, "start": push.start}
                for push in self.pushes
            ],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Be again what was saved, under the same drivers."""
        self.fallen, self.start_height, self._strained = saved["fallen"], saved["start_height"], saved["strained"]
        self.rig.block["called"] = 0
        for name, array in self._numbers().items():
            array[...] = saved["numbers"][name]
        for player, data in zip(self.players, saved["players"], strict=True):
            player.restore(data)
        self._rest_aim = {int(joint): np.array(aim) for joint, aim in saved["held"].items()}
        self.pushes[:] = [Push(**push) for push in saved["pushes"]]
        for push in self.pushes:
            self.stage.expect(push.start + push.seconds, self)

    def tell_who(self) -> dict[str, Any]:
        """Who drives it and what it holds: what must be the same when a state is restored."""
        return {
            "drivers": [
                [a.part, type(a.driver).__name__, list(a.claim.moved), list(a.claim.held)] for a in self.assignments
            ],
            "loads": [[load.joint, load.mass, *load.offset] for load in self.loads],
        }


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
