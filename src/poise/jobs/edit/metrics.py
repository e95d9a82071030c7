"""Metrics of an edit: smoothness of its joins, distance of hands from their targets, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.errors import FileError, PoiseError
from poise.files.writing.round_trip import Written, read_positions, to_metres
from poise.files.writing.writing import find_model
from poise.motion.clip import Clip
from poise.motion.edits.body_points import find_point
from poise.motion.edits.offsets import MET
from poise.motion.edits.sequence import Join, measure_jumps, pick_frames
from poise.motion.edits.targets import BodyTarget
from poise.world.overlap import Piercing, describe_piercing, find_piercings

if TYPE_CHECKING:
    from poise.jobs.edit.job import EditedActor
    from poise.jobs.edit.plans import EditRecipe
_TURNED, _BEYOND = np.radians(1.0), np.radians(1.0)
_JUMP = 0.01  # m that a join without a transition may jump by before it is told
_MOST_TOLD = 3  # pairs of segments that are told of a join or an offset


def measure_edit(
    recipe: EditRecipe,
    actors: Iterable[EditedActor],
    written: Mapping[str, list[tuple[Path, Written]]],
) -> dict[str, Any]:
    """The figures of `poise edit --json`; `written`: actor -> files, and what is in each."""
    joins: list[dict[str, Any]] = []
    offsets: list[dict[str, Any]] = []
    warnings: list[str] = []
    elsewhere = 0.0
    actors = tuple(actors)
    for actor in actors:
        who = "" if len(actors) == 1 else f"{actor.name}: "
        files = [path for path, _ in written.get(actor.name, [])]
        told_joins, speed, sentences = _measure_joins(recipe, actor, files)
        told_offsets, more = _measure_offsets(recipe, actor, files)
        joins, offsets, elsewhere = joins + told_joins, offsets + told_offsets, max(elsewhere, speed)
        warnings += [who + sentence for sentence in (*sentences, *more)]
    clip = actors[0].clip
    each = [there for files in written.values() for _, there in files]
    errors = [there.error for there in each if there.error is not None]
    return {
        "duration_s": clip.duration,
        "frames": len(clip),
        "fps": round(clip.fps, 9),
        "actors": [actor.name for actor in actors],
        "joins": joins,
        "position_jump_m": _find_most(joins, "position_jump_m"),
        "velocity_jump_m_s": _find_most(joins, "velocity_jump_m_s"),
        "velocity_jump_elsewhere_m_s": elsewhere,
        "offsets": offsets,
        "offset_miss_mm": _find_most(offsets, "miss_mm"),
        "warnings": warnings,
        "notes": [sentence for there in each for sentence in there.notes],
        "max_joint_error_m": max(errors, default=None),
        **_describe_bones(actors),
        "files": [str(path) for files in written.values() for path, _ in files],
    }


def _find_most(rows: Iterable[Mapping[str, Any]], key: str) -> float:
    return max((float(row[key]) for row in rows), default=0.0)


def _describe_bones(actors: Iterable[EditedActor]) -> dict[str, Any]:
    """See `Reading.describe_bones`; of all actors whose bodies are their files' own."""
    readings = [actor.target.reading for actor in actors if actor.target.reading is not None]
    return {
        "lost_bones": sorted({name for reading in readings for name in reading.lost_bones}),
        "restored_bones_error_m": max((reading.restored_error for reading in readings), default=0.0),
    }


def find_places(actor: EditedActor, files: Iterable[Path]) -> np.ndarray:
    """(F, J, 3) m, where the joints are in what was written: the first file that says so; else in the clip."""
    for path in files:
        model = find_model(actor.target.reading, path)
        try:
            places = read_positions(path, actor.clip.skeleton, kept=model is not None)
        except FileError:  # a model whose joints are not all there
            continue
        if model is not None and places is not None:
            places = to_metres(model, places)
        if places is not None and places.shape == actor.clip.positions.shape:
            return places
    return actor.clip.positions


def _measure_joins(
    recipe: EditRecipe, actor: EditedActor, files: Sequence[Path]
) -> tuple[list[dict[str, Any]], float, list[str]]:
    """What its joins came to, m/s of the largest jump of a velocity elsewhere, and warnings."""
    place, speed = measure_jumps(actor.clip.times, find_places(actor, files))
    calm = np.ones(len(speed), bool)
    found = [_measure_join(recipe, actor, join, place, speed, calm) for join in actor.arranged.joins]
    warnings = [sentence for _, sentences in found for sentence in sentences]
    return [told for told, _ in found], float(speed[calm].max(initial=0.0)), warnings


