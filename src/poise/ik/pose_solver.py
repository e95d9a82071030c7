"""A body posed by goals, with its centre of mass first.   [balance, 4]

Poses to begin at are tried where the way from the given one ends short: an arm that is up, or a knee that is bent the
other way round an obstacle of its own ranges, is another optimum. Angles are those of `body/joints.py`, in degrees.

    solver = PoseSolver(character, held="leftFoot")
    posed = solver.solve([PositionGoal("rightHand", (0.4, 1.2, 0.3))], start, support=corners)

One foot is held: it stays where the start has it, to the last bit. What else stands is a goal that is `first`, and so
is the centre of mass, which stays inside the outline of the support. A solve begins where it is told, so that a motion
that is asked for frame by frame costs a few rounds a frame.

Many poses are solved on all cores: kernels let go of Python while they run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name
from poise.ik.goals import Goal, LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.model import IkModel
from poise.ik.support_polygon import find_edges
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.ik.solver.row_kernels import GoalArrays
    from poise.ik.solver.solve_kernels import Answer, Asked
_X, _Y, _Z = 0, 1, 2
_TRUNK = ("spine", "chest", "upperChest")
_BOTH = ("left", "right")
# What is turned by how much; stems stand for both sides, "trunk" for what of the trunk there is, in equal parts
_STARTS: tuple[tuple[tuple[str, int, float], ...], ...] = (
    (  # crouching, arms ahead
        ("UpperLeg", _X, -85), ("LowerLeg", _X, 100), ("Foot", _X, -25), ("trunk", _X, 35), ("UpperArm", _X, -60),
        ("LowerArm", _X, -20),
    ),
    (  # bowing, arms hanging
        ("UpperLeg", _X, -60), ("LowerLeg", _X, 15), ("trunk", _X, 60), ("UpperArm", _X, -80), ("LowerArm", _X, -10),
    ),
    (("UpperArm", _X, -165), ("LowerArm", _X, -15), ("trunk", _X, -10), ("LowerLeg", _X, 5)),  # arms up
    (  # turned to the left, knees bent
        ("trunk", _Y, 50), ("UpperLeg", _X, -30), ("LowerLeg", _X, 45), ("Foot", _X, -15), ("UpperArm", _X, -60),
        ("LowerArm", _X, -30),
    ),
    (  # and to the right
        ("trunk", _Y, -50), ("UpperLeg", _X, -30), ("LowerLeg", _X, 45), ("Foot", _X, -15), ("UpperArm", _X, -60),
        ("LowerArm", _X, -30),
    ),
    (  # bent to the left, arms out
        ("trunk", _Z, -30), ("UpperLeg", _X, -20), ("LowerLeg", _X, 30), ("UpperArm", _Z, 80), ("LowerArm", _X, -20),
    ),
    (  # and to the right
        ("trunk", _Z, 30), ("UpperLeg", _X, -20), ("LowerLeg", _X, 30), ("UpperArm", _Z, 80), ("LowerArm", _X, -20),
    ),
    (("UpperLeg", _X, -45), ("LowerLeg", _X, 70), ("trunk", _X, -20), ("UpperArm", _X, 40)),  # leaning back
)  # fmt: skip


def find_starts(figure: IkModel) -> np.ndarray:
    """(S, J, 3) rad: angles of all joints, in their ranges."""
    character = figure.character
    roles, index = character.skeleton.roles, character.skeleton.index
    out = np.zeros((len(_STARTS), len(character.skeleton), 3))
    trunk = [role for role in _TRUNK if role in roles]
    for row, start in zip(out, _STARTS, strict=True):
        for stem, axis, degrees in start:
            named = trunk if stem == "trunk" else [side + stem for side in _BOTH if side + stem in roles]
            for role in named:
                share = len(trunk) if stem == "trunk" else 1
                sign = -1.0 if axis == _Z and role.startswith("right") else 1.0
                row[index(role), axis] = sign * np.radians(degrees) / share
        for i, name in enumerate(character.skeleton.names):
            if figure.arrays.turns[i]:
                ends = character.limits[name]
                row[i] = np.clip(row[i], ends.lower, ends.upper)
    return out


METHODS = ("rows", "blocks", "null-space")  # in the order of the kernels' numbers
SPAN = 0.12  # of the height: m that a turn of a radian counts, about what it moves a hand or foot by
_HEAVY = 1e4  # weight of a goal beside a stiffness of 1: a damping of 1e-4 [balance, 6]
_ROUNDS, _SWEEPS, _STEP = 60, 24, 0.5  # at most; rad that an angle changes by in a round
_ENOUGH = 1e-4  # m


@dataclass(frozen=True, eq=False)
class Posed:
    """A pose that was found, and how well it does.

    root, rotations  (3,) m and (J, 4): as of a pose
    center           (3,) m, centre of mass
    misses           (G,) m or rad, how far each goal is off
    first            m, the largest error of what is first: feet that stand, and the centre of mass outside its support
    rounds           that it took
    """

    root: np.ndarray
    rotations: np.ndarray
    center: np.ndarray
    misses: np.ndarray
    first: float
    rounds: int


@dataclass(frozen=True, eq=False)
class PosedMany:
    """Poses that were found: see `Posed`, with an axis of N before each."""

    root: np.ndarray
    rotations: np.ndarray
    center: np.ndarray
    misses: np.ndarray
    first: np.ndarray
    rounds: np.ndarray


class PoseSolver:
    """Poses one body, again and again.

    held       the joint whose body stays where it is; None: the root moves freely
    stiffness  joint or role -> how much harder than others it is turned: 2, twice as hard; inf, not at all
    comfort    of the way there, that free angles go a round
    """

    def __init__(
        self,
        character: Character,
        held: str | None = "leftFoot",
        stiffness: Mapping[str, float] | None = None,
        comfort: float = 0.02,
    ):
        self.character, skeleton = character, character.skeleton
        self.held = -1 if held is None else skeleton.index(held)
        self.figure = IkModel(character, held is None, stiffness or {}, comfort)
        self._starts = find_starts(self.figure)

    def load(self, loads: Mapping[str, tuple[float, Sequence[float]]]) -> None:
        """Have joints carry point masses: joint or role -> kg, and (3,) m in its frame. None but these."""
        self.figure.load(loads)

    def solve(
        self,
        goals: Sequence[Goal],
        root: np.ndarray,
        rotations: np.ndarray,
        support: np.ndarray | None = None,
        margin: float = 0.0,
        center: Sequence[float | None] = (None, None, None),
        method: str = "blocks",
        enough: float = _ENOUGH,
        rounds: int = _ROUNDS,
        tries: int = 0,
        center_first: bool = True,
    ) -> Posed:
        """The pose that meets goals, from a root (3,) m and rotations (J, 4) on.

        support   (N, 2) m, x and z of corners that carry: the centre of mass stays inside their outline by `margin`
        center    m, where the centre of mass should be in x, y and z; None: anywhere
        center_first  whether that comes before goals that are not; if not, it is one of them
        enough    m, the error that is small enough
        tries     more starts at most, where goals are not met from here: a crouch, a bow, a step back and the like (see
                  `starts`). The best is taken, which may be far from the start
        """
        root, rotations = check_pose(self.character, root, rotations)
        found = self._solve(
            goals, root[None], rotations[None], support, margin, center, method, enough, rounds, tries, center_first
        )
        order = _find_order(goals)
        told = found.told[0]
        return Posed(
            found.root[0], found.turns[0], found.center[0], found.misses[0, order], float(told[2]), int(told[0])
        )

    def solve_many(
        self,
        goals: Sequence[Goal],
        root: np.ndarray,
        rotations: np.ndarray,
        support: np.ndarray | None = None,
        margin: float = 0.0,
        center: Sequence[float | None] = (None, None, None),
        method: str = "blocks",
        enough: float = _ENOUGH,
        rounds: int = _ROUNDS,
        tries: int = 0,
        center_first: bool = True,
        *,
        places: np.ndarray | None = None,
        turns: np.ndarray | None = None,
        looks: np.ndarray | None = None,
        centers: np.ndarray | None = None,
        threads: int | None = None,
    ) -> PosedMany:
        """Many poses at once, on the cores: each is, to the last bit, what `solve` finds.

        root, rotations       (N, 3) m and (N, J, 4), or those of one pose, at which all begin
        places, turns, looks  (N, P, 3) m, (N, T, 4) and (N, L, 3) m: in place of those of the goals, in their order
        centers               (N, 3) m: in place of the numbers of `center`, where these are
        threads               None: as many as there are cores
        """
        count = len(self.character.skeleton)
        root, rotations = np.asarray(root, float), np.asarray(rotations, float)
        root, rotations = root.reshape(-1, 3), rotations.reshape(-1, *rotations.shape[-2:])
        if rotations.shape[1:] != (count, 4) or not (np.isfinite(root).all() and np.isfinite(rotations).all()):
            raise InputError(
                f"poses of '{self.character.name}' are roots (N, 3) and rotations (N, {count}, 4), finite; given "
                f"{root.shape} and {rotations.shape}."
            )
        more = {"places": places, "goal_turns": turns, "looks": looks, "center": centers}
        found = self._solve(
            goals, root, rotation.normalize(rotations), support, margin, center, method, enough, rounds, tries,
            center_first, more, threads,
        )  # fmt: skip
        order = _find_order(goals)
        return PosedMany(
            found.root,
            found.turns,
            found.center,
            found.misses[:, order],
            found.told[:, 2],
            found.told[:, 0].astype(int),
        )  # fmt: skip

    def prepare(
        self,
        goals: Sequence[Goal],
        support: np.ndarray | None = None,
        margin: float = 0.0,
        center: Sequence[float | None] = (None, None, None),
        enough: float = _ENOUGH,
        rounds: int = _ROUNDS,
        tries: int = 0,
        center_first: bool = True,
    ) -> Prepared:
        """Goals to be asked for again and again, with other numbers: see `Prepared`."""
        return Prepared(self, goals, support, margin, center, enough, rounds, tries, center_first)

    def _solve(
        self,
        goals: Sequence[Goal],
        root: np.ndarray,
        rotations: np.ndarray,
        support: np.ndarray | None,
        margin: float,
        center: Sequence[float | None],
        method: str,
        enough: float,
        rounds: int,
        tries: int,
        center_first: bool,
        more: Mapping[str, np.ndarray | None] | None = None,
        threads: int | None = 1,
    ) -> Answer:
        from poise.ik.solver import solve_kernels as kernels
        from poise.ik.solver.gauss_seidel_kernels import BLOCKS, NULL_SPACE, ROWS
        from poise.ik.solver.row_kernels import GoalArrays, count_rows

        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        figure = self.figure
        compiled = self._compile(goals, support, margin, center)
        compiled.center_first[:] = center_first
        ways = kernels.Ways(
            SPAN * self.character.height, rounds, _SWEEPS, _STEP, enough,
            {"rows": ROWS, "blocks": BLOCKS, "null-space": NULL_SPACE}[method],
        )  # fmt: skip
        turns = _stack([goal.turn for goal in goals if isinstance(goal, OrientationGoal)], 4)
        root = np.require(root, requirements="W")  # for one that is only read all would be compiled again
        asked = kernels.Asked(
            root, rotations, compiled.point_goal[None].copy(), turns[None], compiled.look_goal[None].copy(),
            compiled.center[None].copy(),
        )  # fmt: skip
        asked = _read_more(asked, more or {})
        size, joints, none = max(len(rows) for rows in asked), len(self.character.skeleton), np.zeros
        answer = kernels.Answer(
            none((size, 3)), none((size, joints, 4)), none((size, 3)), none((size, len(goals))), none((size, 4))
        )
        starts = self._starts[:tries]
        rows, arrays = count_rows(compiled), figure.arrays

        def work(begin: int, end: int) -> None:
            own: Any = GoalArrays(*(np.copy(x) if isinstance(x, np.ndarray) else x for x in compiled))  # type: ignore[arg-type]
            room = figure.make_room(rows, len(goals), none((joints, 3)), none((joints, 3, 3)), none(3), none((3, 3)))
            kernels.solve_poses(
                arrays._replace(low=arrays.low.copy(), high=arrays.high.copy()), own, self.held, ways, starts, asked,
                begin, end, arrays.low, arrays.high, room, answer,
            )  # fmt: skip

        share_work(work, size, threads)
        return answer

    def _compile(
        self, goals: Sequence[Goal], support: np.ndarray | None, margin: float, center: Sequence[float | None]
    ) -> GoalArrays:
        if support is not None:
            support = np.asarray(support, float)
            if support.ndim != 2 or support.shape[1] != 2 or not len(support) or not np.isfinite(support).all():
                raise InputError(f"a support is corners (N, 2), finite, in metres; given shape {support.shape}.")
        edges = np.zeros((0, 3)) if support is None else find_edges(support, margin)
        return compile_goals(self.character, goals, edges, center)


class Prepared:
    """Goals that are read once, whose numbers are then rewritten in place: what `PoseSolver.solve` finds, a third
    sooner.

    places, turns, looks  (P, 3) m, (T, 4) and (L, 3) m, in the order of the goals of each kind
    center                (3,) m
    """

    def __init__(
        self,
        poser: PoseSolver,
        goals: Sequence[Goal],
        support: np.ndarray | None,
        margin: float,
        center: Sequence[float | None],
        enough: float,
        rounds: int,
        tries: int,
        center_first: bool,
    ):
        from poise.ik.solver import solve_kernels as kernels
        from poise.ik.solver.gauss_seidel_kernels import BLOCKS
        from poise.ik.solver.row_kernels import count_rows

        figure, joints, none = poser.figure, len(poser.character.skeleton), np.zeros
        self._poser, self._order = poser, _find_order(goals)
        self._goals = poser._compile(goals, support, margin, center)
        self._goals.center_first[:] = center_first
        span = SPAN * poser.character.height
        self._ways = kernels.Ways(span, rounds, _SWEEPS, _STEP, enough, BLOCKS)
        self._starts = poser._starts[:tries]
        turns = _stack([goal.turn for goal in goals if isinstance(goal, OrientationGoal)], 4)
        self._asked = kernels.Asked(
            none((1, 3)), none((1, joints, 4)), self._goals.point_goal[None].copy(), turns[None],
            self._goals.look_goal[None].copy(), self._goals.center[None].copy(),
        )  # fmt: skip
        self.places, self.turns, self.looks, self.center = (array[0] for array in self._asked[2:])
        rows = count_rows(self._goals)
        self._room = figure.make_room(rows, len(goals), none((joints, 3)), none((joints, 3, 3)), none(3), none((3, 3)))
        self._answer = kernels.Answer(
            none((1, 3)), none((1, joints, 4)), none((1, 3)), none((1, len(goals))), none((1, 4))
        )
        arrays = figure.arrays
        self._figure = arrays._replace(low=arrays.low.copy(), high=arrays.high.copy())
        self._kernel = kernels.solve_poses

    def solve(self, root: np.ndarray, rotations: np.ndarray) -> Posed:
        """The pose that meets the goals as they are now, from a root (3,) m and rotations (J, 4) on.

        Numbers are taken as they are: see that they are finite.
        """
        asked, answer, ends = self._asked, self._answer, self._poser.figure.arrays
        asked.root[0], asked.turns[0] = root, rotation.normalize(rotations)
        self._kernel(
            self._figure, self._goals, self._poser.held, self._ways, self._starts, asked, 0, 1, ends.low, ends.high,
            self._room, answer,
        )  # fmt: skip
        told = answer.told[0]
        return Posed(
            answer.root[0].copy(), answer.turns[0].copy(), answer.center[0].copy(), answer.misses[0, self._order],
            float(told[2]), int(told[0]),
        )  # fmt: skip


def compile_goals(
    character: Character, goals: Sequence[Goal], edges: np.ndarray, center: Sequence[float | None]
) -> GoalArrays:
    """Goals as arrays. See `PoseSolver.solve`."""
    from poise.ik.solver.row_kernels import GoalArrays

    index = character.skeleton.index
    reach = [goal for goal in goals if isinstance(goal, PositionGoal)]
    turn = [goal for goal in goals if isinstance(goal, OrientationGoal)]
    look = [goal for goal in goals if isinstance(goal, LookAtGoal)]
    if len(reach) + len(turn) + len(look) < len(goals):
        odd = next(goal for goal in goals if not isinstance(goal, Goal))
        raise InputError(f"a goal is a PositionGoal, an OrientationGoal or a LookAtGoal; given a {type(odd).__name__}.")
    where = np.array([0.0 if value is None else float(value) for value in center])
    asked = np.array([0.0 if value is None else _HEAVY for value in center])
    return GoalArrays(
        edges.copy(), _HEAVY, where, asked, np.ones(3, bool),
        np.array([index(g.joint) for g in reach], np.int64), _stack([g.point for g in reach], 3),
        _stack([g.place for g in reach], 3), np.array([_HEAVY * g.weight for g in reach], float),
        np.array([g.first for g in reach], bool), np.array([g.above for g in reach], bool),
        np.array([index(g.joint) for g in turn], np.int64),
        rotation.to_matrix(_stack([g.turn for g in turn], 4)), np.array([_HEAVY * g.weight for g in turn], float),
        np.array([g.first for g in turn], bool),
        np.array([index(g.joint) for g in look], np.int64), _stack([g.point for g in look], 3),
        _stack([g.along for g in look], 3), _stack([g.place for g in look], 3),
        np.array([_HEAVY * g.weight for g in look], float),
    )  # fmt: skip


def check_pose(character: Character, root: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A pose of a character as arrays (3,) and (J, 4)."""
    root, rotations = np.asarray(root, float), np.asarray(rotations, float)
    count = len(character.skeleton)
    if root.shape != (3,) or rotations.shape != (count, 4):
        raise InputError(
            f"a pose of '{character.name}' is a root (3,) and rotations ({count}, 4); given {root.shape} and "
            f"{rotations.shape}."
        )
    if not (np.isfinite(root).all() and np.isfinite(rotations).all()):
        raise InputError(f"a pose of '{character.name}' must be finite.")
    return root, rotation.normalize(rotations)


