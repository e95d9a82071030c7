"""Keys of an edit recipe that change nothing: refused where the recipe alone says so, else noted in a line.

What is only defined, a clip or a segment that no sequence names yet, is noted: a recipe may hold more than it plays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poise.body.physiques import build_body
from poise.errors import InputError
from poise.files.audience import Audience
from poise.files.writing import WITH_BODY
from poise.jobs.edit_plans import ActorPlan, BodyPlan, EditRecipe, OffsetPlan, SegmentPlan, find_size
from poise.jobs.toml_tables import Table
from poise.motion.clip import Clip
from poise.motion.interpolation import How

if TYPE_CHECKING:
    from poise.jobs.edit import EditedActor

_SAME = 1e-9  # m, and of a quaternion's parts


def check_keys(
    top: Table, segments: Mapping[str, SegmentPlan], actors: Sequence[ActorPlan], offsets: Iterable[OffsetPlan]
) -> None:
    """Refuse keys of a recipe that nothing can come of, whatever its clips are."""
    joins = [segment for actor in actors for segment in actor.sequence[1:]]
    repeats = any(segment.repeat > 1 for actor in actors for segment in actor.sequence)
    for name, segment in segments.items():
        played = any(each.name == name for actor in actors for each in actor.sequence)
        if segment.transition is not None and played:
            if not any(each.name == name for each in joins):
                raise segment.table.wrong("transition", say_first(segment.table))
            if not any(each.name == name and each.transition == segment.transition for each in joins):
                raise segment.table.wrong(
                    "transition",
                    f"'transition' of {segment.table.what} has no effect: the sequence says another wherever it is "
                    "played. Leave out one.",
                )
    if "transition" in top and not repeats and all(segment.transition is not None for segment in joins):
        why = "every join has its own" if joins else "a single stretch has no join"
        raise top.wrong("transition", f"'transition' of {top.what} has no effect: {why}. Leave it out.")
    if "align" in top and not repeats and not joins:
        raise top.wrong("align", f"'align' of {top.what} has no effect: a single stretch has no join. Leave it out.")
    for key in ("sequence", "body"):
        if key in top and all(actor.table is not top and key in actor.table for actor in actors):
            raise top.wrong(key, f"'{key}' of {top.what} has no effect: every actor has its own. Leave it out.")
    if "stage" in top and not any(offset.target.prop is not None for offset in offsets):
        raise top.wrong("stage", f"'stage' of {top.what} has no effect: no offset names a 'prop' of it. Leave it out.")


def say_first(table: Table) -> str:
    """What is wrong with a transition into the first stretch."""
    return (
        f"'transition' of {table.what} goes from the stretch before into this one, and there is none before the first. "
        "Leave it out."
    )


def say_alone(table: Table) -> str:
    """What is wrong with a gesture that the body is to take part in."""
    return (
        f"'takes_part' of {table.what} has no effect: the body takes part over legs that balance, and nothing balances "
        "here. Leave it out."
    )


def list_unused(clips: Iterable[str], segments: Iterable[str], actors: Iterable[ActorPlan]) -> tuple[str, ...]:
    """Tables of clips and segments that no sequence plays."""
    played = [segment for actor in actors for segment in actor.sequence]
    names, sources = {each.name for each in played}, {each.clip for each in played}
    return (
        *(f"[clips.{name}]" for name in clips if name not in sources),
        *(f"[segments.{name}]" for name in segments if name not in names),
    )


def check_bones(recipe: EditRecipe, bones: str | None, audience: Audience) -> None:
    """Refuse `bones` where no file is read that does not say its own."""
    if bones is None:
        return
    played = {segment.clip for actor in recipe.actors for segment in actor.sequence}
    files = [recipe.clips[name] for name in sorted(played) if recipe.clips[name].file is not None]
    if all(clip.source.bones is not None for clip in files):
        why = "all files of this recipe say theirs" if files else "this recipe plays no file"
        raise InputError(
            f"{audience.spell('bones')} is for files whose clip does not say 'bones', and {why}. Leave it out."
        )


def find_idle(recipe: EditRecipe, joined: Clip, join: Callable[[bool, How], Clip]) -> frozenset[str]:
    """Keys at the top of a recipe of which another value would give the same joined stretches.

    join  the stretches joined with another `align` and `resample`
    """
    how: How = "slerp" if recipe.resample == "spline" else "spline"
    others = {"align": (not recipe.align, recipe.resample), "resample": (recipe.align, how)}
    return frozenset(key for key, other in others.items() if key in recipe.said and _is_same(join(*other), joined))


def _is_same(one: Clip, other: Clip) -> bool:
    apart = np.minimum(np.abs(one.rotations - other.rotations), np.abs(one.rotations + other.rotations))
    return bool(np.abs(one.root - other.root).max() < _SAME and apart.max() < _SAME)


def note_idle(recipe: EditRecipe, actors: Sequence[EditedActor], outputs: Sequence[Path], audience: Audience) -> None:
    """Say what a recipe has that changes nothing of these clips, or of files of these kinds."""
    if recipe.unused:
        audience.note(f"no sequence plays {', '.join(recipe.unused)}.")
    idle = frozenset.intersection(*(actor.idle for actor in actors))
    if "align" in idle:
        audience.note("'align' changes nothing: every stretch begins where the one before it ends.")
    if "resample" in idle:
        audience.note("'resample' changes nothing: all frames are frames of the clips.")
    if not outputs or any(path.suffix.lower() in WITH_BODY for path in outputs):
        return
    kinds = ", ".join(sorted({path.suffix.lower() for path in outputs}))
    for body in {id(actor.plan.body): actor.plan.body for actor in actors}.values():
        for key in _find_boneless(body):
            audience.note(
                f"'{key}' of {body.table.what} changes no bone, and {kinds} has bones only: it counts just for "
                "ranges of joints and for what goes through the body."
            )


def _find_boneless(body: BodyPlan) -> list[str]:
    """Keys of a body that change none of its bones."""
    without = {"kind": replace(body, kind=None), "mass": replace(body, mass=None)}
    return [
        key
        for key, other in without.items()
        if getattr(body, key) is not None and np.array_equal(_build_bones(body), _build_bones(other))
    ]


def _build_bones(body: BodyPlan) -> np.ndarray:
    return build_body(body.kind or "average", *find_size(body)).skeleton.offsets
