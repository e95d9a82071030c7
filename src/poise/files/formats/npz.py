"""Plain npz in and out: a motion as named arrays, which any NumPy program can read and write.

    names      (J,) text        joint names, parents before children
    parents    (J,) int         index of the parent, -1 for the root
    offsets    (J, 3) m         rest vector from the parent's joint; joint frames at rest are the world's
    tips       (J, 3) m         rest vector to the end site, NaN where there is none; may be left out
    roles      (J,) text        VRM role of each joint, "" for none; may be left out
    times      (F,) s           or `fps`, one number
    root       (F, 3) m         position of the root joint in the world
    rotations  (F, J, 4)        quaternions w, x, y, z, each joint relative to its parent, the root to the world
    shifts     (F, J, 3) m      each joint from the end of its bone, in its parent's axes; only where bones change
    unit, up   number, "Y"|"Z"  metres a unit, and the vertical axis; metres and Y where they are left out
    name       text             what the motion is called

Other programs' files with the same content are read too: `local_quat_xyzw` or `local_quat_wxyz` for `rotations`,
`root_translation` for `root`, `local_offsets` for `offsets` (AMP's and ASE's humanoids, isaacgym's poselib); their unit
and vertical are found. Files with `trans` and `poses` are AMASS's (see `amass`).
"""

from __future__ import annotations

from os import PathLike

import numpy as np

from poise.body.roles import ROLES
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError, valid_text
from poise.files.arrays import NpzFile, list_missing, write_npz
from poise.files.formats.amass import is_amass, read_amass_arrays
from poise.files.input import check_poses, find_choice, shorten, stem_of
from poise.files.reading.recording import Recording
from poise.motion.clip import Clip

_OWN = ("names", "parents", "offsets", "root", "rotations")
# Array of another program -> ours, and whether its quaternions have w last.
_FOREIGN = {"local_offsets": "offsets", "root_translation": "root"}
_QUATERNIONS = {"rotations": False, "local_quat_wxyz": False, "local_quat_xyzw": True}
_MOST_JOINTS = 10_000
_LONGEST = 1e9  # s, units
_RATES = (1e-3, 1e6)  # Hz


def save_npz(clip: Clip, path: str | PathLike[str]) -> None:
    """Write a clip as plain npz, every number as it is."""
    skeleton = clip.skeleton
    role_of = {joint: role for role, joint in skeleton.roles.items()}
    write_npz(
        path,
        {
            "names": np.array(skeleton.names),
            "parents": np.asarray(skeleton.parents),
            "offsets": np.asarray(skeleton.offsets),
            "tips": np.asarray(skeleton.tips),
            "roles": np.array([role_of.get(name, "") for name in skeleton.names]),
            "times": np.asarray(clip.times),
            "root": np.asarray(clip.root),
            "rotations": np.asarray(clip.rotations),
            **({} if clip.shifts is None else {"shifts": np.asarray(clip.shifts)}),
            "unit": np.array(1.0),
            "up": np.array("Y"),
            "name": np.array(clip.name),
        },
    )


