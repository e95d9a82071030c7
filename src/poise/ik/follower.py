"""A body that follows goals frame after frame, smoothly.   [balance, 4.3 and 4.5]

    goals = [PositionGoal("rightHand", place), PositionGoal("rightFoot", foot, first=True)]
    follower = PoseFollower(character, goals, root, rotations)
    motion = follower.follow(places=places, center=centers, center_weight=(1, 0.01, 1), held=feet, rest=angles)

`PoseSolver` finds one pose as well as it can; a `PoseFollower` finds as many as there are frames, each in a fixed
number of rounds from the last: a smooth function of what is asked for (see `follow_kernels`). The goals say what is
asked for and at what it begins; their places, turns and weights are then given for all frames at once, or rewritten in
place and asked for one by one:

    follower.places[1] = foot
    follower.step()

Goals and weights are in the goals' order, points first, then turns, then looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name
from poise.ik.goals import Goal, LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.model import IkModel
from poise.ik.pose_solver import SPAN, check_pose, compile_goals
from poise.spatial import rotation

_ROUNDS, _EDGES = 3, 12  # a frame; of a support at most
_NO_EDGE = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Followed:
    """Poses of frames.

    root, rotations  (F, 3) m and (F, J, 4)
    center           (F, 3) m, centre of mass
    first, second    (F,) m, the largest errors of what is first and of what is second
    """

    root: np.ndarray
    rotations: np.ndarray
    center: np.ndarray
    first: np.ndarray
    second: np.ndarray


class PoseFollower:
    """Poses one body frame after frame.

    goals            what is asked for; of the same kinds in all frames
    root, rotations  (3,) m and (J, 4): where it begins
    held             the joint whose body stays where it is, until another is held; None: the root moves freely
    given            joints whose rotations are told, not sought
    stiffness        joint or role -> how much harder than others it is turned
    rounds           a frame

    What is asked for now, rewritten in place for `step`:
    places, turns, looks   (P, 3) m, (T, 4) and (L, 3) m
    weights                (P + T + L,), 0: not now
    center, center_weight  (3,) m and (3,): x and z are first, y is second; 0, as it begins: anywhere
    edges                  (12, 3): the centre of mass has a x + b z <= c
    rest, comfort          (J, 3) rad, the comfortable pose, and how strong it is; (1,)
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
        from poise.ik.solver.follow_kernels import AskedFrames
        from poise.ik.solver.row_kernels import count_rows

        index, count = character.skeleton.index, len(character.skeleton)
        self.character, self.rounds = character, rounds
        self.figure = IkModel(character, held is None, stiffness or {}, 0.0)
        blank = np.tile(_NO_EDGE, (_EDGES, 1))
        compiled = compile_goals(character, goals, blank, (0.0, 0.0, 0.0))
        compiled.center_first[1] = False
        self._goals = compiled
        self._span = SPAN * character.height
        self._is_free = held is None
        self._held = np.array([-1 if held is None else index(held)], np.int64)
        ordered = [
            goal for kind in (PositionGoal, OrientationGoal, LookAtGoal) for goal in goals if isinstance(goal, kind)
        ]
        turns = [goal.turn for goal in goals if isinstance(goal, OrientationGoal)]
        rest = np.zeros((count, 3))
        arrays = self.figure.arrays
        angles = arrays.joint >= 0
        rest[arrays.joint[angles], arrays.which[angles]] = arrays.rest[angles]
        self._now = AskedFrames(
            compiled.point_goal[None].copy(), np.array(turns, float).reshape(1, len(turns), 4),
            compiled.look_goal[None].copy(), np.array([[goal.weight for goal in ordered]]),
            np.zeros((1, 3)), np.zeros((1, 3)), blank[None].copy(), self._held.copy(), rest[None],
            np.array([float(comfort)]), np.zeros((1, 0, 4)), np.zeros((0, 3)), np.zeros((0, 4)),
        )  # fmt: skip
        self._rows, self._count = count_rows(compiled), len(goals)
        self._turns, self._given = rotation.identity((count,)), np.zeros(0, np.int64)
        self.begin(root, rotations)
        self.give(given)

    def give(self, joints: Sequence[str]) -> None:
        """Have the rotations of these joints told from now on, and those of no others; they begin as they are."""
        self._given = np.array([self.character.skeleton.index(name) for name in joints], np.int64)
        self._is_given = np.zeros(len(self.character.skeleton), bool)
        self._is_given[self._given] = True
        if 0 in self._given:
            raise InputError(f"the root '{self.character.skeleton.names[0]}' goes with the goals: give another joint.")
        self._now = self._now._replace(given=self._turns[self._given][None].copy())
        self._arrays = self.figure.widened(self._room.angles)

    def load(self, loads: Mapping[str, tuple[float, Sequence[float]]]) -> None:
        """Have joints carry point masses: joint or role -> kg, and (3,) m in its frame. None but these."""
        self.figure.load(loads)

    def begin(self, root: np.ndarray, rotations: np.ndarray) -> None:
        """Go on from a pose."""
        root, rotations = check_pose(self.character, root, rotations)
        figure = self.figure
        angles, local = figure.angles(rotations), rotation.to_matrix(rotations)
        R, p = figure.place(root, rotations)
        at = max(int(self._held[0]), 0)
        self._room = figure.make_room(self._rows, self._count, angles, local, p[at], R[at])
        self._room.R[:], self._room.p[:] = R, p
        self._arrays, self._turns = figure.widened(angles), rotations.copy()
        self._now.given[0] = rotations[self._given]
        self._out = self._make_out(1)

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
        """(J, 3) rad, as they are: a pose that is comfortable at once."""
        return self._room.angles.copy()

    @property
    def given_turns(self) -> np.ndarray:
        return self._now.given[0]

    def hold(self, joint: str) -> None:
        """Hold another joint's body from the next frame on: where it is now."""
        if self._is_free:
            raise InputError("a follower whose root moves freely holds nothing: begin it with a joint held.")
        self._now.held[0] = self.character.skeleton.index(joint)

    def step(self, rounds: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The next frame, of what is asked for now: root (3,) and rotations (J, 4), written anew by the next step.

        The numbers in place are taken as they are: see that they are finite.
        """
        self._run(self._now, self._out, self.rounds if rounds is None else rounds)
        return self._out.root[0], self._out.rotations[0]

    @property
    def last(self) -> Followed:
        """The frame of the last step."""
        return Followed(*(array.copy() for array in self._out))

    def follow(self, **asked: Any) -> Followed:
        """All frames of what is asked for, by name as above, each with an axis of frames before its own.

        Besides, held (F,): names or numbers of joints; base_place (F, 3) m, base_turn (F, 4): where the held body is.
        What has no axis of frames, or one of length 1, holds for all; what is not named is as it is in place,
        where the last frame's is left.
        """
        frames, count = self._read(asked)
        out = self._make_out(count)
        self._run(frames, out, self.rounds)
        self._keep(frames, -1)
        return Followed(*out)

    def settle(self, rounds: int = 200, **asked: Any) -> Followed:
        """Come to rest on the first frame of what is asked for, so that a sequence begins without a jump."""
        frames, _ = self._read(asked)
        out = self._make_out(1)
        self._run(frames, out, rounds)
        self._keep(frames, 0)
        return Followed(*out)

    def _keep(self, frames: Any, row: int) -> None:
        """Leave in place what was asked for in a frame."""
        for now, array in zip(self._now, frames, strict=True):
            if len(now):
                now[0] = array[row]

    def _make_out(self, count: int) -> Any:
        from poise.ik.solver.follow_kernels import FollowedFrames as Out

        joints, none = len(self.character.skeleton), np.zeros
        return Out(none((count, 3)), none((count, joints, 4)), none((count, 3)), none(count), none(count))

    def _run(self, frames: Any, out: Any, rounds: int) -> None:
        from poise.ik.solver.follow_kernels import follow_frames

        follow_frames(
            self._arrays, self._goals, self._span, rounds, self._is_given, self._given, frames, self._room, self._held,
            self._turns, out,
        )  # fmt: skip

    def _read(self, asked: Mapping[str, Any]) -> tuple[Any, int]:
        """Arrays of frames, and how many."""
        from poise.ik.solver.follow_kernels import AskedFrames

        asked = {"given" if name == "given_turns" else name: value for name, value in asked.items()}
        frames = self._now._asdict()
        widths = {name: array.shape[1:] for name, array in frames.items()}
        if ("base_place" in asked) != ("base_turn" in asked):
            raise InputError("where the held body is takes both: base_place and base_turn.")
        for name, value in asked.items():
            if name not in frames:
                raise unknown_name("input of a follower", name, tuple(frames))
            if name == "held":
                frames[name] = self._read_held(value)
                continue
            array = np.asarray(value, float)
            if name == "edges":
                array = _pad_edges(array)
            if array.ndim == len(widths[name]):
                array = array[None]
            if array.shape[1:] != widths[name] or not len(array):
                raise InputError(
                    f"{name} of a follower is (F, {', '.join(map(str, widths[name]))}); given {np.shape(value)}."
                )
            if not np.isfinite(array).all():
                raise InputError(f"{name} of a follower must be finite.")
            if name in ("weights", "center_weight", "comfort") and array.min() < 0.0:
                raise InputError(f"{name} of a follower must not be negative; the least given is {array.min():g}.")
            frames[name] = rotation.normalize(array) if name in ("turns", "given", "base_turn") else array
        lengths = {name: len(array) for name, array in frames.items() if name in asked and len(array) > 1}
        if len(set(lengths.values())) > 1:
            raise InputError(f"inputs of a follower are of one number of frames; given {lengths}.")
        if np.min(frames["comfort"]) <= 0.0:
            raise InputError("the comfort of a follower is more than 0: 1 is usual, 0.1 is slight.")
        made = AskedFrames(*(np.ascontiguousarray(array) for array in frames.values()))
        return made, max(lengths.values(), default=1)

    def _read_held(self, value: Any) -> np.ndarray:
        if self._is_free:
            raise InputError("a follower whose root moves freely holds nothing: begin it with a joint held.")
        index, count = self.character.skeleton.index, len(self.character.skeleton)
        names = [value] if isinstance(value, str) else list(value)
        held = np.array([index(one) if isinstance(one, str) else int(one) for one in names], np.int64)
        if not len(held) or held.min() < 0 or held.max() >= count:
            raise InputError(f"held joints are names, or numbers from 0 to {count - 1}.")
        return held


def _pad_edges(edges: np.ndarray) -> np.ndarray:
    """Edges (..., K, 3) as many as there is room for."""
    if edges.ndim not in (2, 3) or edges.shape[-1] != 3 or edges.shape[-2] > _EDGES:
        raise InputError(f"edges of a support are (F, K, 3), {_EDGES} at most; given {edges.shape}.")
    more = np.broadcast_to(_NO_EDGE, (*edges.shape[:-2], _EDGES - edges.shape[-2], 3))
    return np.concatenate([edges, more], axis=-2)
