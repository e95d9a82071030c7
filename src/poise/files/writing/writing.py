"""From a reading to a file: edited as asked, written clean or in the manner of the input, and measured as written."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError
from poise.files.formats.bvh.clip import find_tree
from poise.files.formats.bvh.keep import save_bvh_as
from poise.files.formats.bvh.text import BvhFile
from poise.files.formats.gltf.read import GltfSource
from poise.files.input import stem_of
from poise.files.output import checked_output
from poise.files.reading.pipeline import Reading
from poise.files.reading.unit import compute_stature
from poise.files.registry import find_format, save_clip
from poise.files.writing.round_trip import Written, judge, measure_distance, read_positions
from poise.motion.clip import Clip
from poise.motion.edits.timing import resample, trim

# Formats that carry a body beside the motion.
WITH_BODY = (".glb", ".usd", ".usda", ".usdc", ".fbx")  # formats that carry a body beside the motion
_MOST_LISTED = 6


@dataclass(frozen=True)
class Edits:
    """What is done to a motion on its way, in this order.

    start, end  s on the clip's clock: what is outside is left out; None is the clip's own
    fps         frames a second to sample it at; None keeps its frames
    loop        whether to make it loop (poise.motion.edits.loop)
    in_place    whether to take out the way over the ground (poise.motion.edits.in_place)
    """

    start: float | None = None
    end: float | None = None
    fps: float | None = None
    loop: bool = False
    in_place: bool = False

    @property
    def only_trims(self) -> bool:
        """Whether every frame that is left is as it was."""
        return self.fps is None and not self.loop and not self.in_place

    def apply(self, clip: Clip) -> tuple[Clip, float, dict[str, float]]:
        """The edited clip, the time (s on the old clip's clock) of its first frame, and figures of what was done."""
        begins = float(clip.times[0])
        figures: dict[str, float] = {}
        if self.start is not None or self.end is not None:
            old = clip
            clip = trim(clip, self.start, self.end)
            begins = float(old.times[np.argmax(old.times >= (self.start or old.times[0]) - 1e-6)])
        if self.fps is not None:
            clip = resample(clip, self.fps)
        if self.loop:
            from poise.motion.edits.loop import make_loop

            loop = make_loop(clip)
            figures |= {"loop_start_s": begins + loop.start, "loop_end_s": begins + loop.end, "loop_gap_m": loop.gap}
            clip, begins = loop.clip, begins + loop.start
        if self.in_place:
            from poise.motion.edits.in_place import remove_drift, remove_travel

            clip, way = remove_drift(clip) if self.loop else remove_travel(clip)
            figures["travel_m"] = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
        return clip, begins, figures


def write_clean(
    reading: Reading,
    path: Path,
    edits: Edits | None = None,
    names: Literal["own", "vrm"] = "own",
    mass: float | None = None,
) -> Written:
    """Write a motion in metres, Y up, in the format that the suffix names.

    A motion from a glTF or VRM file is written onto that file, if the format is the same and joints keep their names.

    names  "own": joints are called as in the input; "vrm": those that have a role are called by it
    mass   kg of the body that is drawn, where the format has one; usual for the stature if None
    """
    edits = edits or Edits()
    clip, begins, figures = edits.apply(reading.clip)
    model = find_model(reading, path) if names == "own" else None
    if names == "vrm":
        clip = clip.replace(skeleton=rename_by_role(clip.skeleton))
    with checked_output(path) as draft:
        if model is None:
            places, notes = _save_with_body(clip, reading, draft, stem_of(path), mass)
        else:
            places, notes = _save_on_model(clip, model, draft, stem_of(path), mass, in_meters=draft.suffix == ".glb")
        if edits.loop and places is not None:
            from poise.motion.edits.loop import measure_gap

            figures["loop_gap_after_m"] = measure_gap(clip, places)
        is_same = edits.only_trims and not reading.is_changed
        frames = _find_frames(reading.clip, clip, begins) if is_same else None
        written = judge(reading, places, clip.positions, frames)
    return dataclasses.replace(written, frames=len(clip), figures=figures, notes=(*notes, *written.notes))


def write_result(
    clip: Clip,
    reading: Reading | None,
    path: Path,
    mass: float | None = None,
    stature: float | None = None,
    title: str | None = None,
) -> Written:
    """Write a clip that was made, on the body that it was read from or made for.

    A glTF or VRM file keeps all that it has, with the motion as its first animation. Other files are written with the
    body's mesh, or a mannequin of a mass (kg) and a stature (m) if it has none. The error is that of writing.

    reading  how the body's own file was read; None if there is none
    title    name of a motion without one, or with one that the body's file has already; the path's if None
    """
    model, title = find_model(reading, path), title or stem_of(path)
    with checked_output(path) as draft:
        if model is None:
            places, notes = _save_with_body(clip, reading, draft, title, mass, stature)
            meant, unit = clip.positions, 1.0
        else:
            places, notes = _save_on_model(clip, model, draft, title, mass)
            meant, unit = model.placement.to_file(clip).positions, model.scale
        error = None if places is None else unit * measure_distance(places, meant)
    return Written(len(clip), error, {}, notes, writing_error=error)


def find_model(reading: Reading | None, path: Path) -> Reading | None:
    """The reading of a glTF or VRM file that motions are written onto; None if a new file is made."""
    from poise.files.formats.gltf.animate import SUFFIXES

    if reading is None or path.suffix.lower() not in SUFFIXES:
        return None
    return reading if isinstance(reading.recording.source, GltfSource) else None


def has_mesh(reading: Reading) -> bool:
    """Whether a file has a mesh of its own, be it one that cannot be read."""
    source = reading.recording.source
    return reading.skin is not None or (isinstance(source, GltfSource) and bool(source.document.meshes))


def _save_with_body(
    clip: Clip, reading: Reading | None, path: Path, name: str, mass: float | None, stature: float | None = None
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """As `_save`, with the body of a reading or one made up for it; and what there is to say of that."""
    options, notes = _choose_body(clip, path, reading, mass, stature)
    return _save(clip, path, name, **options), notes


def _save(clip: Clip, path: Path, name: str, **options: Any) -> np.ndarray | None:
    """Write a clip; where its joints are in the file (F, J, 3) m, None where that cannot be read."""
    save_clip(clip.replace(name=clip.name or name), path, **options)
    places = read_positions(path, clip.skeleton)
    if places is not None and len(places) != len(clip):
        raise FileError(path, f"{len(clip)} frames were written, {len(places)} are there.")
    return places


def _find_frames(before: Clip, after: Clip, begins: float) -> np.ndarray:
    """(F,) the frames of a clip that a stretch of it begins and goes on with."""
    at = begins + after.times - after.times[0]
    return np.abs(before.times - at[:1]).argmin() + np.arange(len(at))


def keep_as(reading: Reading, path: Path, edits: Edits | None = None, fps: float | None = None) -> Written:
    """Write a motion in the manner of the file that it was read from: names, order, channels, units, axes.

    fps  the frame rate to write, where the file's is wrong

    A character's own file (glTF, VRM) is written with its mesh, materials and other clips, and this motion in it.
    """
    edits = edits or Edits()
    entry, own = find_format(path), find_format(reading.recording.path)
    if isinstance(reading.recording.source, BvhFile) and entry is not None and entry == own:
        return _keep_bvh(reading, path, edits, fps)
    if find_model(reading, path) is not None:
        return _keep_gltf(reading, path, edits)
    raise FileError(
        path,
        f"--keep writes BVH as BVH, and glTF or VRM as .glb or .vrm; '{reading.recording.path}' is "
        f"{reading.recording.format}. Leave out --keep, or change the suffix.",
    )


def _keep_bvh(reading: Reading, path: Path, edits: Edits, fps: float | None) -> Written:
    recording = reading.recording
    file = recording.source
    tree = find_tree(file, recording.clip.name)
    clip, dropped = (recording.clip, 0) if edits.only_trims else (reading.clip, reading.dropped)
    if edits.only_trims and fps is not None:
        clip = clip.replace(times=np.arange(len(clip)) / fps)
    step = clip.duration / max(len(clip) - 1, 1)
    edited, begins, figures = edits.apply(clip)
    since = begins - clip.times[0] + edited.times - edited.times[0]
    frames = dropped + (np.rint(since / step).astype(int) if step else np.zeros(len(edited), int))
    if not edits.only_trims:
        edited = reading.placement.to_file(edited)
        edited = edited.replace(skeleton=recording.clip.skeleton)  # --keep keeps the file's bones
    with checked_output(path) as draft:
        save_bvh_as(edited, file, draft, tree=tree, frames=frames)
        places = read_positions(draft, edited.skeleton, tree, kept=True)
        written = judge(reading, places, edited.positions, frames if edits.only_trims else None, kept=True)
    return dataclasses.replace(written, frames=len(edited), figures=figures)


def _keep_gltf(reading: Reading, path: Path, edits: Edits) -> Written:
    clip, begins, figures = edits.apply(reading.clip)
    is_same = edits.only_trims and not reading.is_changed
    frames = _find_frames(reading.clip, clip, begins) if is_same else None
    with checked_output(path) as draft:
        places, notes = _save_on_model(clip, reading, draft, stem_of(path), None)
        written = judge(reading, places, reading.placement.to_file(clip).positions, frames, kept=True)
    return dataclasses.replace(written, frames=len(clip), figures=figures, notes=(*notes, *written.notes))


def _save_on_model(
    clip: Clip, reading: Reading, path: Path, name: str, mass: float | None, in_meters: bool = False
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Where the joints of the clip are in the file, in its units and axes; and a note of the animations it had.

    A file without a mesh is given a mannequin of a mass (kg).
    """
    from poise.files.formats.gltf.animate import choose_name, list_own_animations, save_on_character
    from poise.files.formats.gltf.write import find_skin

    title, body, notes = choose_name(clip.name or name, name, reading), None, tuple[str, ...]()
    if not has_mesh(reading):
        options, notes = _choose_body(clip, path, reading, mass, None)
        body = find_skin(clip.skeleton, options.get("meshes"))
    save_on_character(clip, reading, path, title, in_meters, body)
    own = list_own_animations(reading)
    if own:
        listed = ", ".join(f"'{each}'" for each in own[:_MOST_LISTED])
        more = f" and {len(own) - _MOST_LISTED} more" if len(own) > _MOST_LISTED else ""
        notes = (
            *notes,
            f"the new motion is the first animation; those of the character's file follow it: {listed}{more}.",
        )
    return read_positions(path, clip.skeleton, kept=True), notes


def rename_by_role(skeleton: Skeleton) -> Skeleton:
    """The same skeleton, its joints called by their VRM roles where they have one."""
    names = list(skeleton.labels)
    mapped = set(skeleton.roles.values())
    for i, own in enumerate(skeleton.names):
        if own not in mapped and own in skeleton.roles:  # called as a role that another joint has
            names[i] = next(name for n in range(2, len(names) + 3) if (name := f"{own}_{n}") not in names)
    return skeleton.replace(names=names)


def _choose_body(
    clip: Clip, path: Path, reading: Reading | None, mass: float | None, stature: float | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a format with a body shows: the input's own, a mannequin where it is a person's skeleton, else its bones."""
    if path.suffix.lower() not in WITH_BODY:
        return {}, ()
    if reading is not None and reading.skin is not None:
        return {"meshes": reading.skin}, ()
    if clip.skeleton.find_role("hips") is None:
        return {}, ()
    from poise.body.geometry.mannequin import build_mannequin
    from poise.body.segments.stature import estimate_mass

    try:
        if mass is None:
            if stature is None:
                stature = compute_stature(clip.skeleton) if reading is None else reading.stature
            mass = estimate_mass(stature)
        return {"meshes": build_mannequin(clip.skeleton, mass)}, ()
    except InputError as error:
        return {}, (f"only bones are drawn: {error}",)
