"""The least strength that a recorded motion needs (O9): what its joints do over what they could do just then.

    ratio(t) = tau(t) / tau_max(angle(t), rate(t))        of each degree of freedom, each way        [strength, eq 5]

Torques are those of `motion/forces/forces.py`, low-passed as there. What counts is held: a ratio is that which stays
for `HELD` seconds, so that a spike of a marker or of a foot that strikes does not. The smallest scale is the largest of
them: a body of so many times the usual strength can do the motion, and none that is weaker.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.bodies import HEIGHT
from poise.body.character import Character
from poise.body.reshape import add_mass
from poise.body.roles import ARM_STEMS, LEG_STEMS, TRUNK_ROLES
from poise.body.segments.tables import check_sex_age
from poise.body.strength.joint_strength import JointStrength
from poise.errors import InputError
from poise.files.reading.options import Roles, Source
from poise.files.reading.pipeline import Reading
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.motion.forces.forces import ClipForces, compute_forces, say_idle_cutoff
from poise.world.forces import Load

# s, for which a ratio must stay to count. 0.03 to 0.1 change legs and trunk of lifts by at most a tenth; the landing of
# a jump is over in less: its legs need 4.2 times the usual strength for 0.03 s, 2.3 for 0.05 and 1.0 for 0.1.
HELD = 0.05
# Of body weight times stature, what the feet leave unexplained before forces are called rough.
_ROUGH = 0.05
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


@checked
def strength(
    file: str | PathLike[str] | Clip,
    *,
    loads: Iterable[Load] = (),
    sex: str | None = None,
    age: float | None = None,
    table: str | PathLike[str] | None = None,
    cutoff: float | None = None,
    mass: float | None = None,
    character: Character | str | PathLike[str] | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    clip: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> dict[str, Any]:
    """The least strength that a motion needs, under the names of `poise strength find --json`.

    loads   what is carried;  table: a file of strengths (see `files/strength_table.py`)
    sex, age  whose strength it is measured by: male, female or neutral, and years
    Whatever is found in the file can be told instead, as for `load_clip`. tell: called with `note` or `warning` and a
    sentence.
    """
    body = Path(character) if isinstance(character, str | PathLike) else character
    source = Source(mass, height, body, fps, roles, None if clip is None else str(clip), scale, up, bones)
    needed, person, reading = run_find(file, source, tuple(loads), sex, age, table, cutoff, RecordingReporter(tell))
    return {**describe_needed(needed, person), **({} if reading is None else reading.describe_bones())}


def run_find(
    file: str | PathLike[str] | Clip,
    source: Source,
    loads: Iterable[Load] = (),
    sex: str | None = None,
    age: float | None = None,
    table: str | PathLike[str] | None = None,
    cutoff: float | None = None,
    audience: Reporter = SILENT,
) -> tuple[NeededStrength, Character, Reading | None]:
    """Read a motion as a source says; return what it needs, the body without its loads, and how the file was read."""
    from poise.files.registry import read_source
    from poise.jobs.shared.body import find_body

    check_sex_age("neutral" if sex is None else sex, 30.0 if age is None else age)
    reading = None if isinstance(file, Clip) else read_source(file, source, audience)
    clip = file if isinstance(file, Clip) else reading.clip  # type: ignore[union-attr]
    body = find_body(clip, reading, source, audience)
    motion, character = body.clip, set_person(body.character, sex, age)
    needed = find_needed(motion, character, build_muscles(character, table), loads, cutoff)
    if cutoff is None:
        audience.note(
            f"derivatives are low-passed: {needed.forces.cutoff_reason} Override with {audience.spell('cutoff')}."
        )
    idle = say_idle_cutoff(cutoff, motion.fps)
    if idle is not None:
        audience.note(f"{audience.spell('cutoff')} {idle}")
    _warn_of_rough(needed, character, audience)
    return needed, character, reading


def _warn_of_rough(needed: NeededStrength, character: Character, audience: Reporter) -> None:
    """Say where the feet do not carry the body, so that torques on the way from them are not what they were."""
    left = np.linalg.norm(needed.forces.torque[:, 0], axis=-1)
    share = np.percentile(left, 95) / (character.mass * 9.81 * character.height)
    if share > _ROUGH:
        audience.warn(
            f"support: the feet leave {share * character.mass * 9.81 * character.height:.0f} N m unexplained. Does it "
            "sit, lean on something or use its hands? Strengths of legs and trunk are as rough as that."
        )


def build_person(source: Source, sex: str | None, age: float | None, audience: Reporter = SILENT) -> Character:
    """The body that options name, without a motion: one of a file, or a usual one of a height and a mass."""
    source.check(audience)
    if source.character is not None:
        own = audience.spell("character")
        for option in ("mass", "height"):
            if getattr(source, option) is not None:
                raise InputError(f"{own} has a {option} of its own; leave out {audience.spell(option)} or {own}.")
        from poise.jobs.retarget import load_body

        return set_person(load_body(source.character, audience)[0], sex, age)
    height = HEIGHT if source.height is None else source.height
    person = Character.human(
        height, source.mass, sex="neutral" if sex is None else sex, age=30.0 if age is None else age
    )
    if source.mass is None:
        audience.note(f"{person.mass:.1f} kg, usual for {height:.2f} m. Override with {audience.spell('mass')}.")
    return person


def list_hardest(needed: NeededStrength, most: int) -> dict[str, np.ndarray]:
    """Joint and way -> (F,) the share of its strength that is used, of the ways that are used most."""
    peaks = needed.held.max(axis=0)  # (2, n)
    order = np.argsort(-peaks, axis=None, kind="stable")[:most]
    muscles, found = needed.muscles, {}
    for flat in order.tolist():
        way, row = divmod(flat, len(muscles))
        found[f"{muscles.labels[row]} {'-+'[way]}{muscles.axes[row]}"] = needed.ratio[:, way, row]
    return found