def _find_order(goals: Sequence[Goal]) -> list[int]:
    """Where each goal is among those of the kernels: points, turns, looks."""
    ordered = [
        i
        for kind in (PositionGoal, OrientationGoal, LookAtGoal)
        for i, goal in enumerate(goals)
        if isinstance(goal, kind)
    ]
    return [ordered.index(i) for i in range(len(goals))]


def _read_more(asked: Asked, more: Mapping[str, np.ndarray | None]) -> Asked:
    """What is asked for of each pose, beside what is of all."""
    arrays = asked._asdict()
    for name, given in more.items():
        if given is not None:
            array, size = np.ascontiguousarray(given, float), arrays[name].shape[1:]
            if array.shape[1:] != size or not len(array) or not np.isfinite(array).all():
                shown = ", ".join(["N", *map(str, size)])
                raise InputError(f"targets of many poses are ({shown}), finite; given {array.shape}.")
            arrays[name] = rotation.normalize(array) if name == "goal_turns" else array
    sizes = {len(array) for array in arrays.values()} - {1}
    if len(sizes) > 1:
        raise InputError(f"many poses are of one number; given {sorted(sizes)}.")
    return type(asked)(**arrays)


def _stack(rows: list, width: int) -> np.ndarray:
    return np.array(rows, float).reshape(len(rows), width)


_LEAST = 8  # pieces that are worth a thread


def share_work(work: Callable[[int, int], None], size: int, threads: int | None) -> None:
    """Call work(begin, end) on parts of `size` pieces. threads: None, as many as there are cores."""
    count = max(1, min(threads or os.cpu_count() or 1, size // _LEAST)) if threads != 1 else 1
    if count == 1:
        return work(0, size)
    # Parts are smaller than a thread's share: some pieces take longer than others
    ends = [size * k // (4 * count) for k in range(4 * count + 1)]
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, begin, end) for begin, end in pairwise(ends)]:
            done.result()
    return None