def _measure_join(
    recipe: EditRecipe, actor: EditedActor, join: Join, place: np.ndarray, speed: np.ndarray, calm: np.ndarray
) -> tuple[dict[str, Any], list[str]]:
    """What a join came to, and warnings; frames of it are taken out of `calm`."""
    times, rate = actor.clip.times, 1.0 / recipe.speed
    half = 0.5 * join.transition
    frames = pick_frames(times, [rate * (join.time - half), rate * join.time, rate * (join.time + half)])
    calm[(times >= rate * (join.time - half) - 0.1) & (times <= rate * (join.time + half) + 0.1)] = False
    said = f"the join of '{join.before}' and '{join.after}' at {rate * join.time:.2f} s"
    warnings = []
    jump = float(place[frames].max())
    if join.transition == 0.0 and jump > _JUMP:
        warnings.append(f"{said} jumps by {1e3 * jump:.0f} mm. Give it a transition.")
    deepest: list[Piercing] = []
    if actor.character is not None and join.alone is not None:
        alone = join.alone
        deepest = find_piercings(actor.character, actor.arranged.clip.pick(join.frames), alone)[:_MOST_TOLD]
    warnings += [f"in {said} {describe_piercing(_at_speed(each, rate))}." for each in deepest]
    return {
        "actor": actor.name,
        "time_s": rate * join.time,
        "from": join.before,
        "to": join.after,
        "transition_s": rate * join.transition,
        "gap_m": join.gap,
        "position_jump_m": jump,
        "velocity_jump_m_s": float(speed[frames].max()),
        "through_itself_mm": 1e3 * max((each.depth for each in deepest), default=0.0),
    }, warnings


def _at_speed(piercing: Piercing, rate: float) -> Piercing:
    start, end, time = (rate * each for each in (piercing.start, piercing.end, piercing.time))
    return Piercing(start, end, time, piercing.joints, piercing.depth)


def find_written(actor: EditedActor, files: Iterable[Path]) -> Clip | None:
    """The motion as the first file that was written has it and can be read again; None where there is none."""
    from poise.jobs.shared.metrics import read_written

    for path in files:
        try:
            clip = read_written(path, actor.clip, find_model(actor.target.reading, path))
        except PoiseError:  # a model whose joints are not all there
            continue
        if clip is not None:
            return clip
    return None


def _measure_offsets(
    recipe: EditRecipe, actor: EditedActor, files: Iterable[Path]
) -> tuple[list[dict[str, Any]], list[str]]:
    rate = 1.0 / recipe.speed
    told, warnings = [], []
    written = find_written(actor, files) if actor.bent.met else None
    clip = actor.arranged.clip
    for met in actor.bent.met:
        offset = met.offset
        said = f"{offset.joint} at {rate * offset.time:.2f} s"
        miss = met.miss
        if written is not None:
            skeleton = actor.clip.skeleton
            name, point = skeleton.names[skeleton.index(offset.joint)], find_point(skeleton, offset.joint, offset.point)
            there = BodyTarget(written, name, point.tolist()).find(rate * offset.time)
            miss = float(np.linalg.norm(there - offset.find_place(offset.time)))
        if miss > MET:
            warnings.append(
                f"{said} is out of reach: {1e3 * miss:.0f} mm are left of {1e3 * met.before:.0f}. Move its place, "
                "or let more joints help."
            )
        if met.turned > _TURNED:
            warnings.append(
                f"{said} could not keep its orientation: it is turned by {np.degrees(met.turned):.0f} degrees."
            )
        if met.beyond > _BEYOND:
            warnings.append(f"{said} goes beyond the range of a joint by {np.degrees(met.beyond):.0f} degrees.")
        near = (clip.times >= offset.time - offset.before - 0.5 * offset.hold) & (
            clip.times <= offset.time + offset.after + 0.5 * offset.hold
        )
        found: list[Piercing] = []
        if actor.character is not None and near.any():
            found = find_piercings(actor.character, actor.bent.clip.pick(near), [clip.pick(near)])[:_MOST_TOLD]
        warnings += [f"by the offset of {said} {describe_piercing(_at_speed(each, rate))}." for each in found]
        told.append(
            {
                "actor": actor.name,
                "joint": offset.joint,
                "point": offset.point if isinstance(offset.point, str) else list(offset.point),
                "time_s": rate * offset.time,
                "miss_mm": 1e3 * miss,
                "miss_before_mm": 1e3 * met.before,
                "turned_degrees": float(np.degrees(met.turned)),
                "change_degrees": float(np.degrees(met.change)),
                "met": miss <= MET,
            }
        )
    return told, warnings
