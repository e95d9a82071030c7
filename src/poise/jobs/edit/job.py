"""Clips cut, put in an order, joined and bent to places: a recipe followed, written and measured.

read     clips from files, gestures made on the actor's own body, clips of other bodies put onto it
join     stretches one after the other, with transitions (`motion/edits/sequence.py`)
place    each actor where it stands
bend     hands to where they should be (`motion/edits/offsets.py`); all targets are seen before any is bent
speed    the whole faster or slower
write    and measure what was written
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np

from poise.body.bodies import build_body
from poise.body.character import Character
from poise.errors import InputError, printable
from poise.files.reading.pipeline import Reading
from poise.files.reading.recording import BONES
from poise.files.registry import check_can_save, read_source
from poise.files.reporting import SILENT, Reporter
from poise.files.writing.round_trip import Written
from poise.jobs.edit.clips import find_clips
from poise.jobs.edit.metrics import measure_edit
from poise.jobs.edit.plans import ActorPlan, EditRecipe, OffsetPlan, PlacePlan, find_size
from poise.jobs.edit.recipe import check_bones, find_idle, load_edit_recipe, note_idle
from poise.jobs.job import Answer, Run, job
from poise.jobs.retarget import Target, read_target
from poise.jobs.shared.outputs import check_outputs
from poise.motion.clip import Clip, How
from poise.motion.edits.ground import place as stand_at
from poise.motion.edits.ground import translate
from poise.motion.edits.offsets import Offset, OffsetClip, apply_offsets
from poise.motion.edits.sequence import JoinedClip, Segment, join_segments
from poise.motion.edits.targets import BodyTarget, MidpointTarget, PointTarget, PropTarget
from poise.motion.edits.targets import Target as Spot
from poise.options import File, JobOptions, Option


@dataclass(frozen=True, eq=False)
class EditedActor:
    """One that moves, as the recipe wants it.

    plan       what was asked;  arranged: its stretches joined, where it stands, before offsets
    bent       the same with offsets; both at the recipe's own speed
    clip       what is written
    character  its body; None where it is no person's
    target     how it is written
    idle       keys at the top of the recipe of which another value would give the same
    """

    plan: ActorPlan
    arranged: JoinedClip
    bent: OffsetClip
    clip: Clip
    character: Character | None
    target: Target
    idle: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """As the recipe calls it."""
        return self.plan.name


@dataclass(frozen=True, eq=False)
class EditFound:
    """The motions by actor, and figures under the names of `poise edit --json`."""

    actors: tuple[EditedActor, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def clip(self) -> Clip:
        """The motion of the first actor."""
        return self.actors[0].clip

    @property
    def clips(self) -> dict[str, Clip]:
        """Actor -> its motion."""
        return {actor.name: actor.clip for actor in self.actors}


@dataclass(frozen=True, kw_only=True)
class EditOptions(JobOptions):
    """Options of `edit`."""

    recipe: Annotated[File, Option("A TOML file: clips, segments, sequence, offsets; see docs/editing.md.")] = field(
        kw_only=False
    )
    output: Annotated[
        File | Iterable[File],
        Option(
            "The motion, in any format that is written; of several actors each has a file of its own, called after it; "
            "repeatable.",
            short="-o",
            several=True,
            writes=True,
            is_needed=True,
        ),
    ] = field(default=(), kw_only=False)
    bones: Annotated[
        str | None,
        Option(
            "Bones of clips that lost their length: keep the file's, or restore them.", choices=BONES, default="keep"
        ),
    ] = None


@job(EditOptions)
def edit(options: EditOptions, run: Run) -> EditFound:
    """Cut clips, put them in an order, join them and bring hands to places, as a recipe says.

    Transitions have no jump in place or speed; where one makes the body go through itself, that is told. What is wrong
    with the recipe is told with its line. docs/editing.md has all its keys.
    """
    recipe, bones = load_edit_recipe(options.recipe), options.bones
    outputs = list(cast("tuple[Path, ...]", options.output))
    check_bones(recipe, bones, run)
    named = [(actor, name_output(path, actor.name, len(recipe.actors))) for path in outputs for actor in recipe.actors]
    check_outputs(recipe.list_files(), [(run.spell("output"), path) for _, path in named], run.json)
    for path in outputs:
        check_can_save(path, recipe.list_files())
    with recipe.file:
        actors = make_actors(recipe, run, bones)
    note_idle(recipe, actors, outputs, run)
    written: dict[str, list[tuple[Path, Written]]] = {actor.name: [] for actor in actors}
    for actor in actors:
        for path in (path for plan, path in named if plan.name == actor.name):
            written[actor.name].append((path, actor.target.write(actor.clip, path, run)))
    figures = measure_edit(recipe, actors, written)
    for sentence in figures["warnings"]:
        run.warn(sentence)
    run.answer = Answer(figures, describe_edit)
    return EditFound(actors, figures, tuple(path for _, path in named))


def describe_edit(figures: dict[str, Any]) -> str:
    """Return the figures as text for people: a line per join and per offset."""
    several = len(figures["actors"]) > 1
    rows = [f"{figures['frames']} frames, {figures['duration_s']:.2f} s at {figures['fps']:g} frames a second"]
    for join in figures["joins"]:
        who = f"{join['actor']} " if several else ""
        rows.append(
            f"{who}{join['time_s']:.2f} s: {join['from']} -> {join['to']} within {join['transition_s']:.2f} s, "
            f"{1e3 * join['gap_m']:.0f} mm apart; speed jumps by at most {join['velocity_jump_m_s']:.3f} m/s"
        )
    for offset in figures["offsets"]:
        who = f"{offset['actor']} " if several else ""
        rows.append(
            f"{who}{offset['time_s']:.2f} s: {offset['joint']} within {offset['miss_mm']:.3g} mm, "
            f"{offset['miss_before_mm']:.0f} mm before"
        )
    rows += [f"written: {path}" for path in figures["files"]]
    return "\n".join(map(printable, rows))


def name_output(path: Path, actor: str, count: int) -> Path:
    """Where an actor's motion is written: as asked for one, with its name for several."""
    return path if count == 1 else path.with_name(f"{path.stem}-{actor}{path.suffix}")


