"""From a reading to a file: edited as asked, written clean or in the manner of the input, and measured as written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError
from poise.files.bvh import find_tree
from poise.files.bvh_keep import save_bvh_as
from poise.files.bvh_text import BvhFile
from poise.files.formats import find_format, read_recording, save_clip
from poise.files.gltf import GltfSource
from poise.files.normalise import Reading, compute_stature
from poise.files.placement import find_placement
from poise.files.readback import read_positions
from poise.motion.clip import Clip
from poise.motion.edits import resample, trim

# Formats that carry a body beside the motion.
_WITH_BODY = (".glb", ".usd", ".usda", ".usdc", ".fbx")


@dataclass(frozen=True)
class Edits:
    """What is done to a motion on its way, in this order.

    start, end  s on the clip's clock: what is outside is left out; None is the clip's own
    fps         frames a second to sample it at; None keeps its frames
    loop        whether to make it loop (poise.motion.looping)
    in_place    whether to take out the way over the ground (poise.motion.travel)
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
            from poise.motion.looping import make_loop

            loop = make_loop(clip)
            figures |= {"loop_start_s": begins + loop.start, "loop_end_s": begins + loop.end, "loop_gap_m": loop.gap}
            clip, begins = loop.clip, begins + loop.start
        if self.in_place:
            from poise.motion.travel import remove_drift, remove_travel

            clip, way = remove_drift(clip) if self.loop else remove_travel(clip)
            figures["travel_m"] = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
        return clip, begins, figures


@dataclass(frozen=True)
class Written:
    """What is in a file after it was written.

    frames   how many there are
    error    m, the largest distance of a joint from where it was meant to be; None where the format cannot be read
    figures  of the edits
    notes    what there is to say, a sentence each
    """

    frames: int
    error: float | None
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def write_clean(
    reading: Reading,
    path: Path,
    edits: Edits | None = None,
    names: Literal["own", "vrm"] = "own",
    mass: float | None = None,
) -> Written:
    """Write a motion in metres, Y up, in the format that the suffix names.

    names  "own": joints are called as in the input; "vrm": those that have a role are called by it
    mass   kg of the body that is drawn, where the format has one; usual for the stature if None
    """
    edits = edits or Edits()
    clip, _, figures = edits.apply(reading.clip)
    if names == "vrm":
        clip = clip.replace(skeleton=rename_by_role(clip.skeleton))
    options, notes = _choose_body(clip, path, reading, mass)
    save_clip(clip, path, **options)
    places = read_positions(path, clip.skeleton)
    if places is None:
        return Written(len(clip), None, figures, notes)
    error = np.linalg.norm(places - clip.positions, axis=-1).max()
    if edits.loop:
        from poise.motion.looping import measure_gap

        figures["loop_gap_after_m"] = measure_gap(clip, places)
    return Written(len(places), float(error), figures, notes)


def keep_as(reading: Reading, path: Path, edits: Edits | None = None, fps: float | None = None) -> Written:
    """Write a motion in the manner of the file that it was read from: names, order, channels, units, axes.

    fps  the frame rate to write, where the file's is wrong

    A character's own file (glTF, VRM) is written with its mesh, materials and other clips, and this motion in it.
    """
    edits = edits or Edits()
    entry, own = find_format(path), find_format(reading.recording.path)
    if isinstance(reading.recording.source, BvhFile) and entry is not None and entry == own:
        return _keep_bvh(reading, path, edits, fps)
    if isinstance(reading.recording.source, GltfSource) and path.suffix.lower() == ".glb":
        return _keep_gltf(reading, path, edits)
    raise FileError(
        path,
        f"--keep writes BVH as BVH, and glTF or VRM as .glb; '{reading.recording.path}' is {reading.recording.format}. "
        "Leave out --keep, or change the suffix.",
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
        edited = find_placement(reading).to_file(edited)
        edited = edited.replace(skeleton=recording.clip.skeleton)  # bones that were mended go back to the file's own
    save_bvh_as(edited, file, path, tree=tree, frames=frames)
    written = read_recording(path, str(tree)).clip
    error = reading.scale * np.linalg.norm(written.positions - edited.positions, axis=-1).max()
    return Written(len(written), float(error), figures)


def _keep_gltf(reading: Reading, path: Path, edits: Edits) -> Written:
    from poise.files.gltf_animate import save_on_character

    clip, _, figures = edits.apply(reading.clip)
    save_on_character(clip, reading, path)
    written = read_recording(path, read_recording(path).choices[-1])  # the one that was added
    place = find_placement(reading)
    meant = place.to_file(clip).positions
    places = written.clip.positions
    if places.shape != meant.shape:
        return Written(len(places), None, figures)
    return Written(len(places), float(place.scale * np.linalg.norm(places - meant, axis=-1).max()), figures)


def rename_by_role(skeleton: Skeleton) -> Skeleton:
    """The same skeleton, its joints called by their VRM roles where they have one."""
    names = list(skeleton.labels)
    mapped = set(skeleton.roles.values())
    for i, own in enumerate(skeleton.names):
        if own not in mapped and own in skeleton.roles:  # called as a role that another joint has
            names[i] = next(name for n in range(2, len(names) + 3) if (name := f"{own}_{n}") not in names)
    return skeleton.replace(names=names)


def _choose_body(
    clip: Clip, path: Path, reading: Reading, mass: float | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What a format with a body shows: the input's own, a mannequin where it is a person's skeleton, else its bones."""
    if path.suffix.lower() not in _WITH_BODY:
        return {}, ()
    if reading.skin is not None:
        return {"meshes": reading.skin}, ()
    if clip.skeleton.find_role("hips") is None:
        return {}, ()
    from poise.body.mannequin import build_mannequin
    from poise.body.stature import estimate_mass

    try:
        mass = mass if mass is not None else estimate_mass(compute_stature(clip.skeleton))
        return {"meshes": build_mannequin(clip.skeleton, mass)}, ()
    except InputError as error:
        return {}, (f"only bones are drawn: {error}",)
