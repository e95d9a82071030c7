"""A performance of two hands, played again without hands: read, performed, written, measured on what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import numpy as np

from poise.errors import FileError, InputError, check_most
from poise.files.reporting import SILENT, Reporter
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.body_options import BodyOptions
from poise.jobs.shared.outputs import FILMS, Outputs, sort_outputs
from poise.kinds import brief
from poise.options import File, JobOptions, Option

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.jobs.shared.body import LoadedBody
    from poise.motion.clip import Clip
    from poise.puppetry.cues import Cue
    from poise.puppetry.layers import PuppetLayer
    from poise.world.ground.ground import Ground
FPS, LONGEST = 60.0, 3600.0
MOST_FRAMES = 400_000
_EDGE = 0.02  # s, at both ends of a stance, in which a foot is still coming down or already going up
_TOUCHES = 0.01  # m over the ground: a higher point of a sole has not come down yet, or is going up


def _take_inputs(given: Any) -> tuple[str | PuppetLayer, ...]:
    """Return inputs: layers as they are, and files as texts, since a text may name a mapping as well."""
    from poise.puppetry.layers import PuppetLayer

    single = isinstance(given, str | PathLike | PuppetLayer) or not isinstance(given, Iterable)
    found: list[str | PuppetLayer] = []
    for each in [given] if single else given:
        if not isinstance(each, str | PathLike | PuppetLayer):
            raise InputError(
                f"inputs must be layers, or the paths of recordings as in 'legs=take.hands'; got {brief(each)}."
            )
        found.append(each if isinstance(each, PuppetLayer) else str(each))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class PlayOptions(JobOptions, BodyOptions):
    """The recordings of a performance, and the ground on which it is played."""

    title: ClassVar[str] = JobOptions.title

    inputs: Annotated[
        PuppetLayer | File | Iterable[PuppetLayer | File],
        Option(
            "Recordings that are played again, without a page: the folder of a performance, its .toml, or "
            "MAPPING=FILE.hands as in legs=take.hands (legs, trunk, arms, or a mapping of yours: FILE.toml); "
            "repeatable.",
            flag="--input",
            short="-i",
            several=True,
            accept=_take_inputs,
        ),
    ] = field(default=(), kw_only=False)
    outputs: Annotated[
        File | Iterable[File],
        Option(
            "The motion, in any format that is written; a film (.mp4, .webm, .webp, .gif); or a .png of stills; "
            "repeatable. Needs -i.",
            flag="--output",
            short="-o",
            several=True,
            writes=True,
        ),
    ] = ()
    seconds: Annotated[
        float | None, Option("Duration. Needs -i.", unit="s", default="to the end of the recordings")
    ] = None
    terrain: Annotated[str, Option("The ground: flat, slope, stairs, rough, or a file.")] = "flat"
    fps: Annotated[
        float, Option("Frame rate of the motion. Needs -i.", between=(1.0, 1000.0), unit="frames a second")
    ] = FPS


@dataclass(frozen=True, eq=False)
class PuppetResult:
    """What was played, and its metrics under the names of `poise puppet --json`.

    clip     as it was written, if that can be read back
    stances  (side, from, to) s, when feet were down
    ground   that it was played on
    """

    clip: Clip
    body: LoadedBody
    stances: tuple[tuple[int, float, float], ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    ground: Ground | None = None

    @property
    def character(self) -> Character:
        """The body that was played."""
        return self.body.character


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """A motion, when feet were down, samples of hands that were lost, falls, and s in physics."""

    clip: Clip
    stances: tuple[tuple[int, float, float], ...]
    lost: int
    falls: int = 0
    in_physics: float = 0.0


def read_inputs(inputs: Iterable[str | PuppetLayer]) -> tuple[list[PuppetLayer], tuple[Cue, ...]]:
    """Return layers, from below, and the cues of the performances among the inputs.

    Recordings that are given one by one are in the order legs, trunk, arms.
    """
    from poise.puppetry.cues import sort_cues
    from poise.puppetry.hands_file import SUFFIX, load_hands
    from poise.puppetry.layers import PuppetLayer
    from poise.puppetry.mapping import load_mapping
    from poise.puppetry.performance import FILE, build_layers, load_performance, sort_layers

    found: list[PuppetLayer] = []
    cues: list[Cue] = []
    for each in inputs:
        if isinstance(each, PuppetLayer):
            found.append(each)
            continue
        mapping, equals, file = each.rpartition("=")
        path = Path(file)
        if equals:
            found.append(PuppetLayer(load_mapping(mapping), load_hands(path)))
        elif path.is_dir() or path.suffix.lower() == ".toml":
            path = path / FILE if path.is_dir() else path
            performance = load_performance(path)
            found += build_layers(performance, path.parent)
            cues += performance.cues
        elif path.suffix.lower() == SUFFIX:
            raise InputError(
                f"what the hands of {path.name} mean is not said: write MAPPING=FILE, as in legs={path.name}."
            )
        else:
            raise FileError(
                path, f"is no performance: give its folder, its {FILE}, or recordings as in legs=FILE{SUFFIX}."
            )
    if not found:
        raise InputError("nothing is played: no layer has a recording that is not mute.")
    return sort_layers(found), sort_cues(cues)


@job(PlayOptions)
def puppet(options: PlayOptions, run: Run) -> PuppetResult:
    """Play a performance of two hands again.

    The same recordings give the same file; figures are measured on it.
    """
    return play(options, run)


def play(options: PlayOptions, run: Run) -> PuppetResult:
    """Play recordings; write, measure and draw the motion."""
    from poise.jobs.shared.body import build_loaded_body, check_body
    from poise.puppetry.layers import PuppetLayer
    from poise.world.scenery import find_ground

    check_body(options, run)
    inputs = cast("tuple[str | PuppetLayer, ...]", options.inputs)
    read = [Path(str(each).rpartition("=")[2]) for each in inputs if not isinstance(each, PuppetLayer)]
    read += [Path(options.terrain)] if Path(options.terrain).suffix else []
    outputs = sort_outputs(cast("tuple[Path, ...]", options.outputs), {".png": "picture"})
    outputs.check([*read, options.character], run, "a performance", f"a film ({', '.join(FILMS)}) or a .png")
    layers, cues = read_inputs(inputs)
    seconds = max(_find_end(layer) for layer in layers) if options.seconds is None else options.seconds
    if not 0.0 < seconds <= LONGEST:
        raise InputError(f"a performance lasts up to {LONGEST:g} s; {seconds:g} s given.")
    check_most(f"{seconds:g} s have", round(seconds * options.fps), MOST_FRAMES, "Take fewer frames.")
    body, ground = build_loaded_body(options, (), run), find_ground(options.terrain)
    played = perform_cued(layers, cues, body.character, seconds, options.fps, ground, run)
    more = {
        "layers": [layer.mapping.name for layer in layers], "lost_samples": played.lost, "falls": played.falls,
        "physics_s": played.in_physics,
    }  # fmt: skip
    result = _write(played, body, outputs, ground, more, run)
    _draw(result, outputs)
    run.answer = Answer({**result.figures, "files": [str(path) for path in result.files]})
    return result


def _find_end(layer: PuppetLayer) -> float:
    from poise.puppetry.hands import HandsTake

    return layer.start + layer.hands.duration if isinstance(layer.hands, HandsTake) else 0.0


def perform_cued(
    layers: Iterable[PuppetLayer], cues: Iterable[Cue], character: Character, seconds: float, fps: float = FPS,
    ground: Ground | None = None, reporter: Reporter = SILENT,
) -> PlayedMotion:  # fmt: skip
    """Return the motion of a character that layers play, with cues. ground: None for a level one"""
    from poise.drivers.puppet.puppet import Puppet
    from poise.jobs.puppet.cued_puppet import STEPS, TICK, CuedPuppet, find_tick
    from poise.puppetry.cues import sort_cues
    from poise.stage.stage import Stage
    from poise.world.scenery import find_ground

    # Physics goes by the step: with cues it is the page's, so that the same is played again.
    due, ground = list(sort_cues(cues)), find_ground("flat") if ground is None else ground
    stage = Stage(dt=TICK / STEPS, ground=ground) if due else Stage(ground=ground)
    actor = stage.add(character)
    puppet = CuedPuppet(actor, tuple(layers))
    actor.drive("body", Puppet(puppet.layers))
    reporter.progress(f"playing {seconds:.0f} s")

    def follow(_t: float) -> None:
        while due and stage.steps >= STEPS * find_tick(due[0]):
            puppet.do(due.pop(0).do)

    take = stage.run(seconds, fps=fps, each=follow if due else None)
    puppet.end(seconds)
    return PlayedMotion(take.clip(), tuple(puppet.stances), puppet.lost, puppet.falls, puppet.in_physics)


def _write(
    played: PlayedMotion,
    body: LoadedBody,
    outputs: Outputs,
    ground: Ground | None,
    more: Mapping[str, Any],
    run: Run,
) -> PuppetResult:
    """Write the motion; return it and its metrics as they are in the file."""
    from poise.jobs.shared.metrics import describe_body

    saved = body.target.save(played.clip, outputs.motion, run)
    for path in outputs["output"][1:]:
        body.target.write(played.clip, path)
    clip = played.clip if saved.clip is None else saved.clip
    figures = {
        **measure_puppet(clip, played.stances, ground),
        **more,
        "frames": len(played.clip),
        "fps": round(played.clip.fps, 9),
        "duration_s": played.clip.duration,
        **describe_body(body.character),
        "max_joint_error_m": saved.error,
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }
    return PuppetResult(clip, body, played.stances, figures, tuple(outputs), ground)


def measure_puppet(
    clip: Clip, stances: Iterable[tuple[int, float, float]], ground: Ground | None = None
) -> dict[str, Any]:
    """Figures of a motion: of the feet while they are down, by heel or ball, whichever is lower over the ground."""
    from poise.body.geometry.soles import find_soles
    from poise.spatial import rotation

    positions, turns = clip.world
    times, slips, count = clip.times - clip.times[0], [0.0], 0
    soles = find_soles(clip.skeleton)
    for side, begin, end in stances:
        sole = soles[side]
        rows = np.flatnonzero((times >= begin + _EDGE) & (times <= end - _EDGE))
        count += 1
        if len(rows) < 2:
            continue
        heel = positions[rows, sole.foot] + rotation.rotate(turns[rows, sole.foot], sole.heel)
        if sole.toes is None:
            ball = positions[rows, sole.foot] + rotation.rotate(turns[rows, sole.foot], sole.tip)
        else:  # below the joint of the toes, about which a foot rolls
            ball = positions[rows, sole.toes] + np.array([0.0, sole.ball[1], 0.0])
        points = np.stack([heel, ball], axis=1)
        over = points[..., 1] - (0.0 if ground is None else ground.height_at(points[..., 0], points[..., 2]))
        lower = np.argmin(over[:-1] + over[1:], axis=1)
        way = np.linalg.norm(np.diff(points, axis=0)[:, :, [0, 2]], axis=2)
        steps = np.arange(len(way))
        touches = np.maximum(over[:-1], over[1:])[steps, lower] < _TOUCHES
        slips.append(float((way[steps, lower] * touches).sum()))
    speeds = rotation.log(rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:])) * clip.fps
    hips = positions[:, clip.skeleton.index("hips")]
    return {
        "foot_slip_mm": 1000.0 * max(slips),
        "stances": count,
        "travelled_m": float(np.linalg.norm(np.diff(hips[:, [0, 2]], axis=0), axis=1).sum()),
        "fastest_bone_rad_s": float(np.linalg.norm(speeds, axis=-1).max()) if len(clip) > 1 else 0.0,
    }


def _draw(result: PuppetResult, outputs: Outputs) -> None:
    """Draw films and pictures."""
    if not outputs.has_any("film", "picture"):
        return
    from poise.jobs.puppet.pictures import draw_puppet_sheet, film_puppet
    from poise.pictures.image import save_png

    for path in outputs["picture"]:
        save_png(path, draw_puppet_sheet(result))
    for path in outputs["film"]:
        film_puppet(result, path)
