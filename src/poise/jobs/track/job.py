"""Tracking from beginning to end: read, put on a body, simulated, written, measured on what was written, and drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from poise.drivers.track.track import FEEDFORWARD, LAWS
from poise.files.reading.options import TakeOptions
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.body import find_body, read_motion
from poise.jobs.shared.options import (
    AUTO,
    FELL,
    SIMULATION,
    STOOD,
    EngineOptions,
    ForceOptions,
    OutputOptions,
    StageFileOptions,
    StepOptions,
    list_parts,
)
from poise.jobs.shared.outputs import TAKE, check_named, list_outputs
from poise.jobs.track.plan import AUTOMATIC, TrackPlan, parse_pair, parse_stiffness
from poise.motion.clip import Clip
from poise.options import File, JobOptions, Option
from poise.world.contact_settings import ContactSettings

if TYPE_CHECKING:
    from poise.jobs.track.run import Tracked
    from poise.jobs.track.stiffness_search import Trial
FOLLOW_BASES = ("auto", "kinematic", "balance")


def _take_pairs(given: Any) -> tuple[tuple[str, str], ...]:
    """Return pairs of names, each given as it is or in words."""
    return tuple(parse_pair(pair) if isinstance(pair, str) else (pair[0], pair[1]) for pair in given)


@dataclass(frozen=True, kw_only=True)
class SpringOptions:
    """The springs."""

    title: ClassVar[str] = SIMULATION

    law: Annotated[
        str,
        Option(
            "feedforward: with what the motion asks for, no lag; critical: springs and dampers alone; paper: damped by "
            "a tenth of the stiffness, 100 ms late.",
            choices=LAWS,
        ),
    ] = FEEDFORWARD
    stiffness: Annotated[
        float | str | None,
        Option(
            "Of the springs, 1/s2, from 1 to 1000000; auto: found by search.",
            parse=parse_stiffness,
            default="the law's own",
        ),
    ] = None
    give: Annotated[
        float, Option("Fraction of the stiffness that is lost while something hits.", between=(0.0, 1.0))
    ] = 0.0


@dataclass(frozen=True, kw_only=True)
class TrackOptions(
    JobOptions, OutputOptions, ForceOptions, StageFileOptions, StepOptions, EngineOptions, SpringOptions, TakeOptions
):
    """Options of `track`."""

    clip: Annotated[Clip | File, Option("A motion file.")] = field(kw_only=False)
    parts: Annotated[
        str | Iterable[str],
        Option(
            "Parts or joints that are tracked, with commas; the rest follows the clip.",
            several=True,
            parse=list_parts,
        ),
    ] = ("body",)
    base: Annotated[
        str,
        Option(
            "balance: legs keep the body on its feet; kinematic: pelvis and legs follow the clip; auto: balance if the "
            "clip does not step.",
            choices=FOLLOW_BASES,
        ),
    ] = AUTO
    touch: Annotated[
        Iterable[tuple[str, str] | str],
        Option(
            "Two that touch, and nothing else but the ground: leftHand=drum; repeatable.",
            several=True,
            accept=_take_pairs,
            default="props",
        ),
    ] = ()
    plot: Annotated[File | None, Option("PNG of how far off it is, and of the search.", writes=True)] = field(
        default=None, init=False
    )

    def plan(self) -> TrackPlan:
        """Return the plan of the simulation; the stage file is read."""
        scenery = self.load_scenery()
        touch = ContactSettings(itself=False) if scenery.touch == ContactSettings() else scenery.touch
        if self.touch:
            touch = dataclasses.replace(touch, itself=True, only=cast("tuple[tuple[str, str], ...]", self.touch))
        shared: dict[str, Any] = {name: getattr(self, name) for name in ("loads", "pushes", "engine", "dt", "base")}
        return TrackPlan(
            physical=cast("tuple[str, ...]", self.parts),
            scenery=dataclasses.replace(scenery, touch=touch),
            law=self.law,
            springs=None if isinstance(self.stiffness, str) else self.stiffness,
            give=self.give,
            **shared,
        )


@job(TrackOptions)
def track(options: TrackOptions, run: Run) -> Tracked:
    """Have a simulated body follow a clip by springs, so that contact, pushes and its own mass change the motion.

    Legs balance a clip that does not step; one that steps is followed on its own pelvis and legs.
    With --character the motion is put on that body first. What is written has that body's joints and the clip's times.
    Exit 1 if it falls.
    """
    from poise.jobs.mix.checks import check_effects
    from poise.jobs.shared.results import draw_outputs, report_notes, report_warnings
    from poise.jobs.shared.simulation import simulate
    from poise.jobs.track.run import Tracked, describe_search, draw_tracking, make_even, write_tracked
    from poise.jobs.track.stiffness_search import find_best

    outputs = list_outputs(options)
    check_named(options, outputs, run, "tracking")
    plan = options.plan()
    read = [options.clip, options.character, options.scenery, *options.source.list_files()]
    outputs.check(read, run, "a mix", TAKE)
    clip, reading = read_motion(options.clip, options, run)
    clip = make_even(clip, run)
    body = find_body(clip, reading, options.source, run)
    check_effects(body.clip, body.character, plan, outputs.has_any("film"), run)
    trials: tuple[Trial, ...] = ()
    if options.stiffness == AUTOMATIC:
        best, trials = find_best(body.clip, body.character, plan, run)
        plan = dataclasses.replace(plan, springs=best)
    run.progress(f"simulating {clip.duration:.1f} s")
    found = simulate(body.clip, body.character, plan)
    report_notes(found, run)
    if found.tracked and plan.stiffest * found.dt**2 > 1.0:
        run.warn(
            f"a stiffness of {plan.stiffest:g} 1/s2 is more than steps of {1000.0 * found.dt:.3g} ms resolve, "
            f"{1.0 / found.dt**2:.3g}: springs act softer than that. Take a smaller {run.spell('dt')}."
        )
    if not found.tracked:
        run.note(f"nothing is tracked, so the result is the clip. Name parts with {run.spell('parts')}.")
    figures = write_tracked(found, body, plan, outputs.motion, run)
    figures |= {} if reading is None else reading.describe_bones()
    for path in outputs.more_motions:
        write_tracked(found, body, plan, path)
    figures |= describe_search(trials)
    figures |= report_warnings(found, outputs, run, reduce="stiffness")
    draw_outputs(found, body, plan, outputs, lambda: draw_tracking(found, body.clip, plan, trials))
    run.answer = Answer({**figures, "file": str(options.output)}, exit_code=FELL if found.fell else STOOD)
    notes, warnings = tuple(run.notes), tuple(run.warnings)
    return Tracked(found, body.clip, body.character, figures, trials, tuple(outputs), notes, warnings)
