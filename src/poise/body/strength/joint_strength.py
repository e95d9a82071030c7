"""Joint strength: the torque range of each degree of freedom at any angle and velocity (O2).   [strength, 5.2]

    tau_min = f2(theta, thetadot) <= 0 <= tau_max = f1(theta, thetadot)             [strength, eq 5]

Each way is a smooth curve (`kernels.py`) whose numbers come from cited measurements (`tables.py`,
`curves.py`), a table over angle and speed of the user's own, or one number. It is what muscles can do at will;
what ligaments do at the end of a joint's range is not in it (`drivers/joint_limits/limit_torques.py`). The bounds of a
joint's axes stand apart: that a muscle which bends and turns cannot do both with all its strength (torque ellipses) is
left out, and so is what muscles that pass two joints have to do with the other one's angle.

A degree of freedom is an anatomical axis of a joint (`body/joints.py`), joints in order. Its angle is that of
`JointLimits.angles`; a rate or a torque about it is taken about the zero pose's axis after the swing: for a limb y lies
along it, x and z across. `find_state` gives the three for a pose.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.strength.curves import find_axes, find_curves
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.kinds import checked

# Of an adult's static strength, that the paper's figure has: it gives no numbers, only what its figure can lift. At the
# shoulder this is between what holds the arm with 1 kg (16 N m) and with 3 kg (27 N m) straight out.   [strength, 6]
WEAK = 0.35
_LETTERS = "xyz"
# N m, rad and rad/s, that tables and strengths have at most, and times the usual: far beyond anybody, and nothing
# overflows.
_MOST, _MOST_FACTOR = 1e12, 1e6


@dataclass(frozen=True, eq=False)
class TorqueTable(Portable):
    """Torque over angle and rate, linear between, its edge beyond.

    angles  (A,) rad, rising;  rates (S,) rad/s, rising: positive where the angle grows
    torque  (A, S) N m, all of one sign
    """

    angles: np.ndarray
    rates: np.ndarray
    torque: np.ndarray

    def __post_init__(self) -> None:
        for name in ("angles", "rates", "torque"):
            try:
                array = np.array(getattr(self, name), float)
            except (TypeError, ValueError) as error:
                raise InputError(f"the {name} of a torque table must be numbers, all rows as long.") from error
            if not np.all(np.isfinite(array)):
                raise InputError(f"the {name} of a torque table have gaps; give a finite number everywhere.")
            if np.any(np.abs(array) > _MOST):
                raise InputError(
                    f"the {name} of a torque table reach {np.abs(array).max():g}; they are at most {_MOST:g}."
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name in ("angles", "rates"):
            array = getattr(self, name)
            if array.ndim != 1 or not len(array) or np.any(np.diff(array) <= 0.0):
                raise InputError(f"the {name} of a torque table must be a list that rises: {_shorten(array)} does not.")
        if self.torque.shape != (len(self.angles), len(self.rates)):
            raise InputError(
                f"a torque table of {len(self.angles)} angles and {len(self.rates)} rates needs as many rows and "
                f"columns; its torques are {' x '.join(map(str, self.torque.shape))}."
            )


class TorqueBound(NamedTuple):
    """What somebody says of a degree of freedom: the joint or role, x, y or z, and both bounds where they are given."""

    joint: str
    axis: str
    lower: float | TorqueTable | None = None
    upper: float | TorqueTable | None = None


class AxisArrays(NamedTuple):
    """Axes of n degrees of freedom, as `kernels.py` reads them.

    joints   (n,) joint of each, letters (n,) 0, 1, 2 for x, y, z
    frames   (n, 2, 4) P and C of `body/joints.py`;  ranges (n, 2, 3) rad, lower and upper angles of the joint
    """

    joints: np.ndarray
    letters: np.ndarray
    frames: np.ndarray
    ranges: np.ndarray


class MuscleArrays(NamedTuple):
    """Strength of n degrees of freedom, as `kernels.py` reads it: see `fill_range` and `fill_state`."""

    curves: np.ndarray
    tables: np.ndarray
    numbers: np.ndarray
    axes: AxisArrays

    def pick(self, rows: np.ndarray) -> MuscleArrays:
        """Return the arrays of some degrees of freedom, by index or mask."""
        axes = AxisArrays(*(each[rows] for each in self.axes))
        return MuscleArrays(self.curves[rows], self.tables[rows], self.numbers, axes)


@dataclass(frozen=True, eq=False)
class JointStrength(Portable):
    """The strength of n degrees of freedom.

    joints   (n,) index of each one's joint in the skeleton
    axes     n letters, the anatomical axis of each
    names    n names of their joints;  labels: n roles of theirs, or names where there is none
    curves   (n, 2, 8) of the lower and the upper torque, rows of `kernels.py`
    frames   (n, 2, 4) P and C of `body/joints.py`;  ranges (n, 2, 3) rad, the joint's lower and upper angles
    tables   (row, 0 for lower or 1 for upper) -> a table that stands for the curve
    """

    joints: np.ndarray
    axes: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...]
    curves: np.ndarray
    frames: np.ndarray
    ranges: np.ndarray
    tables: Mapping[tuple[int, int], TorqueTable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.axes)
        shapes = {"joints": (n,), "curves": (n, 2, 8), "frames": (n, 2, 4), "ranges": (n, 2, 3)}
        for name, shape in shapes.items():
            array = np.array(getattr(self, name), np.int64 if name == "joints" else float)
            if array.shape != shape:
                raise InputError(f"the {name} of {n} degrees of freedom must be {shape}; given {array.shape}.")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name in ("axes", "names", "labels"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))
        for axis in self.axes:
            if axis not in _LETTERS or len(axis) != 1:
                raise unknown_name("axis", axis, _LETTERS)
        if not np.all(np.isfinite(self.curves)):
            raise InputError("strengths must be finite.")
        strength, p, q, stretched = (self.curves[..., k] for k in (0, 3, 4, 5))
        if np.any(strength > _MOST):
            raise InputError(f"a strength is {strength.max():g} N m; it is at most {_MOST:g}.")
        if np.any(strength < 0.0) or np.any(q < 0.0) or np.any(q < p) or np.any(stretched < 1.0):
            raise InputError("a strength is 0 or more, and falls with speed.")
        for (row, way), table in self.tables.items():
            _check_sign(self.labels[row], self.axes[row], way, table.torque)

    @staticmethod
    @checked
    def from_character(character: Character, scale: float | Mapping[str, float] = 1.0) -> JointStrength:
        """The strength of a body of its sex, age, mass and stature.

        scale  of all joints, or of those that are named: 0.5 half as strong, 0 none at all
        """
        axes = find_axes(character)
        skeleton = character.skeleton
        muscles = JointStrength(
            np.array([axis.joint for axis in axes], np.int64),
            tuple(_LETTERS[axis.letter] for axis in axes),
            tuple(skeleton.names[axis.joint] for axis in axes),
            tuple(skeleton.labels[axis.joint] for axis in axes),
            find_curves(character, axes),
            np.array([axis.frame for axis in axes]).reshape(len(axes), 2, 4),
            np.array([axis.ranges for axis in axes]).reshape(len(axes), 2, 3),
        )
        return muscles.scaled(scale)

    @staticmethod
    @checked
    def weak(character: Character, share: float = WEAK) -> JointStrength:
        """The paper's weak figure: a share of static strength, the same at every angle and speed.   [strength, 6]"""
        return JointStrength.from_character(character).flat().scaled(share)

    @checked
    def scaled(self, scale: float | Mapping[str, float]) -> JointStrength:
        """As strong as this by a factor: of all joints, or of those that are named by joint or role."""
        factors = np.ones(len(self))
        if isinstance(scale, Mapping):
            for joint, factor in scale.items():
                factors[self.rows(joint)] = _check_factor(factor, f"the strength of '{joint}'")
        else:
            factors[:] = _check_factor(scale, "a strength")
        curves = self.curves.copy()
        curves[..., 0] *= factors[:, None]
        tables = {
            key: TorqueTable(table.angles, table.rates, factors[key[0]] * table.torque)
            for key, table in self.tables.items()
        }
        return replace(self, curves=curves, tables=tables)

    def flat(self) -> JointStrength:
        """Each way as strong as it is at most without moving, at every angle and speed."""
        curves = np.zeros_like(self.curves)
        curves[..., 0], curves[..., 5], curves[..., 6:] = self.peaks, 1.0, self.curves[..., 6:]
        return replace(self, curves=curves, tables={})

    def with_bounds(self, bounds: Iterable[TorqueBound]) -> JointStrength:
        """With other bounds for some degrees of freedom; what is not given stays.

        A number is one torque at every angle and speed. The lower is 0 or less, the upper 0 or more.
        """
        curves, tables = self.curves.copy(), dict(self.tables)
        for bound in bounds:
            row = self.row(bound.joint, bound.axis)
            label, axis = self.labels[row], self.axes[row]
            for way, value in enumerate((bound.lower, bound.upper)):
                if isinstance(value, TorqueTable):
                    _check_sign(label, axis, way, value.torque)
                    tables[row, way] = value
                elif value is not None:
                    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                        raise InputError(f"a bound of {label} about {axis} must be a finite torque in N m or a table.")
                    _check_sign(label, axis, way, np.array(value))
                    tables.pop((row, way), None)
                    curves[row, way] = (abs(value), 0.0, 0.0, 0.0, 0.0, 1.0, *self.curves[row, way, 6:])
        return replace(self, curves=curves, tables=tables)

    def __len__(self) -> int:
        """How many degrees of freedom."""
        return len(self.axes)

    def rows(self, joint: str) -> list[int]:
        """The rows of a joint, by its name or role."""
        found = [i for i in range(len(self)) if joint in (self.names[i], self.labels[i])]
        if not found:
            raise unknown_name("joint", joint, dict.fromkeys(self.labels), "the degrees of freedom")
        return found

    def row(self, joint: str, axis: str) -> int:
        """The row of a joint's axis: x, y or z."""
        found = {self.axes[i]: i for i in self.rows(joint)}
        if axis not in found:
            raise unknown_name("axis", axis, found, f"those that {joint} turns about")
        return found[axis]

    @cached_property
    def peaks(self) -> np.ndarray:
        """(n, 2) N m, at least 0: the most that each way has, at rest, at its best angle; read-only."""
        peaks = self.curves[..., 0].copy()
        for key, table in self.tables.items():
            at_rest = [np.interp(0.0, table.rates, row) for row in table.torque]
            peaks[key] = np.max(np.abs(at_rest))
        peaks.flags.writeable = False
        return peaks

    @cached_property
    def arrays(self) -> MuscleArrays:
        """The arrays that kernels read."""
        where, numbers = np.zeros((len(self), 2, 3), np.int64), [np.zeros(0)]
        start = 0
        for key, table in self.tables.items():
            where[key] = start, len(table.angles), len(table.rates)
            numbers += [table.angles, table.rates, table.torque.ravel()]
            start += len(table.angles) + len(table.rates) + table.torque.size
        letters = np.array([_LETTERS.index(axis) for axis in self.axes], np.int64)
        axes = AxisArrays(*map(np.array, (self.joints, letters, self.frames, self.ranges)))
        return MuscleArrays(np.array(self.curves), where, np.concatenate(numbers), axes)

    def torque_range(self, angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest torque (..., n) N m at angles (..., n) rad and rates (..., n) rad/s."""
        from poise.body.strength.kernels import fill_ranges

        angles, rates = np.broadcast_arrays(np.asarray(angles, float), np.asarray(rates, float))
        if angles.ndim < 1 or angles.shape[-1] != len(self):
            raise InputError(f"angles and rates must be (..., {len(self)}); given {angles.shape}.")
        if not (np.all(np.isfinite(angles)) and np.all(np.isfinite(rates))):
            raise InputError("angles and rates must be finite.")
        flat = [np.array(each, order="C").reshape(-1, len(self)) for each in (angles, rates)]  # NumPy warns of views
        low, high = np.empty_like(flat[0]), np.empty_like(flat[0])
        a = self.arrays
        fill_ranges(a.curves, a.tables, a.numbers, flat[0], flat[1], low, high)
        return low.reshape(angles.shape), high.reshape(angles.shape)

    def find_state(self, rotations: np.ndarray, velocities: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angles (..., n) rad, rates (..., n) rad/s and axes (..., n, 3) in the carried bodies' frames.

        rotations   (..., J, 4) of all joints, relative to their parents
        velocities  (..., J, 3) rad/s, relative to their parents, in the carried bodies' axes
        """
        from poise.body.strength.kernels import fill_states

        q, w = np.asarray(rotations, float), np.asarray(velocities, float)
        least = int(self.joints.max()) + 1 if len(self) else 0
        if q.ndim < 2 or q.shape[-1] != 4 or w.shape != (*q.shape[:-1], 3) or q.shape[-2] < least:
            raise InputError(
                f"rotations must be (..., J, 4) and velocities (..., J, 3) of all joints; given {q.shape}, {w.shape}."
            )
        lead, n = q.shape[:-2], len(self)
        q, w = np.ascontiguousarray(q.reshape(-1, *q.shape[-2:])), np.ascontiguousarray(w.reshape(-1, *w.shape[-2:]))
        angles, rates, axes = np.empty((len(q), n)), np.empty((len(q), n)), np.empty((len(q), n, 3))
        fill_states(self.arrays.axes, q, w, angles, rates, axes)
        return angles.reshape(*lead, n), rates.reshape(*lead, n), axes.reshape(*lead, n, 3)

    def project(self, torque: np.ndarray, axes: np.ndarray) -> np.ndarray:
        """Joint torques (..., J, 3) in the carried bodies' axes as torques (..., n) about the axes of `find_state`."""
        return np.asarray(np.sum(np.asarray(torque, float)[..., self.joints, :] * axes, axis=-1))


def _check_factor(factor: object, what: str) -> float:
    if isinstance(factor, bool) or not isinstance(factor, int | float | np.number):
        raise InputError(f"{what} must be a number, a share of the usual one.")
    if not 0.0 <= float(factor) <= _MOST_FACTOR:
        raise InputError(f"{what} is {float(factor):g} of the usual; it is 0 or more, and at most {_MOST_FACTOR:g}.")
    return float(factor)


def _check_sign(label: str, axis: str, way: int, torque: np.ndarray) -> None:
    if way == 0 and np.any(torque > 0.0):
        raise InputError(
            f"the lower bound of {label} about {axis} has {float(torque.max()):g} N m; it is 0 or less. Are the bounds "
            "exchanged?"
        )
    if way == 1 and np.any(torque < 0.0):
        raise InputError(
            f"the upper bound of {label} about {axis} has {float(torque.min()):g} N m; it is 0 or more. Are the bounds "
            "exchanged?"
        )


def _shorten(array: np.ndarray) -> str:
    values = [f"{value:g}" for value in np.ravel(array)[:6]]
    return ", ".join(values) + (", ..." if array.size > 6 else "") if values else "nothing"
