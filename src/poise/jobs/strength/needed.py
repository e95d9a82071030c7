"""The least strength that a recorded motion needs (O9): what its joints do over what they could do just then.

    ratio(t) = tau(t) / tau_max(angle(t), rate(t))        of each degree of freedom, each way        [strength, eq 5]

Torques are those of `motion/forces/forces.py`, low-passed as there. What counts is held: a ratio is that which stays
for `HELD` seconds, so that a spike of a marker or of a foot that strikes does not. The smallest scale is the largest of
them: a body of so many times the usual strength can do the motion, and none that is weaker.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.reshape import add_mass
from poise.body.roles import ARM_STEMS, LEG_STEMS, TRUNK_ROLES
from poise.body.segments.tables import check_sex_age
from poise.body.strength.joint_strength import JointStrength
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.forces.forces import ClipForces, compute_forces
from poise.world.forces import Load

# s, for which a ratio must stay to count. 0.03 to 0.1 change legs and trunk of lifts by at most a tenth; the landing of
# a jump is over in less: its legs need 4.2 times the usual strength for 0.03 s, 2.3 for 0.05 and 1.0 for 0.1.
HELD = 0.05
_REGIONS = {
    "legs": LEG_STEMS[:3],
    "toes": LEG_STEMS[3:],
    "trunk": TRUNK_ROLES,
    "neck": ("neck", "head"),
    "arms": ARM_STEMS,
}


@dataclass(frozen=True, eq=False)
class NeededStrength(Portable):
    """What a motion needs of n degrees of freedom, frame by frame.

    muscles  whose strength it is measured by
    times    (F,) s
    torque   (F, n) N m about each axis
    ratio    (F, 2, n) of the lower and the upper torque that there is just then; 0 for the way that is not used
    held     (F, 2, n) the least of the ratio in `HELD` seconds around
    forces   where the torques come from
    """

    muscles: JointStrength
    times: np.ndarray
    torque: np.ndarray
    ratio: np.ndarray
    held: np.ndarray
    forces: ClipForces

    @property
    def scale(self) -> float:
        """The smallest strength, beside this one, that can do the motion."""
        return float(self.held.max()) if self.held.size else 0.0


@checked
def find_needed(
    clip: Clip,
    character: Character,
    muscles: JointStrength | None = None,
    loads: Iterable[Load] = (),
    cutoff: float | None = None,
) -> NeededStrength:
    """What a motion needs of a body with the same joints, that carries loads; muscles: its own, if not given."""
    loaded = character
    for load in loads:
        loaded = add_mass(loaded, load.joint, load.mass, load.offset)
    muscles = JointStrength.from_character(character) if muscles is None else muscles
    forces = compute_forces(clip, loaded, cutoff)
    angles, rates, axes = muscles.find_state(forces.state.rotations, forces.state.angular_velocity)
    torque = muscles.project(forces.torque, axes)
    low, high = muscles.torque_range(angles, rates)
    ratio = np.stack([_divide(-torque, -low), _divide(torque, high)], axis=1)
    return NeededStrength(muscles, clip.times, torque, ratio, _hold(ratio, clip.times), forces)


def _divide(torque: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """What share of a strength is used; inf of none at all."""
    used = np.maximum(torque, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(used > 0.0, used / strength, 0.0)


def _hold(ratio: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The least in a window of `HELD` seconds; a clip that is shorter is one window."""
    step = (times[-1] - times[0]) / (len(times) - 1)
    reach = min(int(np.ceil(0.5 * HELD / step - 1e-9)), (len(times) - 1) // 2)
    if reach < 1:
        return ratio
    padded = np.pad(ratio, ((reach, reach), (0, 0), (0, 0)), mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0).min(axis=-1)


def describe_needed(needed: NeededStrength, character: Character) -> dict[str, Any]:
    """The figures, under the names that the command line uses: joints, the most used way first."""
    muscles = needed.muscles
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for i, label in enumerate(muscles.labels):
        for way, sign in enumerate("-+"):
            frame = int(np.argmax(needed.held[:, way, i]))
            rows.setdefault(label, {})[f"{sign}{muscles.axes[i]}"] = {
                "ratio": float(needed.held[frame, way, i]),
                "torque_nm": float(needed.torque[frame, i]),
                "time_s": float(needed.times[frame] - needed.times[0]),
            }
    joints = {}
    for label, ways in rows.items():
        most = max(ways, key=lambda way: ways[way]["ratio"])
        joints[label] = {**ways[most], "way": most, "ways": ways}
    ordered = dict(sorted(joints.items(), key=lambda item: -item[1]["ratio"]))
    return {
        "scale": needed.scale,
        "limited_by": next(iter(ordered), None),
        "regions": _find_regions(ordered),
        "held_s": HELD,
        "mass_kg": character.mass,
        "stature_m": character.height,
        "sex": character.sex,
        "age": character.age,
        "cutoff_hz": float(needed.forces.cutoff),
        "joints": ordered,
    }


def _find_regions(joints: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Region -> the largest ratio of its joints; toes apart, since little is known of them."""
    regions: dict[str, float] = {}
    for label, joint in joints.items():
        stem = label.removeprefix("left").removeprefix("right")
        region = next((name for name, stems in _REGIONS.items() if stem in stems), "others")
        regions[region] = max(regions.get(region, 0.0), joint["ratio"])
    return regions


def describe_muscles(muscles: JointStrength, character: Character, joints: Iterable[str] = ()) -> dict[str, Any]:
    """The static peaks of joints, all if none is named, and the angles where they are."""
    angles = np.radians(np.arange(-190.0, 191.0))
    low, high = muscles.torque_range(np.tile(angles[:, None], (1, len(muscles))), np.zeros(len(muscles)))
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for i in find_rows(muscles, joints):
        lower, upper = (muscles.ranges[i, side, "xyz".index(muscles.axes[i])] for side in (0, 1))
        inside = (angles >= lower - 1e-9) & (angles <= upper + 1e-9)
        for way, sign, torque in ((0, "-", -low[:, i]), (1, "+", high[:, i])):
            best = int(np.argmax(np.where(inside if inside.any() else True, torque, -1.0)))
            rows.setdefault(muscles.labels[i], {})[f"{sign}{muscles.axes[i]}"] = {
                "peak_nm": float(muscles.peaks[i, way]),
                "most_in_range_nm": float(torque[best]),
                "angle_degrees": float(np.degrees(angles[best])),
            }
    return {
        "mass_kg": character.mass,
        "stature_m": character.height,
        "sex": character.sex,
        "age": character.age,
        "degrees_of_freedom": len(muscles),
        "joints": rows,
    }


def find_rows(muscles: JointStrength, joints: Iterable[str]) -> list[int]:
    """The rows of joints by name or role; all where none is named."""
    named = [row for joint in joints for row in muscles.rows(joint)]
    return sorted(set(named)) if named else list(range(len(muscles)))


def build_muscles(character: Character, table: str | PathLike[str] | None) -> JointStrength:
    """A body's own strength, or that of a file."""
    if table is None:
        return JointStrength.from_character(character)
    from poise.files.strength_table import load_muscles

    return load_muscles(table, character)


def set_person(character: Character, sex: str | None, age: float | None) -> Character:
    """A body of a sex and an age, where those are given; its masses stay."""
    sex, age = character.sex if sex is None else sex, character.age if age is None else age
    check_sex_age(sex, age)
    return dataclasses.replace(character, sex=sex, age=float(age))


def list_hardest(needed: NeededStrength, most: int) -> dict[str, np.ndarray]:
    """Joint and way -> (F,) the share of its strength that is used, of the ways that are used most."""
    peaks = needed.held.max(axis=0)  # (2, n)
    order = np.argsort(-peaks, axis=None, kind="stable")[:most]
    muscles, found = needed.muscles, {}
    for flat in order.tolist():
        way, row = divmod(flat, len(muscles))
        found[f"{muscles.labels[row]} {'-+'[way]}{muscles.axes[row]}"] = needed.ratio[:, way, row]
    return found
