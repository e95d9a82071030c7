"""A pose from goals: targets of joints, the feet that carry, a gaze. Solved, written, measured, drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from poise.errors import InputError, RangeError, check_most
from poise.files.reading.recording import BONES
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.body_options import BodyOptions, LoadOptions, parse_numbers, parse_pairs
from poise.jobs.shared.outputs import Outputs
from poise.options import File, JobOptions, Option, is_number

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.jobs.pose.standing import Footing, PoseGoals
    from poise.jobs.shared.body import LoadedBody
    from poise.motion.clip import Clip
POSED, FAILED = 0, 1  # exit codes
STANDS = ("both", "left", "right")
FARTHEST = 100.0  # m from the origin, of a target
FPS = 30.0
MOST_FRAMES = 6_000
_UPRIGHT = -0.05  # m, the crouch of --upright


def parse_target(text: str) -> tuple[str, tuple[float, ...]]:
    """Return the joint and the position of a text such as `rightHand=0.4,1.2,0.3`."""
    joint, equals, place = (piece.strip() for piece in text.partition("="))
    if not (joint and equals and place):
        raise InputError(f"a target is written as joint=x,y,z in metres, as in rightHand=0.4,1.2,0.3; '{text}' given.")
    return joint, _parse_place(place, f"the target of '{joint}'")


def _parse_look(text: str) -> tuple[float, ...]:
    return _parse_place(text, "the target of the gaze")


def _parse_place(text: str, what: str) -> tuple[float, ...]:
    numbers = parse_numbers(text, 3)
    if numbers is None:
        raise InputError(f"{what} is three numbers, x,y,z in metres; '{text:.80}' given.")
    return numbers


def _parse_strength(text: str) -> tuple[str, float]:
    joint, equals, fraction = (piece.strip() for piece in text.partition("="))
    if not (joint and equals and is_number(fraction)):
        raise InputError(f"a weak joint is written as joint=share, as in leftLowerLeg=0.5; '{text:.80}' given.")
    return joint, float(fraction)


def _take_targets(given: Any) -> dict[str, tuple[float, ...]]:
    return parse_pairs(given, parse_target)


def _take_strengths(given: Any) -> dict[str, float]:
    return parse_pairs(given, _parse_strength)


@dataclass(frozen=True, kw_only=True)
class StartOptions(BodyOptions):
    """The body, its first pose and its strength."""

    title: ClassVar[str] = BodyOptions.title

    start: Annotated[
        Clip | File | None,
        Option("A motion file in whose pose, on whose feet, it begins; scaled to --height."),
    ] = None
    at: Annotated[float | None, Option("Which of its frames: time from its first.", unit="s", default="0")] = None
    bones: Annotated[
        str | None,
        Option(
            "Bones of --start that lost their length: keep the file's, or restore them.", choices=BONES, default="keep"
        ),
    ] = None
    weak: Annotated[
        Mapping[str, float] | None,
        Option(
            "joint=fraction of its usual strength, as in leftLowerLeg=0.2: strong joints turn more readily; "
            "repeatable. In Python {} turns joints by their usual strength, None evenly.",
            several=True,
            accept=_take_strengths,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PoseOptions(JobOptions, StartOptions, LoadOptions):
    """Options of `pose`."""

    reach: Annotated[
        Mapping[str, Sequence[float]],
        Option(
            "joint=x,y,z: where a joint goes, m, as in rightHand=0.4,1.2,0.3; repeatable.",
            flag="--reach",
            several=True,
            accept=_take_targets,
        ),
    ] = field(default_factory=dict, kw_only=False)
    output: Annotated[
        File | None,
        Option("The pose, in any format that is written, or a .png.", short="-o", writes=True, is_needed=True),
    ] = None
    stand: Annotated[str, Option("The feet that carry.", choices=STANDS)] = "both"
    look: Annotated[
        Sequence[float] | str | None, Option("x,y,z: what the head turns to, m.", parse=_parse_look, example="0,1.6,2")
    ] = None
    crouch: Annotated[
        float | None,
        Option(
            "Distance that the hips come down, if that leaves the reach alone; below 0 they go up.",
            between=(-2.0, 2.0),
            unit="m",
        ),
    ] = None
    upright: Annotated[bool, Option("Keep the hips up, if that leaves the reach alone.")] = field(
        default=False, init=False
    )
    margin: Annotated[
        float,
        Option("Distance of the centre of mass inside the soles that touch the ground.", between=(0.0, 0.1), unit="m"),
    ] = 0.02
    seconds: Annotated[float | None, Option("Write the motion into the pose, of so many seconds.", unit="s")] = None
    fps: Annotated[float, Option("Frame rate of that motion.", between=(1.0, 1000.0), unit="frames a second")] = FPS
    picture: Annotated[File | None, Option("PNG of it.", writes=True)] = None
    film: Annotated[File | None, Option("A film of the motion: .mp4, .webm, .webp or .gif.", writes=True)] = None
    plot: Annotated[File | None, Option("PNG of the motion's centre of mass over the support.", writes=True)] = None

    @property
    def outputs(self) -> Outputs:
        """The files to write: a motion, or a picture if its suffix says so; pictures, films and plots."""
        output = None if self.output is None else Path(self.output)
        kind = "picture" if output is not None and output.suffix.lower() == ".png" else "output"
        named = ((kind, output), ("picture", self.picture), ("film", self.film), ("plot", self.plot))
        return Outputs(tuple((option, Path(path)) for option, path in named if path is not None))


@dataclass(frozen=True, eq=False)
class PoseResult:
    """The pose, or the motion into it, and its metrics under the names of `poise pose --json`.

    character  with its loads
    down       (F, 2) which feet carry
    """

    clip: Clip
    character: Character
    down: np.ndarray
    figures: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@job(PoseOptions)
def pose(options: PoseOptions, run: Run) -> PoseResult:
    """Pose a body by what it should reach, stand on and look at.

    Its centre of mass stays over the feet that carry, which do not move; hands come as near as that allows.
    Places are in the world: metres, +Y up; the body stands over the origin and faces +Z, its left is +X.
    Exit 1 if the centre of mass is outside the soles, or something is under the floor.
    """
    from poise.files.output import all_or_none
    from poise.jobs.pose.metrics import SUNK, describe_failures, describe_missed

    _check(options, run)
    outputs = options.outputs
    outputs.check((options.character, options.start), run, "a pose", ".png")
    if options.seconds is None and outputs.has_any("film", "plot"):
        option = run.spell("film" if outputs["film"] else "plot")
        raise InputError(
            f"{option} is of a motion, and a pose stands still. Say {run.spell('seconds')}, or leave it out."
        )
    body, start = _build_body(options, run)
    goals = _find_goals(options, body.character, run)
    run.progress("posing")
    motion = _solve(options, body, start, goals)
    with all_or_none():
        figures = _write(motion, body, goals, outputs, run)
        figures |= {"solve_us": float(np.median(motion.microseconds)), "stand": options.stand}
        figures |= {"failed": figures["com_margin_m"] < 0.0 or figures["floor_depth_m"] > SUNK}
        notes, warnings = describe_missed(figures), describe_failures(figures, run)
        figures |= {"warnings": list(warnings)}
        for message in notes:
            run.note(message)
        for message in warnings:
            run.warn(message)
        _draw(motion, body, goals, outputs)
    run.answer = Answer({**figures, "file": str(options.output)}, exit_code=FAILED if figures["failed"] else POSED)
    return PoseResult(motion.clip, body.character, motion.down, figures, (*notes, *warnings))


def _check(options: PoseOptions, run: Run) -> None:
    """Raise InputError for values that make no sense, and options that contradict each other or have no effect."""
    spell = run.spell
    if options.upright and options.crouch is not None:
        raise InputError("--upright and --crouch say opposite things; leave out one.")
    for joint, place in options.reach.items():
        _check_place(place, f"the target of '{joint}'")
    if options.look is not None:
        _check_place(options.look, spell("look"))
    if options.seconds is not None:
        if not (math.isfinite(options.seconds) and options.seconds > 0.0):
            raise InputError(f"{spell('seconds')} must be above 0; {options.seconds:g} given.")
        count = options.seconds * options.fps
        check_most(f"{options.seconds:g} s have {count:.4g} frames", count, MOST_FRAMES, "Give fewer seconds.")
    elif options.fps != FPS:
        raise InputError(
            f"{spell('fps')} is of a motion, and a pose stands still. Say {spell('seconds')}, or leave it out."
        )
    if options.at is not None and options.start is None:
        raise InputError(f"{spell('at')} is a time of the clip that {spell('start')} names. Name one, or leave it out.")
    if options.body is not None and options.start is not None:
        raise InputError(f"{spell('start')} has a body of its own; leave out {spell('body')} or {spell('start')}.")
    if options.bones is not None and not isinstance(options.start, Path):
        raise InputError(f"{spell('bones')} says how the file of {spell('start')} is read. Name one, or leave it out.")


def _check_place(place: Any, what: str) -> None:
    numbers = np.asarray(place, float)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InputError(f"{what} is three finite numbers, x,y,z in metres; given {tuple(place)!r:.80}.")
    if np.abs(numbers).max() > FARTHEST:
        raise InputError(f"{what} is at most {FARTHEST:g} m from the origin; given {tuple(map(float, numbers))}.")


def _build_body(options: PoseOptions, run: Run) -> tuple[LoadedBody, Clip | None]:
    """Return the body with its loads, and the pose in which it begins as a clip of one frame; None: at ease."""
    from poise.files.reading.options import Source
    from poise.files.registry import read_source
    from poise.jobs.shared.body import LoadedBody, add_loads, build_loaded_body, find_body
    from poise.motion.clip import Clip

    if options.start is None:
        return build_loaded_body(options, options.carried, run), None
    source = Source(mass=options.mass, height=options.height, character=options.character, bones=options.bones)
    reading = None if isinstance(options.start, Clip) else read_source(str(options.start), source, run)
    body = find_body(options.start if reading is None else reading.clip, reading, source, run)  # type: ignore[arg-type]
    clip, at = body.clip, 0.0 if options.at is None else options.at
    if not 0.0 <= at <= clip.duration + 1e-9:
        raise RangeError(run.spell("at"), at, 0.0, clip.duration, "s (the clip's end)")
    frame = int(np.argmin(np.abs(clip.times - clip.times[0] - at)))
    if clip.shifts is not None and np.abs(clip.shifts[frame]).max() > 1e-6:
        raise InputError("bones of the clip change their length, and a pose has rigid ones. Give another start.")
    return add_loads(LoadedBody(body.character, body.target), options.carried), clip.pick(slice(frame, frame + 1))


def _find_goals(options: PoseOptions, character: Character, run: Run) -> PoseGoals:
    """Return the goals for this body; InputError if it has no such joint, or stands on it."""
    from poise.body.roles import SIDES
    from poise.jobs.pose.standing import PoseGoals

    skeleton, standing = character.skeleton, [side for side in SIDES if options.stand in ("both", side)]
    seen: dict[int, str] = {}
    for joint in options.reach:
        index = skeleton.index(joint)
        if index in seen:
            raise InputError(f"'{joint}' and '{seen[index]}' are one joint; it can be at one place only.")
        seen[index] = joint
        for side in standing:
            if index in skeleton.descendants(skeleton.index(side + "Foot")):
                other = "right" if side == "left" else "left"
                raise InputError(
                    f"'{joint}' is of a foot that stands; {run.spell('stand')} {other} leaves it free to reach."
                )
    if options.look is not None and skeleton.find_role("head") is None:
        raise InputError(f"'{character.name}' has no head that could look. Leave out {run.spell('look')}.")
    reach = {joint: np.asarray(place, float) for joint, place in options.reach.items()}
    look = None if options.look is None else np.asarray(options.look, float)
    return PoseGoals(reach, options.stand, look, _UPRIGHT if options.upright else options.crouch, options.margin)


@dataclass(frozen=True, eq=False)
class PosedMotion:
    """The motion into a pose, or the pose alone.

    down           (F, 2) which feet carry
    microseconds   of each solve
    footing        of the pose in which it begins
    """

    clip: Clip
    down: np.ndarray
    microseconds: np.ndarray
    footing: Footing


def _solve(options: PoseOptions, body: LoadedBody, start: Clip | None, goals: PoseGoals) -> PosedMotion:
    """Return the motion into the pose, or the pose alone if no time is given."""
    from poise.body.strength.static import find_stiffness
    from poise.jobs.pose.standing import STEPS, StandingSolver, stand_at_ease, take_stance
    from poise.motion.clip import Clip

    character, skeleton = body.character, body.target.skeleton
    stiffness = None if options.weak is None else find_stiffness(character, options.weak)
    footing = stand_at_ease(character) if start is None else take_stance(character, start.root[0], start.rotations[0])
    solver = StandingSolver(character, footing, stiffness)
    way = solver.go(goals, np.linspace(0.0, 1.0, STEPS + 1)[1:].tolist())
    if options.seconds is None:
        still = Clip(skeleton, np.zeros(1), way.root[-1:], way.rotations[-1:], "pose")
        return PosedMotion(still, way.down[-1:], way.microseconds, footing)
    count = round(options.seconds * options.fps) + 1
    moved = solver.move(goals, way.rotations[-1], count)
    clip = Clip(skeleton, np.arange(count) / options.fps, moved.root, moved.rotations, "pose")
    return PosedMotion(clip, moved.down, way.microseconds, footing)


def _write(motion: PosedMotion, body: LoadedBody, goals: PoseGoals, outputs: Outputs, run: Run) -> dict[str, Any]:
    """Write the motion; return its metrics, of what was written."""
    from poise.ik.support_polygon import find_possible_margin
    from poise.jobs.pose.metrics import measure_pose
    from poise.jobs.shared.metrics import describe_body

    saved = body.target.save(motion.clip, outputs.motion, run)
    shown = motion.clip if saved.clip is None else saved.clip
    return {
        **measure_pose(shown, body.character, goals, motion.down, motion.footing.ground),
        "margin_m": goals.margin,
        "margin_used_m": find_possible_margin(motion.footing.find_support(goals.stand), goals.margin),
        "frames": len(motion.clip),
        **describe_body(body.character),
        "max_joint_error_m": saved.error,
        **({} if body.target.reading is None else body.target.reading.describe_bones()),
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }


def _draw(motion: PosedMotion, body: LoadedBody, goals: PoseGoals, outputs: Outputs) -> None:
    """Draw pictures, films and plots."""
    if not outputs.has_any("picture", "film", "plot"):
        return
    from poise.dynamics.kinematics import compute_center_of_mass
    from poise.dynamics.tree import build_tree
    from poise.files.output import write_bytes
    from poise.jobs.pose.pictures import draw_still, list_changes
    from poise.jobs.shared.metrics import find_supports
    from poise.jobs.shared.pictures import draw_body, mark_balance
    from poise.pictures.film import save_film
    from poise.pictures.image import save_png
    from poise.pictures.mix_plots import plot_center_of_mass
    from poise.pictures.picture import Picture, film_picture

    clip = motion.clip
    picture = Picture([draw_body(clip, body, mark_balance(clip, body, motion.down, goals.reach.values()))])
    moments = [0.0] if len(clip) == 1 else np.linspace(0.0, clip.duration, 6).tolist()
    for path in outputs["picture"]:
        save_png(path, draw_still(picture, moments))
    for path in outputs["plot"]:
        center = compute_center_of_mass(build_tree(body.character), *clip.poses)
        supports = list_changes(find_supports(clip, motion.down, motion.footing.ground))
        write_bytes(path, plot_center_of_mass(clip.times, center, supports, title="pose"))
    for path in outputs["film"]:
        save_film(path, film_picture(picture, np.arange(int(clip.duration * FPS) + 1) / FPS), FPS)