def make_actors(recipe: EditRecipe, audience: Reporter = SILENT, bones: str | None = None) -> tuple[EditedActor, ...]:
    """All actors of a recipe, edited. Errors know where in the recipe they are."""
    readings: dict[str, Reading] = {}
    for name in {segment.clip for actor in recipe.actors for segment in actor.sequence}:
        source = recipe.clips[name]
        if source.file is not None:
            with source.table.reading("file"):
                how = replace(source.source, bones=source.source.bones or bones)
                readings[name] = read_source(source.file, how, audience)
    standing = [_stand(recipe, plan, readings, audience) for plan in recipe.actors]
    before = {actor.name: actor.arranged.clip for actor in standing}
    rate = 1.0 / recipe.speed
    found = []
    for actor in standing:
        plans = [plan for plan in recipe.offsets if plan.actor == actor.name]
        for plan in plans:
            _check_times(plan, actor.arranged.clip)
        offsets: list[Offset] = []
        for plan in plans:
            with plan.table.reading():
                offsets += _make_offsets(plan, before, recipe)
        limits = None if actor.character is None else actor.character.limits
        with (plans[0].table if plans else actor.plan.table).reading():
            bent = apply_offsets(actor.arranged.clip, offsets, limits)
        found.append(replace(actor, bent=bent, clip=bent.clip.replace(times=rate * bent.clip.times)))
    return tuple(found)


