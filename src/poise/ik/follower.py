"""A body that follows goals frame after frame, smoothly.   [balance, 4.3 and 4.5]

    goals = [PositionGoal("rightHand", place), PositionGoal("rightFoot", foot, first=True)]
    follower = PoseFollower(character, goals, root, rotations)
    motion = follower.follow(places=places, center=centers, center_weight=(1, 0.01, 1), held=feet, rest=angles)

`PoseSolver` finds one pose as well as it can; a `PoseFollower` finds one per frame, each in a fixed number of rounds
from the last: a smooth function of the inputs (see `ik/solver/follow_kernels.py`). The goals state what is followed and
where it begins; their positions, orientations and weights are then given for all frames at once, or rewritten in place
and followed one frame at a time:

    follower.places[1] = foot
    follower.step()

Goals and weights are in the goals' order, points first, then orientations, then looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name
from poise.ik.goals import Goal, LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.model import CharacterModel, build_system, build_workspace
from poise.ik.pose_solver import check_pose, compile_goals
from poise.ik.solver.records import FollowedPoses, GoalFrames, Prescribed
from poise.spatial import rotation

_ROUNDS, _EDGES = 3, 12  # per frame; of a support at most
_NO_EDGE = (0.0, 0.0, 1.0)
_INPUTS = (
    "places", "turns", "looks", "weights", "center", "center_weight", "edges", "held", "rest", "comfort",
    "given_turns", "base_place", "base_turn",
)  # fmt: skip
_FIELDS = {"given_turns": "given"}  # inputs that have another name in `GoalFrames`


class PoseFollower:
    """Poses one body frame after frame.

    goals            what is followed; of the same kinds in all frames
    root, rotations  (3,) m and (J, 4), the pose before the first frame
    held             the joint whose body stays where it is, until another is held; None: the root moves freely
    given            joints whose rotations are prescribed
    stiffness        joint or role -> resistance to rotation, 1 being usual
    rounds           per frame

    Inputs of the next frame, rewritten in place for `step`:
    places, turns, looks   (P, 3) m, (T, 4) and (L, 3) m
    weights                (P + T + L,), 0: not now
    center, center_weight  (3,) m and (3,): x and z are primary, y is not; 0, as it begins: anywhere
    edges                  (12, 3): the centre of mass has a x + b z <= c
    rest, comfort          (J, 3) rad, the comfortable pose, and its weight; (1,)
    given_turns            (G, 4)
    """

    def __init__(
        self,
        character: Character,
        goals: Sequence[Goal],
        root: np.ndarray,
        rotations: np.ndarray,
        *,
        held: str | None = "leftFoot",
        given: Sequence[str] = (),
        stiffness: Mapping[str, float] | None = None,
        comfort: float = 1.0,
        rounds: int = _ROUNDS,
    ):
        index, count = character.skeleton.index, len(character.skeleton)
        self.character, self.rounds = character, rounds
        self.model = CharacterModel(character, held is None, stiffness or {}, 0.0)
        blank = np.tile(_NO_EDGE, (_EDGES, 1))
        self._goals = goal_arrays = compile_goals(character, goals, blank, (0.0, 0.0, 0.0))
        goal_arrays.center_is_primary[1] = False
        self._is_free, base = held is None, -1 if held is None else index(held)
        ordered = [
            goal for kind in (PositionGoal, OrientationGoal, LookAtGoal) for goal in goals if isinstance(goal, kind)
        ]
        rest = np.zeros((count, 3))
        arrays = self.model.arrays
        angles = arrays.joint >= 0
        rest[arrays.joint[angles], arrays.axis[angles]] = arrays.rest[angles]
        self._now = GoalFrames(
            frames=1, point_count=goal_arrays.point_count, orientation_count=goal_arrays.orientation_count,
            look_count=goal_arrays.look_count, goal_count=len(goals), edge_count=_EDGES, joints=count,
            places=goal_arrays.point_target[None].copy(), turns=goal_arrays.orientation_target[None].copy(),
            looks=goal_arrays.look_target[None].copy(), weights=np.array([[goal.weight for goal in ordered]], float),
            edges=blank[None].copy(), held=np.array([base]), rest=rest[None], comfort=np.array([float(comfort)]),
        )  # fmt: skip
        self._work = build_workspace(arrays, base, len(goals))
        self._prescribed = Prescribed(joints=count)
        self.begin(root, rotations)
        self.give(given)

    def give(self, joints: Sequence[str]) -> None:
        """Prescribe the rotations of these joints from now on, and of no others; they begin as they are."""
        given = np.array([self.character.skeleton.index(name) for name in joints], np.int64)
        if 0 in given:
            root = self.character.skeleton.names[0]
            raise InputError(f"the root '{root}' follows the goals and cannot be given. Give other joints.")
        rotations, is_given = self._prescribed.rotations, np.zeros(len(self.character.skeleton), bool)
        is_given[given] = True
        self._prescribed = Prescribed(
            joints=len(rotations), count=len(given), joint=given, is_prescribed=is_given, rotations=rotations
        )
        self._now = self._now.replace(prescribed_count=len(given), given=rotations[given][None].copy())
        self._model = self.model.widened(self._work.angles)

    def load(self, loads: Mapping[str, tuple[float, Sequence[float]]]) -> None:
        """Add point masses to joints, and remove those of before: joint or role -> kg, and (3,) m in its frame."""
        self.model.load(loads)

    def begin(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Continue from a pose."""
        root, rotations = check_pose(self.character, root, rotations)
        self._work = self.model.begin(root, rotations, self._work.base, self._work.bodies - 1)
        self._system = build_system(self.model.arrays, self._goals)
        self._model = self.model.widened(self._work.angles)
        self._prescribed.rotations[:] = rotations
        self._now.given[0] = rotations[self._prescribed.joint]
        self._out = self._make_out(1)

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all numbers that the next frame depends on."""
        return {name: array.copy() for name, array in self._list_state().items()} | {"base": np.array(self._work.base)}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Continue from a saved state, of a follower with the same goals."""
        for name, array in self._list_state().items():
            array[...] = saved[name]
        self._work.base = int(saved["base"])

    def _list_state(self) -> dict[str, np.ndarray]:
        work, system = self._work, self._system
        state: dict[str, np.ndarray] = {
            "pose": work.pose,
            "R": work.R,
            "p": work.p,
            "rotations": self._prescribed.rotations,
        }
        state |= {"locked": system.locked, "pushing": system.pushing}
        state |= {"low": self._model.low, "high": self._model.high}
        return state | {f"now_{name}": array for name, array in self._now.arrays.items()}

    @property
    def root(self) -> np.ndarray:
        """Position of the root in the last frame, (3,) m."""
        return self._work.p[0]

    @property
    def places(self) -> np.ndarray:
        return self._now.places[0]

    @property
    def turns(self) -> np.ndarray:
        return self._now.turns[0]

    @property
    def looks(self) -> np.ndarray:
        return self._now.looks[0]

    @property
    def weights(self) -> np.ndarray:
        return self._now.weights[0]

    @property
    def center(self) -> np.ndarray:
        return self._now.center[0]

    @property
    def center_weight(self) -> np.ndarray:
        return self._now.center_weight[0]

    @property
    def edges(self) -> np.ndarray:
        return self._now.edges[0]

    @property
    def rest(self) -> np.ndarray:
        return self._now.rest[0]

    @property
    def comfort(self) -> np.ndarray:
        return self._now.comfort

    @property
    def angles(self) -> np.ndarray:
        """Angles of the present pose, (J, 3) rad: as `rest`, they make it comfortable at once."""
        return self._work.angles.copy()

    @property
    def given_turns(self) -> np.ndarray:
        return self._now.given[0]

    def hold(self, joint: str) -> None:
        """Hold another joint's body from the next frame on, where it is then."""
        if self._is_free:
            raise InputError("a follower whose root moves freely cannot hold a joint. Begin it with held=JOINT.")
        self._now.held[0] = self.character.skeleton.index(joint)

    def step(self, rounds: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the next frame, of the inputs in place: root (3,) and rotations (J, 4), overwritten by the next step.

        The inputs are not checked: they must be finite.
        """
        self._run(self._now, self._out, self.rounds if rounds is None else rounds)
        return self._out.root[0], self._out.rotations[0]

    @property
    def last(self) -> FollowedPoses:
        """The frame of the last step."""
        return self._out.replace(**{name: array.copy() for name, array in self._out.arrays.items()})

    def follow(self, **asked: Any) -> FollowedPoses:
        """Return the poses of all frames. Inputs are named as above, each with an axis of frames before its own.

        There are three more: held (F,), names or numbers of joints; base_place (F, 3) m and base_turn (F, 4), the pose
        of the held body. An input without an axis of frames, or with one of length 1, holds for all frames; an input
        that is not given is as it is in place. The last frame's inputs are left in place.
        """
        frames = self._read(asked)
        out = self._make_out(frames.frames)
        self._run(frames, out, self.rounds)
        self._keep(frames)
        return out

    def settle(self, rounds: int = 200, **asked: Any) -> FollowedPoses:
        """Come to rest on the first frame of the inputs, so that a sequence begins without a jump."""
        frames, out = self._read(asked, first_only=True), self._make_out(1)
        self._run(frames, out, rounds)
        self._keep(frames)
        return out

    def _keep(self, frames: GoalFrames) -> None:
        """Leave the last frame's inputs in place."""
        for name, array in self._now.arrays.items():
            array[0] = frames.arrays[name][-1]

    def _make_out(self, count: int) -> FollowedPoses:
        return FollowedPoses(frames=count, joints=len(self.character.skeleton))

    def _run(self, frames: GoalFrames, out: FollowedPoses, rounds: int) -> None:
        from poise.ik.solver.follow_kernels import follow_frames

        follow_frames(
            self._model, self._goals, self._work, self._system, self._prescribed, frames, rounds, out
        )  # fmt: skip

    def _read(self, asked: Mapping[str, Any], first_only: bool = False) -> GoalFrames:
        """Return the inputs of all frames, or of the first one."""
        if ("base_place" in asked) != ("base_turn" in asked):
            raise InputError("base_place and base_turn must be given together.")
        given = {_FIELDS.get(name, name): self._read_input(name, value) for name, value in asked.items()}
        lengths = {name: len(array) for name, array in given.items() if len(array) > 1}
        if len(set(lengths.values())) > 1:
            raise InputError(f"inputs of a follower must have the same number of frames; got {lengths}.")
        inputs = self._now.arrays | given
        if np.min(inputs["comfort"]) <= 0.0:
            raise InputError("the comfort of a follower must be more than 0: 1 is usual, 0.1 is slight.")
        count = 1 if first_only else max(lengths.values(), default=1)
        arrays = {
            name: np.ascontiguousarray(np.broadcast_to(array[:count], (count, *array.shape[1:])))
            for name, array in inputs.items()
        }
        return self._now.replace(frames=count, has_base=int("base_place" in asked), **arrays)

    def _read_input(self, name: str, value: Any) -> np.ndarray:
        """Return one input as an array with an axis of frames."""
        if name not in _INPUTS:
            raise unknown_name("input of a follower", name, _INPUTS)
        if name == "held":
            return self._read_held(value)
        array, shape = np.asarray(value, float), self._now.arrays[_FIELDS.get(name, name)].shape[1:]
        if name == "edges":
            array = _pad_edges(array)
        if array.ndim == len(shape):
            array = array[None]
        if array.shape[1:] != shape or not len(array):
            raise InputError(f"{name} of a follower must be (F, {', '.join(map(str, shape))}); got {np.shape(value)}.")
        if not np.isfinite(array).all():
            raise InputError(f"{name} of a follower must be finite.")
        if name in ("weights", "center_weight", "comfort") and array.min() < 0.0:
            raise InputError(f"{name} of a follower must not be negative; the least is {array.min():g}.")
        return rotation.normalize(array) if name in ("turns", "given_turns", "base_turn") else array

    def _read_held(self, value: Any) -> np.ndarray:
        if self._is_free:
            raise InputError("a follower whose root moves freely cannot hold a joint. Begin it with held=JOINT.")
        index, count = self.character.skeleton.index, len(self.character.skeleton)
        names = [value] if isinstance(value, str) else list(value)
        held = np.array([index(one) if isinstance(one, str) else int(one) for one in names], np.int64)
        if not len(held) or held.min() < 0 or held.max() >= count:
            raise InputError(f"held joints must be names, or numbers from 0 to {count - 1}.")
        return held


def _pad_edges(edges: np.ndarray) -> np.ndarray:
    """Return edges (..., K, 3) as many as the rows that there are."""
    if edges.ndim not in (2, 3) or edges.shape[-1] != 3 or edges.shape[-2] > _EDGES:
        raise InputError(f"edges of a support must be (F, K, 3), {_EDGES} at most; got {edges.shape}.")
    more = np.broadcast_to(_NO_EDGE, (*edges.shape[:-2], _EDGES - edges.shape[-2], 3))
    return np.concatenate([edges, more], axis=-2)
