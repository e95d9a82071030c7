"""A body posed by goals, with its centre of mass first.   [balance, 4]

    solver = PoseSolver(character, held="leftFoot")
    found = solver.solve([PositionGoal("rightHand", (0.4, 1.2, 0.3))], root, rotations, support=corners)

One foot is held: it stays where the given pose has it, to the last bit. Other planted feet are primary goals
(`first=True`), and so is the centre of mass, which stays inside the support polygon. A solve begins at the given pose,
so that a motion that is solved frame by frame takes a few iterations per frame.

If goals are not met from there, other starts are tried: a raised arm, or a knee that is bent the other way round an
obstacle of its own ranges, is another optimum. Angles are those of `body/joints.py`, in degrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name
from poise.ik.goals import Goal, LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.model import CharacterModel, build_system, build_workspace
from poise.ik.solver.records import (
    BLOCKS,
    NULL_SPACE,
    ROWS,
    IkGoals,
    PoseSearch,
    QuadraticProblem,
    SolverReport,
    SolverSettings,
)
from poise.ik.support_polygon import find_edges
from poise.spatial import rotation

_X, _Y, _Z = 0, 1, 2
_TRUNK = ("spine", "chest", "upperChest")
_BOTH = ("left", "right")
# (stem, axis, degrees): stems stand for both sides, "trunk" for the trunk's joints in equal parts
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


def find_starts(model: CharacterModel) -> np.ndarray:
    """Return (S, J, 3) rad: angles of all joints, in their ranges."""
    character = model.character
    roles, index = character.skeleton.roles, character.skeleton.index
    out = np.zeros((len(_STARTS), len(character.skeleton), 3))
    trunk = [role for role in _TRUNK if role in roles]
    for row, start in zip(out, _STARTS, strict=True):
        for stem, axis, degrees in start:
            named = trunk if stem == "trunk" else [side + stem for side in _BOTH if side + stem in roles]
            for role in named:
                count = len(trunk) if stem == "trunk" else 1
                sign = -1.0 if axis == _Z and role.startswith("right") else 1.0
                row[index(role), axis] = sign * np.radians(degrees) / count
        for i, name in enumerate(character.skeleton.names):
            if model.arrays.has_angles[i]:
                ends = character.limits[name]
                row[i] = np.clip(row[i], ends.lower, ends.upper)
    return out


METHODS = {"rows": ROWS, "blocks": BLOCKS, "null-space": NULL_SPACE}
_HEAVY = 1e4  # weight of a goal compared with a stiffness of 1: a damping of 1e-4 [balance, 6]
_ROUNDS, _SWEEPS, _STEP = 60, 24, 0.5  # at most; rad that an angle changes by per round
_ENOUGH = 1e-4  # m


@dataclass(frozen=True, eq=False)
class PoseSolution:
    """A pose that was found, and its errors.

    root, rotations  (3,) m and (J, 4)
    center           (3,) m, centre of mass
    misses           (G,) m or rad, the error of each goal
    first            m, the largest error of primary goals: planted feet, and the centre of mass outside its support
    rounds           iterations that it took
    """

    root: np.ndarray
    rotations: np.ndarray
    center: np.ndarray
    misses: np.ndarray
    first: float
    rounds: int


class PoseOptions(TypedDict, total=False):
    """How a pose is looked for.

    center        m, target of the centre of mass in x, y and z; None: anywhere
    center_first  whether that is a primary goal (True)
    method        "blocks", or the paper's "rows" or "null-space"
    enough        m, the error that is small enough (1e-4)
    rounds        iterations at most (60)
    tries         other starts at most, if goals are not met from the given pose: a crouch, a bow, a step back (0). The
                  best pose is taken, which may be far from the given one
    """

    center: Sequence[float | None]
    center_first: bool
    method: str
    enough: float
    rounds: int
    tries: int


class PoseSolver:
    """Poses one body, again and again.

    held       the joint whose body stays where it is; None: the root moves freely
    stiffness  joint or role -> resistance to rotation: 2, twice that of others; inf: it does not turn
    comfort    fraction of the way to the middle pose, that free angles go per round
    """

    def __init__(
        self,
        character: Character,
        held: str | None = "leftFoot",
        stiffness: Mapping[str, float] | None = None,
        comfort: float = 0.02,
    ):
        self.character, skeleton = character, character.skeleton
        self.base = -1 if held is None else skeleton.index(held)
        self.model = CharacterModel(character, held is None, stiffness or {}, comfort)
        self.starts = find_starts(self.model)

    def load(self, loads: Mapping[str, tuple[float, Sequence[float]]]) -> None:
        """Add point masses to joints, and remove those of before: joint or role -> kg, and (3,) m in its frame."""
        self.model.load(loads)

    def solve(
        self,
        goals: Sequence[Goal],
        root: np.ndarray,
        rotations: np.ndarray,
        support: np.ndarray | None = None,
        margin: float = 0.0,
        **options: Unpack[PoseOptions],
    ) -> PoseSolution:
        """Return the pose that meets goals, from a root (3,) m and rotations (J, 4) on.

        support  (N, 2) m, x and z of points of contact: the centre of mass stays inside their hull by `margin`
        options  see `PoseOptions`
        """
        root, rotations = check_pose(self.character, root, rotations)
        return self.prepare(goals, support, margin, **options).solve_from(root, rotations)

    def prepare(
        self,
        goals: Sequence[Goal],
        support: np.ndarray | None = None,
        margin: float = 0.0,
        **options: Unpack[PoseOptions],
    ) -> PoseProblem:
        """Return goals that are solved again and again with other numbers: see `PoseProblem`."""
        edges = np.zeros((0, 3)) if support is None else find_edges(_check_support(support), margin)
        return PoseProblem(self, goals, edges, options)


class PoseProblem:
    """Goals that are read once, whose numbers may then be rewritten in place.

    places, turns, looks  (P, 3) m, (T, 4) and (L, 3) m: the targets, in the order of the goals of each kind
    center                (3,) m
    """

    def __init__(self, solver: PoseSolver, goals: Sequence[Goal], edges: np.ndarray, options: PoseOptions):
        from poise.ik.solver.solve_kernels import search_pose

        method, model = options.get("method", "blocks"), solver.model.arrays
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        self._goals = compile_goals(solver.character, goals, edges, options.get("center", (None, None, None)))
        self._goals.center_is_primary[:] = options.get("center_first", True)
        self.places, self.turns = self._goals.point_target, self._goals.orientation_target
        self.looks, self.center = self._goals.look_target, self._goals.center
        self._order = _find_order(goals)
        self._settings = SolverSettings(
            max_iterations=options.get("rounds", _ROUNDS), max_sweeps=_SWEEPS, max_step=_STEP,
            tolerance=options.get("enough", _ENOUGH), method=METHODS[method],
        )  # fmt: skip
        self._model = model.replace(low=model.low.copy(), high=model.high.copy())
        self._work = build_workspace(model, solver.base, len(goals))
        self._system = build_system(model, self._goals)
        rows, starts = self._system.rows, np.ascontiguousarray(solver.starts[: options.get("tries", 0)])
        self._search = PoseSearch(
            joints=model.joints, dofs=model.dofs, starts=len(starts), goals=len(goals), pose_size=self._work.pose_size,
            start_angles=starts, low=model.low, high=model.high,
        )  # fmt: skip
        self._quadratic = QuadraticProblem(rows=rows, dofs=model.dofs, lines=rows + model.dofs, A=self._system.J)
        self._report, self._kernel = SolverReport(), search_pose

    def solve(self, root: np.ndarray, rotations: np.ndarray) -> PoseSolution:
        """Return the pose that meets the goals as they are now, from a root (3,) m and rotations (J, 4) on.

        The numbers are not checked: they must be finite.
        """
        return self.solve_from(root, rotation.normalize(rotations))

    def solve_from(self, root: np.ndarray, rotations: np.ndarray) -> PoseSolution:
        """Like `solve`, from rotations that are normalized."""
        search = self._search
        search.root[:], search.rotations[:] = root, rotations
        self._kernel(
            self._model, self._goals, self._work, self._system, self._quadratic, self._settings, search, self._report
        )
        return PoseSolution(
            search.found_root.copy(), search.found_rotations.copy(), search.center.copy(), search.errors[self._order],
            search.primary_error, search.iterations,
        )  # fmt: skip


def _check_support(support: np.ndarray) -> np.ndarray:
    support = np.asarray(support, float)
    if support.ndim != 2 or support.shape[1] != 2 or not len(support) or not np.isfinite(support).all():
        raise InputError(f"support must be points (N, 2), finite, in metres; got shape {support.shape}.")
    return support


def compile_goals(
    character: Character, goals: Sequence[Goal], edges: np.ndarray, center: Sequence[float | None]
) -> IkGoals:
    """Return goals as arrays. See `PoseSolver.solve`."""
    points = [goal for goal in goals if isinstance(goal, PositionGoal)]
    orientations = [goal for goal in goals if isinstance(goal, OrientationGoal)]
    looks = [goal for goal in goals if isinstance(goal, LookAtGoal)]
    if len(points) + len(orientations) + len(looks) < len(goals):
        odd = next(goal for goal in goals if not isinstance(goal, Goal))
        raise InputError(
            f"a goal must be a PositionGoal, an OrientationGoal or a LookAtGoal; got a {type(odd).__name__}."
        )

    def read(goals: Sequence[Goal], name: str, *shape: int, kind: type = float) -> np.ndarray:
        return np.array([getattr(goal, name) for goal in goals], kind).reshape(len(goals), *shape)

    def find_bodies(goals: Sequence[Goal]) -> np.ndarray:
        return np.array([character.skeleton.index(goal.joint) for goal in goals], np.int64)

    targets = read(orientations, "turn", 4)
    return IkGoals(
        edge_count=len(edges), point_count=len(points), orientation_count=len(orientations), look_count=len(looks),
        edges=np.array(edges, float), edge_weight=_HEAVY,
        center=np.array([0.0 if value is None else float(value) for value in center]),
        center_weight=np.array([0.0 if value is None else _HEAVY for value in center]),
        center_is_primary=np.ones(3, bool),
        point_body=find_bodies(points), point_offset=read(points, "point", 3), point_target=read(points, "place", 3),
        point_weight=_HEAVY * read(points, "weight"), point_is_primary=read(points, "first", kind=bool),
        point_is_floor=read(points, "above", kind=bool),
        orientation_body=find_bodies(orientations), orientation_target=targets,
        orientation_matrix=rotation.to_matrix(targets), orientation_weight=_HEAVY * read(orientations, "weight"),
        orientation_is_primary=read(orientations, "first", kind=bool),
        look_body=find_bodies(looks), look_eye=read(looks, "point", 3), look_along=read(looks, "along", 3),
        look_target=read(looks, "place", 3), look_weight=_HEAVY * read(looks, "weight"),
    )  # fmt: skip


def check_pose(character: Character, root: np.ndarray, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a pose of a character as arrays (3,) and (J, 4)."""
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
    """Return the index of each goal among those of the kernels: points, orientations, looks."""
    ordered = [
        i
        for kind in (PositionGoal, OrientationGoal, LookAtGoal)
        for i, goal in enumerate(goals)
        if isinstance(goal, kind)
    ]
    return [ordered.index(i) for i in range(len(goals))]