def _stand(recipe: EditRecipe, plan: ActorPlan, readings: dict[str, Reading], audience: Reporter) -> EditedActor:
    """An actor with its stretches joined, where it stands."""
    target, character = _find_body(plan, readings, audience)
    clips = find_clips(plan.sequence, recipe.clips, readings, target.skeleton, audience)
    cuts = []
    for segment in plan.sequence:
        clip, table = clips[segment.clip], segment.table
        # A T-pose at the beginning is left out, and times count from the file's first frame all the same.
        start = segment.start if segment.start is None or segment.start < 0.0 else max(segment.start, clip.times[0])
        for key, value in (("from", start), ("to", segment.end)):
            if value is not None and not clip.times[0] - 1e-6 <= value <= clip.times[-1] + 1e-6:
                raise table.wrong(
                    key, f"'{key}' of '{segment.name}' is {value:g} s; clip '{segment.clip}' runs from "
                    f"{clip.times[0]:g} s to {clip.times[-1]:g} s."
                )  # fmt: skip
        with table.reading():
            cut = Segment(
                clip, start, segment.end, segment.speed, segment.reverse, segment.mirror, segment.still,
                segment.transition, segment.name,
            )  # fmt: skip
        cuts += [cut, *[replace(cut, transition=None)] * (segment.repeat - 1)]
    fps = cuts[0].clip.fps if recipe.fps is None else recipe.fps

    def join(align: bool, how: How) -> JoinedClip:
        # Sampled so that, faster or slower, its frames are those that are written.
        return join_segments(cuts, recipe.transition, fps / recipe.speed, align, how)

    with plan.table.reading("sequence"):
        arranged = join(recipe.align, recipe.resample)
    idle = find_idle(recipe, arranged.clip, lambda align, how: join(align, how).clip)
    moved = _place(arranged.clip, plan)
    arranged = replace(arranged, clip=moved.replace(name=recipe.path.stem))
    return EditedActor(plan, arranged, OffsetClip(arranged.clip, ()), arranged.clip, character, target, idle)


def _place(clip: Clip, plan: ActorPlan) -> Clip:
    """A clip where its actor is to stand when it begins."""
    if plan.position is None and plan.heading is None:
        return clip
    from poise.motion.edits.ground import clip_heading, ground_position

    where = ground_position(clip)[0] if plan.position is None else np.array(plan.position)
    heading = float(clip_heading(clip)[0]) if plan.heading is None else plan.heading
    return translate(stand_at(clip, where, heading), np.array([0.0, float(where[1]), 0.0]))


def _find_body(plan: ActorPlan, readings: dict[str, Reading], audience: Reporter) -> tuple[Target, Character | None]:
    """The body of an actor: as it is written, and as it is weighed."""
    body = plan.body
    if body.file is not None:
        with body.table.reading("file"):
            target = read_target(body.file, {}, audience)
        return target, _weigh(target.skeleton, target.mass)
    first = next((segment.clip for segment in plan.sequence if segment.clip in readings), None)
    if body.is_said or first is None:
        with body.table.reading():
            character = build_body(body.kind or "average", *find_size(body))
        return Target(character.skeleton, mass=character.mass, stature=character.height), character
    skeleton = readings[first].clip.skeleton
    return Target(skeleton, readings[first]), _weigh(skeleton, None)


def _weigh(skeleton: Any, mass: float | None) -> Character | None:
    """A body of a skeleton; None where it is no person's."""
    try:
        return Character.from_skeleton(skeleton, mass)
    except InputError:
        return None


def _check_times(plan: OffsetPlan, clip: Clip) -> None:
    late = next((t for t in plan.times if not clip.times[0] - 1e-9 <= t <= clip.times[-1] + 1e-9), None)
    if late is not None:
        key = "time" if "time" in plan.table else "times"
        raise plan.table.wrong(
            key, f"'{key}' of {plan.table.what} has {late:g} s; the sequence lasts {clip.duration:g} s."
        )


def _make_offsets(plan: OffsetPlan, clips: Mapping[str, Clip], recipe: EditRecipe) -> list[Offset]:
    """One a time."""
    spot = _find_spot(plan, plan.target, clips, recipe)
    return [
        Offset(plan.joint, t, spot, plan.point, plan.before, plan.hold, plan.after, plan.turn, plan.joints)
        for t in plan.times
    ]


def _find_spot(plan: OffsetPlan, target: PlacePlan, clips: Mapping[str, Clip], recipe: EditRecipe) -> Spot:
    """Where a point should be, on bodies as they are before any is bent."""
    if target.place is not None:
        if target.prop is None:
            return PointTarget(target.place)
        assert recipe.scenery is not None
        prop = next(each for each in recipe.scenery.props if each.name == target.prop)
        return PropTarget(prop, target.place)
    assert target.joint is not None
    there = BodyTarget(clips[target.actor or plan.actor], target.joint, target.point)
    if not target.is_meeting:
        return there
    return MidpointTarget(BodyTarget(clips[plan.actor], plan.joint, plan.point), there)