def read_npz(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion of an npz file: Poise's own, one of the like, or AMASS's. A file has one clip."""
    find_choice(clip, [stem_of(path)], path)
    with NpzFile(path) as file:
        try:
            return read_amass_arrays(file) if is_amass(file) else _read_plain(file)
        except InputError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(path, str(error)) from None


def _read_plain(file: NpzFile) -> Recording:
    names = _find_arrays(file)
    skeleton = _read_skeleton(file, names)
    rotations = _read_rotations(file, names["rotations"], len(skeleton))
    root = file.numbers(names["root"], (len(rotations), 3))
    times, has_rate = _read_times(file, len(rotations))
    unit, up = _read_frame(file, is_own=names == {ours: ours for ours in _OWN})
    stem = stem_of(file.path)
    shifts = file.numbers("shifts", (len(rotations), len(skeleton), 3)) if "shifts" in file else None
    motion = Clip(
        skeleton, times, root, rotations, valid_text(file.text_of("name")) if "name" in file else stem, shifts
    )
    return Recording(motion, "npz", str(file.path), (stem,), unit, up, dict(skeleton.roles), has_rate=has_rate)


def _find_arrays(file: NpzFile) -> dict[str, str]:
    """Return the names of the arrays of a motion in this file, by Poise's names."""
    names = {ours: next((n for n in (ours, *_aliases(ours)) if n in file), ours) for ours in _OWN}
    missing = list_missing(file, names.values())
    if missing and str(file.path).endswith(".take.npz"):
        raise FileError(file.path, "is a take, not a motion. Load it with poise.load_take and save its clip.")
    if missing:
        have = shorten(", ".join(file.names), 120) or "none"
        raise FileError(
            file.path,
            f"no motion in it: arrays {', '.join(missing)} are missing; it has {have}. AMASS has trans, poses.",
        )
    return names


def _read_frame(file: NpzFile, is_own: bool) -> tuple[float | None, str | None]:
    """Return metres per unit and the vertical axis; None if the file does not state them."""
    unit = file.number("unit") if "unit" in file else 1.0 if is_own else None
    up = valid_text(file.text_of("up")) if "up" in file else "Y" if is_own else None
    if (unit is not None and not 1e-6 <= unit <= 1e6) or up not in (None, "X", "Y", "Z"):
        raise FileError(file.path, f"unit {unit} and up '{shorten(str(up))}' must be metres a unit and Y or Z.")
    return unit, up


def _aliases(ours: str) -> tuple[str, ...]:
    if ours == "rotations":
        return tuple(_QUATERNIONS)
    return tuple(theirs for theirs, name in _FOREIGN.items() if name == ours)


def _read_skeleton(file: NpzFile, names: dict[str, str]) -> Skeleton:
    joints = tuple(map(valid_text, file.words(names["names"])))
    if not 0 < len(joints) <= _MOST_JOINTS:
        raise FileError(file.path, f"there are {len(joints)} joints; 1 to {_MOST_JOINTS} can be read.")
    parents = file.numbers(names["parents"], (len(joints),)).astype(int)
    offsets = file.numbers(names["offsets"], (len(joints), 3))
    tips = np.full((len(joints), 3), np.nan)
    if "tips" in file:
        given = np.asarray(file["tips"])
        if given.shape != tips.shape or given.dtype.kind != "f":
            raise FileError(file.path, f"array 'tips' must be numbers of shape {tips.shape}.")
        tips = np.where(np.all(np.abs(given) <= _LONGEST, axis=1, keepdims=True), given, np.nan)
    return Skeleton(joints, parents, offsets, tips, _read_roles(file, joints))


def _read_roles(file: NpzFile, joints: tuple[str, ...]) -> dict[str, str]:
    if "roles" not in file:
        return {}
    words = file.words("roles", len(joints))
    unknown = [word for word in words if word and word not in ROLES]
    if unknown:
        raise FileError(
            file.path, f"role '{shorten(unknown[0])}' is none of VRM's; hips, spine, leftUpperArm, ... are."
        )
    return {role: joint for role, joint in zip(words, joints, strict=True) if role}


def _read_rotations(file: NpzFile, name: str, joints: int) -> np.ndarray:
    """(F, J, 4) wxyz"""
    check_poses(file.path, next(iter(file.shape(name)), 0), joints)
    values = file.numbers(name, (None, joints, 4))
    return values[..., [3, 0, 1, 2]] if _QUATERNIONS[name] else values


def _read_times(file: NpzFile, frames: int) -> tuple[np.ndarray, bool]:
    """(F,) s, and whether the file says them."""
    if "times" in file:
        return file.numbers("times", (frames,)), True
    rate = next((file.number(name) for name in ("fps", "framerate", "frame_rate") if name in file), None)
    if rate is not None and not _RATES[0] <= rate <= _RATES[1]:
        raise FileError(file.path, f"{rate:g} frames a second cannot be true.")
    return np.arange(frames) / (rate or 60.0), rate is not None
