"""The clips of an edit recipe on one body: made on it, or put onto it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.files.reading.pipeline import Reading
from poise.files.reporting import SILENT, Reporter
from poise.jobs.edit.plans import ClipSource, SegmentPlan
from poise.jobs.edit.recipe import list_gestures
from poise.motion.clip import Clip
from poise.motion.edits.borrow import is_same_body


def find_clips(
    sequence: Sequence[SegmentPlan],
    sources: Mapping[str, ClipSource],
    readings: Mapping[str, Reading],
    skeleton: Skeleton,
    audience: Reporter = SILENT,
) -> dict[str, Clip]:
    """Name -> clip, all of one skeleton: those that a sequence plays."""
    clips: dict[str, Clip] = {}
    for segment in sequence:
        name = segment.clip
        if name in clips:
            continue
        source = sources[name]
        if name in readings:
            with source.table.reading("file"):
                clips[name] = _put_on(readings[name].clip, skeleton, name, audience)
        else:
            clips[name] = make_gesture(source, skeleton)
    return clips


def _put_on(clip: Clip, skeleton: Skeleton, name: str, audience: Reporter) -> Clip:
    """A clip on a skeleton: as it is where it is its own, else retargeted."""
    if is_same_body(clip.skeleton, skeleton):
        return clip.replace(skeleton=skeleton)
    from poise.motion.retargeting import retarget

    audience.note(f"clip '{name}' is of another body and is put onto this one.")
    return retarget(clip, skeleton)


def make_gesture(source: ClipSource, skeleton: Skeleton) -> Clip:
    """A gesture or motion of Poise's own on a skeleton."""
    from poise.motion.gestures import Gesture, GestureMotion

    table, name = source.table, source.gesture or ""
    function = list_gestures()[name]
    _check_parameters(source, name, inspect.signature(function).parameters)
    given: dict[str, Any] = dict(source.parameters)
    with table.reading():
        try:
            if "stresses" in given:
                given["stresses"] = [_read_stress(each) for each in given["stresses"]]
            if "skeleton" not in inspect.signature(function).parameters:
                gesture = function(**given)
                assert isinstance(gesture, Gesture)
                return GestureMotion(gesture, skeleton).sample(source.seconds, source.fps).replace(name=source.name)
            if source.seconds is not None:
                given["duration"] = source.seconds
            clip: Clip = function(skeleton, fps=source.fps, **given)
        except InputError:
            raise
        except (TypeError, ValueError, AttributeError) as error:
            raise table.wrong(None, f"a parameter of gesture '{name}' is of the wrong kind: {error}.") from None
    return clip.replace(name=source.name)


def _check_parameters(source: ClipSource, name: str, parameters: Mapping[str, inspect.Parameter]) -> None:
    """Refuse parameters that a gesture does not have or lacks."""
    table, given = source.table, source.parameters
    allowed = [each for each in parameters if each not in ("skeleton", "duration", "fps")]
    odd = next((key for key in given if key not in allowed), None)
    if odd is not None:
        raise table.wrong(odd, str(unknown_name("parameter", odd, allowed, f"gesture '{name}'")))
    if source.seconds is not None and "skeleton" in parameters and "duration" not in parameters:
        raise table.wrong("seconds", f"gesture '{name}' lasts as long as it does. Leave out 'seconds'.")
    lacking = [key for key in allowed if key not in given and parameters[key].default is inspect.Parameter.empty]
    if lacking:
        raise table.wrong(None, f"gesture '{name}' needs {' and '.join(map(repr, lacking))}.")


def _read_stress(given: Any) -> Any:
    """A stress of a speaker out of a recipe: when, or a table of what `Stress` has."""
    from poise.motion.gestures import Stress

    return Stress(**given) if isinstance(given, dict) else Stress(given)
