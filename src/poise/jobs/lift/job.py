"""Following a clip within strength, from beginning to end: read, simulated, written, measured, and drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from poise.drivers.strength.strength import PRIORITIES, WEIGHTED
from poise.files.reading.options import TakeOptions
from poise.jobs.job import Answer, Run, job
from poise.jobs.lift.plan import (
    CENTERS,
    ENGINES,
    INVERSE,
    LiftPlan,
    choose_longest,
    parse_lead,
    parse_path,
    parse_strengths,
)
from poise.jobs.shared.body import find_body, read_motion
from poise.jobs.shared.options import (
    AUTO,
    FELL,
    SIMULATION,
    STOOD,
    ForceOptions,
    OutputOptions,
    StageFileOptions,
)
from poise.jobs.shared.outputs import TAKE, check_named, list_outputs
from poise.motion.clip import Clip
from poise.motion.point_path import PointPath
from poise.options import File, JobOptions, Option
from poise.stage.arguments import STEPS
from poise.world.contact_settings import ContactSettings

if TYPE_CHECKING:
    from poise.jobs.lift.run import Lift
FOLLOW_BASES = ("auto", "kinematic", "balance")


def _take_strength(given: Any) -> tuple[float, dict[str, float]]:
    """Return times the usual strength: of all joints, and of some."""
    if isinstance(given, Mapping):
        return 1.0, dict(given)
    return (float(given), {}) if isinstance(given, int | float) else parse_strengths(given)


def _take_lead(given: Any) -> dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else dict(map(parse_lead, given))


def _take_paths(given: Any) -> dict[str, PointPath | Path]:
    if not isinstance(given, Mapping):
        return dict(map(parse_path, given))
    return {joint: path if isinstance(path, PointPath) else Path(path) for joint, path in given.items()}


@dataclass(frozen=True, kw_only=True)
class FollowOptions:
    """What is controlled besides the joints, and how it is simulated."""

    title: ClassVar[str] = SIMULATION

    center: Annotated[
        str, Option("Axes along which the centre of mass is led where the clip has it.", choices=CENTERS)
    ] = "xz"
    lead: Annotated[
        Mapping[str, str],
        Option(
            "A body that is led as well: rightHand=position, orientation or both; repeatable.",
            several=True,
            accept=_take_lead,
        ),
    ] = field(default_factory=dict)
    paths: Annotated[
        Mapping[str, PointPath | File],
        Option(
            "Where a body is led instead: rightHand=hand.csv with columns time, x, y, z (and qw, qx, qy, qz), seconds "
            "and metres; center=com.csv for the centre of mass; repeatable.",
            flag="--path",
            several=True,
            accept=_take_paths,
        ),
    ] = field(default_factory=dict)
    priorities: Annotated[
        str,
        Option(
            "weighted: feet, centre of mass, led bodies and joints are weighted goals; strict: each is solved in the "
            "null space of those before it, as in the paper.",
            choices=PRIORITIES,
        ),
    ] = WEIGHTED
    base: Annotated[
        str,
        Option(
            "balance: the whole body stands on its own legs; kinematic: pelvis and legs follow the clip; auto: balance "
            "if the clip does not step.",
            choices=FOLLOW_BASES,
        ),
    ] = AUTO
    engine: Annotated[str, Option("Physics engine.", choices=ENGINES)] = INVERSE
    dt: Annotated[
        float | None,
        Option(
            "Longest step; the longest of which a frame is a multiple is taken.",
            between=STEPS,
            unit="s",
            default="1/30 for inverse, 0.005 for others",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LiftOptions(JobOptions, OutputOptions, ForceOptions, StageFileOptions, FollowOptions, TakeOptions):
    """Options of `lift`."""

    clip: Annotated[Clip | File, Option("A motion file.")] = field(kw_only=False)
    strength: Annotated[
        float | Mapping[str, float],
        Option(
            "Times the usual strength: 0.5, or of one joint, rightUpperArm=0.5; repeatable.",
            several=True,
            accept=_take_strength,
        ),
    ] = 1.0
    weak: Annotated[bool, Option("As weak as the paper's figure, at any angle and speed.")] = False
    plot: Annotated[File | None, Option("PNG of torque over strength.", writes=True)] = field(default=None, init=False)

    def plan(self) -> LiftPlan:
        """Return the plan of the simulation; stage file and paths are read."""
        from poise.files.point_path import load_point_path

        scenery = self.load_scenery()
        if scenery.touch == ContactSettings():
            scenery = dataclasses.replace(scenery, touch=ContactSettings(itself=False))
        paths = {
            joint: path if isinstance(path, PointPath) else load_point_path(path) for joint, path in self.paths.items()
        }
        whole, joints = (1.0, {}) if self.strength == 1.0 else cast("tuple[float, dict[str, float]]", self.strength)
        names = ("loads", "pushes", "engine", "base", "weak", "center", "lead", "priorities")
        shared: dict[str, Any] = {name: getattr(self, name) for name in names}
        dt = choose_longest(self.engine) if self.dt is None else self.dt
        return LiftPlan(scenery=scenery, strength=whole, joints=joints, paths=paths, dt=dt, **shared)


@job(LiftOptions)
def lift(options: LiftOptions, run: Run) -> Lift:
    """Have a body follow a clip within what its muscles can do, loads in its hands, and fall where that is too much.

    Strength is that of the body's sex, age, mass and stature, at each joint's angle and speed. Where a joint has too
    little, others help; the result says who was at his limit, and when. Exit 1 if it falls.
    """
    from poise.jobs.lift.follow import simulate_lift
    from poise.jobs.lift.run import Lift, draw_efforts, write_lifted
    from poise.jobs.mix.checks import check_effects
    from poise.jobs.shared.results import draw_outputs, report_notes, report_warnings

    outputs = list_outputs(options)
    check_named(options, outputs, run, "a lift")
    plan = options.plan()
    read = [options.clip, options.character, options.scenery, *options.paths.values()]
    outputs.check([*read, *options.source.list_files()], run, "a mix", TAKE)
    clip, reading = read_motion(options.clip, options, run)
    body = find_body(clip, reading, options.source, run)
    check_effects(body.clip, body.character, plan, outputs.has_any("film"), run)
    run.progress(f"simulating {clip.duration:.1f} s")
    found = simulate_lift(body.clip, body.character, plan)
    mix = found.mix
    report_notes(mix, run)
    figures = write_lifted(found, body, plan, outputs.motion, run)
    figures |= {} if reading is None else reading.describe_bones()
    for path in outputs.more_motions:
        write_lifted(found, body, plan, path)
    figures |= report_warnings(mix, outputs, run, reduce="load")
    draw_outputs(mix, body, plan, outputs, lambda: draw_efforts(found.efforts, mix.fell_at, mix.clip.name))
    code = FELL if mix.fell else STOOD
    run.answer = Answer(
        {**figures, "file": str(options.output)}, exit_code=code, head=figures["told"], hidden=("limits", "told")
    )
    notes, warnings = tuple(run.notes), tuple(run.warnings)
    return Lift(mix, found.efforts, body.clip, body.character, figures, tuple(outputs), notes, warnings)
