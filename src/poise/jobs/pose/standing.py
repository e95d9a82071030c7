"""A body on its feet: how it stands at ease, and poses that reach, look, crouch and stand on one leg from there.

The way to a pose is gone in small steps, each solved from the one before, so that what stands never moves, the centre
of mass is over it all the way, and the pose is one that a body gets into: first the weight goes over the foot that
will carry it, then the other is lifted; hands go all the while.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing, find_soles, leg_length
from poise.body.roles import SIDES, TRUNK_ROLES
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.ik.goals import Goal, LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.pose_solver import PoseSolution, PoseSolver
from poise.spatial import rotation
from poise.spatial.filter import blur
from poise.world.collision_shapes import find_outside
from poise.world.foot_boxes import find_corners, find_drawn_soles, find_standing_region, place_corners

STANDS = ("both", *SIDES)
# Degrees of a left limb, as of `body/joints.py`: arms hang a little bent, knees are not locked, toes point out.
_AT_EASE = {
    "UpperArm": (-3.0, 0.0, 7.0), "LowerArm": (-14.0, 0.0, 0.0), "UpperLeg": (-7.0, 7.0, 0.0),
    "LowerLeg": (12.0, 0.0, 0.0), "Foot": (-5.0, 0.0, 0.0),
}  # fmt: skip
SHIFT = 0.35  # of the way, in which the weight goes over one foot
STEPS = 16  # that a way is gone in
_WINDOWS = ((0.0, 0.42), (0.4, 0.75), (0.5, 1.0))  # of a motion, in which weight shifts, a foot is lifted, hands go
_LIFTED = (0.20, -0.22)  # of the leg's length, up and ahead: where a free foot is held
_FREE, _HIPS, _EYES = 0.02, 0.02, 0.2  # weights of a free foot, of hips and of eyes, beside what is reached for
_SOFT_ROUNDS, _LAST_ROUNDS = 15, 200
_COMFORT = 0.05
_UPRIGHT, _KNEES = 0.01, 0.02  # weights of a trunk that is upright, and of knees over their toes
_IDLE = 8.0  # how much harder joints are turned that have nothing to do
_TRUNK = 5.0  # how much harder than legs a back is bent
_TRUE = 1e-3  # m: what is farther off was not reached
_SPREAD = 0.5  # of the way of a foot that is lifted, in which the centre of mass comes free
_SINK = 0.6  # of the way down of a hand, that the hips go, too
_SOFT = 0.05  # of a motion, in which what balance changes comes and goes
_RISING = 0.1  # of a motion, in which a foot gets clear of the ground
_CLEAR = 0.01  # m that a free sole is above the ground at least, on the way
_OVER, _LOWEST, _FLOORS = 0.001, 3, 12  # m over the ground, points of a segment, and solves: see `_solve_above`
_EASE = 0.005  # m more of margin on the way than at its end: what a round leaves over


@dataclass(frozen=True, eq=False)
class Footing:
    """A pose on its feet.

    root, rotations  (3,) m, (J, 4)
    ankles, turns    (2, 3) m and (2, 4), where the feet's joints are, left and right
    regions          two of (K, 2) m, x and z of the points of the left and the right sole that touch the ground; none
                     for a foot that is in the air
    ground           m, its height: that of the lowest point of both soles
    """

    root: np.ndarray
    rotations: np.ndarray
    ankles: np.ndarray
    turns: np.ndarray
    regions: tuple[np.ndarray, np.ndarray]
    ground: float = 0.0

    def find_support(self, stand: str) -> np.ndarray:
        """(K, 2) m, the points that touch the ground of the feet that carry: `both`, `left` or `right`."""
        regions = [region for side, region in zip(SIDES, self.regions, strict=True) if stand in ("both", side)]
        found = np.concatenate(regions)
        if not len(found):
            raise InputError(
                f"the {stand} foot must be on the ground to carry the body; in the start pose it is in the air. "
                "Use another foot, or another start."
            )
        return found


@dataclass(frozen=True, eq=False)
class PoseGoals:
    """What a body is to do.

    reach    joint or role -> (3,) m, where it goes
    stand    the feet that carry: both, left, right
    look     (3,) m, what the head turns to; None: where it likes
    crouch   m, that the hips come down by; below 0: up, where legs are bent; None: as it comes
    margin   m, that the centre of mass stays inside the edge of the soles
    """

    reach: Mapping[str, np.ndarray] = field(default_factory=dict)
    stand: str = "both"
    look: np.ndarray | None = None
    crouch: float | None = None
    margin: float = 0.02

    @property
    def carrying(self) -> int:
        """Index of the foot that carries alone; 0 where both do."""
        return SIDES.index(self.stand) if self.stand in SIDES else 0


@dataclass(frozen=True, eq=False)
class PosePath:
    """Poses one after the other.

    root, rotations  (F, 3) m, (F, J, 4)
    down             (F, 2) whether the left and the right foot carry
    microseconds     (F,) that each solve took
    """

    root: np.ndarray
    rotations: np.ndarray
    down: np.ndarray
    microseconds: np.ndarray


def stand_at_ease(character: Character) -> Footing:
    """A relaxed stand over the origin, facing +Z, soles flat on y = 0, the weight on both."""
    skeleton = character.skeleton
    turns = rotation.identity((len(skeleton),))
    for name, ends in character.limits.items():
        role = skeleton.structure.role_of.get(name, "")
        side = next((side for side in SIDES if role.startswith(side)), "")
        angles = np.radians(_AT_EASE.get(role.removeprefix(side), (0.0, 0.0, 0.0)) if side else (0.0, 0.0, 0.0))
        angles = angles * ([1.0, -1.0, -1.0] if side == "right" else [1.0, 1.0, 1.0])
        turns[skeleton.index(name)] = ends.rotation(np.clip(angles, ends.lower, ends.upper))
    places, world = skeleton.pose(np.zeros(3), turns)
    feet, levels = [sole.foot for sole in find_soles(skeleton)], []
    ankles = places[feet].copy()
    for k, sole in enumerate(find_soles(skeleton)):
        ankles[k, 1] = -sole.heel[1]
        ahead = rotation.rotate(world[sole.foot], np.array([0.0, 0.0, 1.0]))
        levels.append(rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan2(ahead[0], ahead[2]))))
    ankles[:, [0, 2]] -= ankles[:, [0, 2]].mean(axis=0)
    stance = put_down(
        character, ankles, np.array(levels), np.array([0.0, ankles[0, 1] - places[feet[0], 1], 0.0]), turns
    )
    if stance is None:
        raise InputError(f"'{character.name}' cannot stand with both soles on the ground. Check its legs.")
    return stance


def put_down(
    character: Character, ankles: np.ndarray, turns: np.ndarray, root: np.ndarray, rotations: np.ndarray
) -> Footing | None:
    """A pose with both feet where they should be, and the centre of mass between them; None where there is none."""
    goals: list[Goal] = []
    for side, ankle, turn in zip(SIDES, ankles, turns, strict=True):
        goals += [PositionGoal(side + "Foot", ankle, first=True), OrientationGoal(side + "Foot", turn, first=True)]
    poser = PoseSolver(character, None, comfort=0.0)
    upright = [OrientationGoal(role, weight=0.1) for role in ("hips", "head") if role in character.skeleton.roles]
    soles = zip(ankles, turns, build_footing(character.skeleton), strict=True)
    middle = np.mean([place_corners(a, t, find_corners(b)).mean(axis=0) for a, t, b in soles], axis=0)
    over = (float(middle[0]), None, float(middle[2]))
    posed = poser.solve([*goals, *upright], root, rotations, center=over)
    posed = poser.solve(goals, posed.root, posed.rotations, center=over, enough=1e-6, rounds=_LAST_ROUNDS)
    if posed.first > 1e-3:
        return None
    return take_stance(character, posed.root, posed.rotations)


def take_stance(character: Character, root: np.ndarray, rotations: np.ndarray) -> Footing:
    """The stance of a pose: its feet as they are, on level ground under the lower one."""
    places, world = character.skeleton.pose(root, rotations)
    soles = find_drawn_soles(character.skeleton)
    feet = [sole.foot for sole in soles]
    points = [sole.place(places, world) for sole in soles]
    ground = min(float(each[:, 1].min()) for each in points)
    left, right = (find_standing_region(each, ground) for each in points)
    return Footing(root, rotations, places[feet], world[feet], (left, right), ground)


class StandingSolver:
    """A body that is posed from a stance on.

    stiffness  see `PoseSolver`
    """

    def __init__(
        self, character: Character, stance: Footing | None = None, stiffness: Mapping[str, float] | None = None
    ):
        self.character = character
        self.stance = stand_at_ease(character) if stance is None else stance
        self._stiffness = dict(stiffness or {})
        self._lifters: dict[int, PoseSolver] = {}
        self._tree = build_tree(character)
        self._leg = min(leg_length(character.skeleton, side) for side in SIDES)
        self._outside = find_outside(character)

    def go(self, wanted: PoseGoals, steps: Sequence[float]) -> PosePath:
        """Go to a pose; steps: how far the way is gone each time, rising from 0 or more to 1."""
        found: list[PoseSolution] = []
        down, took = [], []
        root, rotations = self.stance.root, self.stance.rotations
        begin, poser, floor = self._begin(wanted), self._build_poser(wanted), dict[tuple[int, int], PositionGoal]()
        for step in steps:
            is_last = step == steps[-1]
            clock = time.perf_counter()
            posed = self._solve(poser, wanted, float(step), begin, root, rotations, is_last, floor)
            took.append(1e6 * (time.perf_counter() - clock))
            root, rotations = posed.root, posed.rotations
            found.append(posed)
            lifted = wanted.stand != "both" and step > SHIFT
            down.append([not lifted or wanted.stand == side for side in SIDES])
        return PosePath(
            np.array([posed.root for posed in found]), np.array([posed.rotations for posed in found]),
            np.array(down), np.array(took),
        )  # fmt: skip

    def move(self, wanted: PoseGoals, rotations: np.ndarray, count: int) -> PosePath:
        """The motion from the stance to a pose (J, 4) that was found, in so many frames: smooth, balanced at each.

        Joints turn from key to key, beginning and ending softly: the weight over one foot, that foot lifted, the pose.
        What stands is put back at every frame, and the centre of mass where it would leave the support.
        """
        if wanted.stand == "both":
            return self.follow([self.stance.rotations, rotations], [(0.0, 1.0)], count, wanted)
        keys = [self.stance.rotations, *self.lift(wanted.stand, wanted.margin), rotations]
        return self.follow(keys, _WINDOWS, count, wanted, (_WINDOWS[1][0], np.inf))

    def lift(self, stand: str, margin: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (J, 4) with the weight over one foot, and with the other foot lifted."""
        steps = [*np.linspace(0.0, SHIFT, STEPS // 2)[1:], *np.linspace(SHIFT, 1.0, STEPS)[1:]]
        way = self.go(PoseGoals({}, stand, margin=margin), steps)
        return way.rotations[STEPS // 2 - 2], way.rotations[-1]

    def follow(
        self, keys: Sequence[np.ndarray], windows: Sequence[tuple[float, float]], count: int, wanted: PoseGoals,
        aloft: tuple[float, float] | None = None,
    ) -> PosePath:  # fmt: skip
        """A motion through key poses, balanced at each of `count` frames.

        keys     rotations (J, 4);  windows: from when to when the way from each to the next is gone; 0 to 1
        wanted   which feet stand, and the margin
        aloft    from when to when the free foot is off the ground; None: never
        """
        carrying = wanted.carrying
        poser = PoseSolver(self.character, SIDES[carrying] + "Foot", self._stiffness, 0.0)
        ways = [rotation.log(rotation.multiply(rotation.conjugate(a), b)) for a, b in pairwise(keys)]
        meant, found, down, took, clear = [], list[PoseSolution](), [], [], []
        for t in np.linspace(0.0, 1.0, count):
            turns = keys[0]
            for way, (begin, end) in zip(ways, windows, strict=True):
                turns = rotation.multiply(turns, rotation.exp(soften((t - begin) / (end - begin)) * way))
            lifted = aloft is not None and aloft[0] < t < aloft[1]
            edge = 0.0 if aloft is None else min(t - aloft[0], aloft[1] - t)
            clear.append(soften(edge / min(_RISING, 2.0 * _RISING / len(ways))) * _CLEAR if lifted else 0.0)
            clock = time.perf_counter()
            found.append(self._put_back(poser, wanted, turns, carrying, lifted, clear[-1]))
            took.append(1e6 * (time.perf_counter() - clock))
            meant.append(turns)
            down.append([not lifted or side == carrying for side in range(2)])
        # What balance changed comes and goes softly, too
        half = max(round(_SOFT * count * min(1.0, 3.0 / len(ways))), 1)
        changes = [
            rotation.log(rotation.multiply(rotation.conjugate(turns), posed.rotations))
            for turns, posed in zip(meant, found, strict=True)
        ]
        soft = rotation.multiply(np.array(meant), rotation.exp(blur(np.array(changes), half)))
        for k in range(1, count - 1):
            found[k] = self._put_back(poser, wanted, soft[k], carrying, not all(down[k]), clear[k])
        return PosePath(
            np.array([posed.root for posed in found]), np.array([posed.rotations for posed in found]),
            np.array(down), np.array(took),
        )  # fmt: skip

    def _put_back(
        self, poser: PoseSolver, wanted: PoseGoals, turns: np.ndarray, carrying: int, lifted: bool, clear: float
    ) -> PoseSolution:
        """A pose with the carrying foot where it stands, the other there too or `clear` m off the ground, balanced."""
        stance, free = self.stance, 1 - carrying
        turns = turns.copy()
        root, turns[0] = self._hang_on(turns, carrying)
        name, goals = SIDES[free] + "Foot", list[Goal]()
        if lifted:
            support = stance.find_support(SIDES[carrying])
            foot = find_soles(self.character.skeleton)[free].foot
            above = max(clear - self._find_lowest(root, turns, free), 0.0)
            places, world = self.character.skeleton.pose(root, turns)
            goals.append(PositionGoal(name, places[foot] + [0.0, above, 0.0], first=True))
            if above > 0.0:  # by its own leg alone: the body does not bow for it
                raised = self._build_lifter(carrying).solve(
                    [*goals, OrientationGoal(name, world[foot].tolist())], root, turns
                )
                root, turns = raised.root, raised.rotations
        else:
            support = stance.find_support("both")
            goals += [
                PositionGoal(name, stance.ankles[free], first=True),
                OrientationGoal(name, stance.turns[free], first=True),
            ]
        sides = [carrying] if lifted else [0, 1]
        return self._solve_above(poser, goals, root, turns, support, wanted.margin, sides, {}, enough=1e-6)

    def _build_lifter(self, carrying: int) -> PoseSolver:
        """Turns nothing but the free leg."""
        if carrying not in self._lifters:
            skeleton, leg = self.character.skeleton, set(self._free_leg(1 - carrying))
            stiff = {name: np.inf for i, name in enumerate(skeleton.names) if i not in leg}
            self._lifters[carrying] = PoseSolver(self.character, SIDES[carrying] + "Foot", stiff, 0.0)
        return self._lifters[carrying]

    def _hang_on(self, turns: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the root (3,) is, and how it is turned (4,), so that a foot is where it stands."""
        skeleton, foot = self.character.skeleton, find_soles(self.character.skeleton)[side].foot
        loose = turns.copy()
        loose[0] = rotation.identity()
        places, world = skeleton.pose(np.zeros(3), loose)
        turn = rotation.multiply(self.stance.turns[side], rotation.conjugate(world[foot]))
        return self.stance.ankles[side] - rotation.rotate(turn, places[foot]), turn

    def _begin(self, wanted: PoseGoals) -> dict[str, np.ndarray]:
        """Where what is reached with is at first."""
        places, _ = self.character.skeleton.pose(self.stance.root, self.stance.rotations)
        return {joint: places[self.character.skeleton.index(joint)] for joint in (*wanted.reach, "hips")}

    def _build_poser(self, wanted: PoseGoals) -> PoseSolver:
        """Who has nothing to do keeps still: arms that do not reach, a head that does not look."""
        skeleton = self.character.skeleton
        busy = {i for joint in wanted.reach for i in skeleton.chain(skeleton.index(joint))}
        idle = [side + stem for side in SIDES for stem in ("Shoulder", "UpperArm", "LowerArm", "Hand")]
        idle += [] if wanted.look is not None else ["neck", "head"]
        hard = dict(self._stiffness)
        for role in (*idle, *TRUNK_ROLES):
            joint = skeleton.find_role(role)
            if joint is not None and joint != 0 and (role in TRUNK_ROLES or joint not in busy):
                name = skeleton.names[joint]
                hard[name] = (_TRUNK if role in TRUNK_ROLES else _IDLE) * hard.get(name, 1.0)
        return PoseSolver(self.character, SIDES[wanted.carrying] + "Foot", hard, _COMFORT)

    def _solve(
        self, poser: PoseSolver, wanted: PoseGoals, step: float, begin: Mapping[str, np.ndarray], root: np.ndarray,
        rotations: np.ndarray, is_last: bool, floor: dict[tuple[int, int], PositionGoal],
    ) -> PoseSolution:  # fmt: skip
        skeleton = self.character.skeleton
        carrying = wanted.carrying
        lifted = wanted.stand != "both" and step > SHIFT
        held = [] if lifted or wanted.stand == "both" else self._free_leg(1 - carrying)
        goals: list[Goal] = [
            PositionGoal(joint, begin[joint] + step * (np.asarray(place) - begin[joint]))
            for joint, place in wanted.reach.items()
            if skeleton.index(joint) not in held
        ]
        soft: list[Goal] = [
            OrientationGoal(role, weight=_UPRIGHT) for role in ("hips", "upperChest") if role in skeleton.roles
        ]
        center: tuple[float | None, float | None, float | None] = (None, None, None)
        if lifted:
            support = _shrink(self.stance.find_support(wanted.stand), (step - SHIFT) / (1.0 - SHIFT) / _SPREAD)
            soft += self._lift_free_foot(wanted, step, 1 - carrying)
        else:
            support = self.stance.find_support("both")
            goals += self._hold_foot(1 - carrying)
            center = self._shift_center(wanted, step)
        if wanted.look is not None:
            goals.append(LookAtGoal(wanted.look.tolist(), weight=_EYES))
        soft += self._sink_hips(wanted, step, begin, skeleton.pose(root, rotations)[0])
        margin, sides = wanted.margin + (0.0 if is_last else _EASE), [carrying] if lifted else [0, 1]
        soft += self._guide_knees(root, rotations, sides)
        posed = self._solve_above(
            poser, [*goals, *soft], root, rotations, support, margin, sides, floor, center=center, rounds=_SOFT_ROUNDS
        )
        # What is soft says where to begin, and no more
        tries = [poser, PoseSolver(self.character, SIDES[carrying] + "Foot", comfort=0.0)] if is_last else [poser]
        for each in tries:
            if each is not poser and not _is_off(goals, posed):
                break
            posed = self._solve_above(
                each, goals, posed.root, posed.rotations, support, margin, sides, floor, center=center,
                rounds=_LAST_ROUNDS if is_last else _SOFT_ROUNDS,
            )  # fmt: skip
        return posed

    def _sink_hips(
        self, wanted: PoseGoals, step: float, begin: Mapping[str, np.ndarray], places: np.ndarray
    ) -> list[Goal]:
        """Lead the hips down, as asked or as far as a low target needs. places: (J, 3) m of the joints"""
        sink = self._find_sinking(wanted, begin) if wanted.crouch is None else wanted.crouch
        if not sink:
            return []
        hips = places[self.character.skeleton.index("hips")].copy()
        hips[1] = begin["hips"][1] - step * sink
        return [PositionGoal("hips", hips, weight=_HIPS)]

    def _hold_foot(self, side: int) -> list[Goal]:
        """Goals for a foot that stays where it stands."""
        name = SIDES[side] + "Foot"
        return [
            PositionGoal(name, self.stance.ankles[side], first=True),
            OrientationGoal(name, self.stance.turns[side], first=True),
        ]

    def _shift_center(self, wanted: PoseGoals, step: float) -> tuple[float | None, float | None, float | None]:
        """The centre of mass (m; None: free) on its way over the foot that is to carry all."""
        if wanted.stand == "both":
            return None, None, None
        stance = self.stance
        was = compute_center_of_mass(self._tree, stance.root, stance.rotations)[[0, 2]]
        way = was + step / SHIFT * (_find_middle(stance.find_support(wanted.stand)) - was)
        return float(way[0]), None, float(way[1])

    def _lift_free_foot(self, wanted: PoseGoals, step: float, side: int) -> list[Goal]:
        """Lead the free foot up and back, unless something of its leg is to reach a place."""
        if any(self.character.skeleton.index(joint) in self._free_leg(side) for joint in wanted.reach):
            return []
        gone = (step - SHIFT) / (1.0 - SHIFT)
        rise = self._leg * np.array([0.0, _LIFTED[0] * min(2.0 * gone, 1.0), _LIFTED[1] * gone])
        return [PositionGoal(SIDES[side] + "Foot", self.stance.ankles[side] + rise, weight=_FREE)]

    def _solve_above(
        self, poser: PoseSolver, goals: Sequence[Goal], root: np.ndarray, rotations: np.ndarray, support: np.ndarray,
        margin: float, sides: Sequence[int], floor: dict[tuple[int, int], PositionGoal], **options: Any,
    ) -> PoseSolution:  # fmt: skip
        """Solve with all of the body above the ground that does not stand on it.

        sides  feet that stand
        floor  points that are kept above the ground; those that come below it are added, and it is solved again
        """
        standing = {i for side in sides for i in self._list_under(SIDES[side] + "Foot")}
        for _ in range(_FLOORS):
            above = [goal for (joint, _), goal in floor.items() if joint not in standing]
            posed = poser.solve([*goals, *above], root, rotations, support, margin, **options)
            added = self._find_under(posed, standing)
            if added.keys() <= floor.keys():
                break
            floor |= added
        return posed

    def _find_under(self, posed: PoseSolution, standing: set[int]) -> dict[tuple[int, int], PositionGoal]:
        """Goals for the lowest points of those segments that are below the ground, by joint and number of the point."""
        skeleton, found = self.character.skeleton, dict[tuple[int, int], PositionGoal]()
        places, world = skeleton.pose(posed.root, posed.rotations)
        for joint, points in self._outside.items():
            if joint in standing:
                continue
            heights = places[joint, 1] + rotation.rotate(world[joint], points)[:, 1] - self.stance.ground
            for k in np.argsort(heights)[:_LOWEST].tolist():
                if heights[k] < 0.0:
                    place = (0.0, self.stance.ground + _OVER, 0.0)
                    found[joint, k] = PositionGoal(
                        skeleton.names[joint], place, points[k].tolist(), first=True, above=True
                    )
        return found

    def _guide_knees(self, root: np.ndarray, rotations: np.ndarray, sides: Sequence[int]) -> list[Goal]:
        """Knees of legs that carry bend the way their feet point: they stay in the plane of hip, ankle and that."""
        skeleton, goals = self.character.skeleton, list[Goal]()
        places, _ = skeleton.pose(root, rotations)
        for side in sides:
            knee = places[skeleton.index(SIDES[side] + "LowerLeg")]
            across = rotation.rotate(self.stance.turns[side], np.array([1.0, 0.0, 0.0])) * [1.0, 0.0, 1.0]
            across /= max(float(np.linalg.norm(across)), 1e-9)
            hip, ankle = places[skeleton.index(SIDES[side] + "UpperLeg")], self.stance.ankles[side]
            beside = across @ (knee - 0.5 * (hip + ankle))
            goals.append(PositionGoal(SIDES[side] + "LowerLeg", knee - beside * across, weight=_KNEES))
        return goals

    def _find_sinking(self, wanted: PoseGoals, begin: Mapping[str, np.ndarray]) -> float:
        """m, that hips come down by for hands that go below where they hang."""
        deep = [
            begin[joint][1] - place[1] for joint, place in wanted.reach.items() if "Hand" in joint or "Arm" in joint
        ]
        return _SINK * max([0.0, *(float(d) for d in deep)])

    def _free_leg(self, side: int) -> list[int]:
        return self._list_under(SIDES[side] + "UpperLeg")

    def _list_under(self, role: str) -> list[int]:
        joint = self.character.skeleton.find_role(role)
        return [] if joint is None else self.character.skeleton.descendants(joint)

    def _find_lowest(self, root: np.ndarray, rotations: np.ndarray, side: int) -> float:
        """m, height over the ground of a sole's lowest point."""
        sole = find_drawn_soles(self.character.skeleton)[side]
        return float(sole.place(*self.character.skeleton.pose(root, rotations))[:, 1].min()) - self.stance.ground


def _find_middle(points: np.ndarray) -> np.ndarray:
    """(2,) m, the middle of the outline of points (N, 2)."""
    return np.asarray(0.5 * (points.min(axis=0) + points.max(axis=0)))


def _shrink(corners: np.ndarray, gone: float) -> np.ndarray:
    """Corners (N, 2) drawn to their middle: a point at 0, as they are from 1 on."""
    t = min(max(gone, 0.01), 1.0)
    middle = _find_middle(corners)
    return np.asarray(middle + t * t * (3.0 - 2.0 * t) * (corners - middle))


def _is_off(goals: Sequence[Goal], posed: PoseSolution) -> bool:
    """Whether anything that is reached for was not."""
    return any(
        miss > _TRUE
        for goal, miss in zip(goals, posed.misses, strict=False)
        if isinstance(goal, PositionGoal) and not goal.first
    )


def soften(t: float) -> float:
    """From 0 to 1, beginning and ending softly: a motion of least jerk."""
    t = min(max(t, 0.0), 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t * t)
