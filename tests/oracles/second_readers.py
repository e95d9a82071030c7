"""Second readers of the formats that Poise reads and does not write, for what their readers find."""

from __future__ import annotations

from pathlib import Path

from oracles.acclaim import read_acclaim_motion
from oracles.amass import read_amass_motion
from oracles.deepmimic import read_deepmimic_motion, read_joints
from poise.files.reading.pipeline import Reading
from poise.files.reading.recording import Recording
from poise.files.writing.independent.tree import PlainMotion
from poise.files.writing.round_trip import match_names, measure_distance, to_metres

SUFFIXES = (".asf", ".amc", ".txt")


def read_again(recording: Recording) -> PlainMotion:
    """The motion of an ASF, AMC, DeepMimic or AMASS file that was read."""
    path, skeleton = recording.path, recording.clip.skeleton
    suffix = Path(path).suffix.lower()
    if suffix == ".amc":
        return read_acclaim_motion(recording.source.skeleton.path, path)
    if suffix == ".asf":
        return read_acclaim_motion(path)
    if suffix == ".txt":
        return read_deepmimic_motion(path, _find_deepmimic_joints(recording))
    return read_amass_motion(path, skeleton.names, tuple(map(int, skeleton.parents)), skeleton.offsets)


def measure_second_reading(reading: Reading) -> float:
    """m, the largest distance of a joint that was read from where its second reader puts it; all joints are in both."""
    motion = read_again(reading.recording)
    matched = match_names(motion.names, reading.recording.clip.skeleton.names)
    assert len(matched) == len(motion.names) == len(reading.clip.skeleton)
    assert motion.frames == len(reading.clip)
    there = to_metres(reading, motion.places(list(matched)))
    return measure_distance(reading.clip.positions[:, list(matched.values())], there)


def _find_deepmimic_joints(recording: Recording) -> list[dict[str, object]]:
    """Of the character beside a motion, of the file itself, or of the humanoid that Poise brings along."""
    character = getattr(recording.source, "character", recording.source)
    if character.path:
        return read_joints(character.path)
    skeleton = recording.clip.skeleton
    return [
        {
            "Name": name,
            "Parent": int(parent),
            "Type": kind,
            **dict(zip(("AttachX", "AttachY", "AttachZ"), at, strict=True)),
        }
        for name, parent, kind, at in zip(
            skeleton.names, skeleton.parents, character.types, skeleton.offsets.tolist(), strict=True
        )
    ]
