"""A body posed by goals, with its centre of mass first.   [balance, 4]

    poser = Poser(character, held="leftFoot")
    posed = poser.solve([Reach("rightHand", (0.4, 1.2, 0.3))], start, support=corners)

One foot is held: it stays where the start has it, to the last bit. What else stands is a goal that is `first`, and so
is the centre of mass, which stays inside the outline of the support. A solve begins where it is told, so that a motion
that is asked for frame by frame costs a few rounds a frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name
from poise.ik.figure import Figure
from poise.ik.goals import Goal, Look, Reach, Turn
from poise.ik.support import find_edges
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.ik.solve_kernels import GoalArrays, Room

METHODS = ("rows", "blocks", "null-space")  # in the order of the kernels' numbers
SPAN = 0.12  # of the height: m that a turn of a radian counts, about what it moves a hand or foot by
_HEAVY = 1e4  # weight of a goal beside a stiffness of 1: a damping of 1e-4 [balance, 6]
_ROUNDS, _SWEEPS, _STEP = 60, 8, 0.5  # at most; rad that an angle changes by in a round
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


class Poser:
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
        self.figure = Figure(character, held is None, stiffness or {}, comfort)
        self._mu = np.ones(1)

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
    ) -> Posed:
        """The pose that meets goals, from a root (3,) m and rotations (J, 4) on.

        support   (N, 2) m, x and z of corners that carry: the centre of mass stays inside their outline by `margin`
        center    m, where the centre of mass should be in x, y and z; None: anywhere. x and z are first
        enough    m, the error that is small enough
        """
        from poise.ik import solve_kernels as kernels
        from poise.ik.gauss_seidel_kernels import BLOCKS, NULL_SPACE, ROWS

        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        root, rotations = check_pose(self.character, root, rotations)
        figure = self.figure
        angles = figure.angles(rotations)
        local = rotation.to_matrix(rotations)
        asked = self._compile(goals, support, margin, center)
        R, p = figure.place(root, rotations)
        at = max(self.held, 0)
        room = figure.make_room(kernels.count_rows(asked), angles, local, p[at], R[at])
        told = np.zeros(4)
        number = {"rows": ROWS, "blocks": BLOCKS, "null-space": NULL_SPACE}[method]
        kernels.solve_pose(
            figure.widened(angles), asked, self.held, SPAN * self.character.height, rounds, _SWEEPS, _STEP, enough,
            number, self._mu, room, told,
        )  # fmt: skip
        found = rotations.copy()
        turns = figure.arrays.turns
        found[turns] = rotation.from_matrix(room.local[turns])
        found[0] = rotation.from_matrix(room.R[0])
        whole = room.under[0]
        return Posed(
            room.p[0].copy(), found, whole[1:] / whole[0], self._miss(goals, room), float(told[2]), int(told[0])
        )

    def _compile(
        self, goals: Sequence[Goal], support: np.ndarray | None, margin: float, center: Sequence[float | None]
    ) -> GoalArrays:
        if support is not None:
            support = np.asarray(support, float)
            if support.ndim != 2 or support.shape[1] != 2 or not len(support) or not np.isfinite(support).all():
                raise InputError(f"a support is corners (N, 2), finite, in metres; given shape {support.shape}.")
        edges = np.zeros((0, 3)) if support is None else find_edges(support, margin)
        return compile_goals(self.character, goals, edges, center)

    def _miss(self, goals: Sequence[Goal], room: Room) -> np.ndarray:
        """How far each goal is off."""
        misses = []
        for goal in goals:
            i = self.character.skeleton.index(goal.joint)
            R, p = room.R[i], room.p[i]
            if isinstance(goal, Reach):
                misses.append(float(np.linalg.norm(p + R @ goal.point - goal.place)))
            elif isinstance(goal, Turn):
                misses.append(float(rotation.angle(rotation.from_matrix(R), np.asarray(goal.turn))))
            else:
                way = np.asarray(goal.place) - p - R @ goal.point
                cosine = float(way @ R @ goal.along) / max(float(np.linalg.norm(way)), 1e-9)
                misses.append(float(np.arccos(np.clip(cosine, -1.0, 1.0))))
        return np.array(misses)


def compile_goals(
    character: Character, goals: Sequence[Goal], edges: np.ndarray, center: Sequence[float | None]
) -> GoalArrays:
    """Goals as arrays. See `Poser.solve`."""
    from poise.ik.solve_kernels import GoalArrays

    index = character.skeleton.index
    reach = [goal for goal in goals if isinstance(goal, Reach)]
    turn = [goal for goal in goals if isinstance(goal, Turn)]
    look = [goal for goal in goals if isinstance(goal, Look)]
    if len(reach) + len(turn) + len(look) < len(goals):
        odd = next(goal for goal in goals if not isinstance(goal, Goal))
        raise InputError(f"a goal is a Reach, a Turn or a Look; given a {type(odd).__name__}.")
    where = np.array([0.0 if value is None else float(value) for value in center])
    asked = np.array([0.0 if value is None else _HEAVY for value in center])
    return GoalArrays(
        edges.copy(), _HEAVY, where, asked, np.ones(3, bool),
        np.array([index(g.joint) for g in reach], np.int64), _stack([g.point for g in reach], 3),
        _stack([g.place for g in reach], 3), np.array([_HEAVY * g.weight for g in reach], float),
        np.array([g.first for g in reach], bool),
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


def _stack(rows: list, width: int) -> np.ndarray:
    return np.array(rows, float).reshape(len(rows), width)
