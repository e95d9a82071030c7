"""A performance of two hands, played again without hands: read, performed, written, measured on what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import find_soles
from poise.errors import FileError, InputError, check_most, check_range
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.jobs.pose.job import PoseRecipe, Standee, check_recipe, find_body
from poise.jobs.walk.job import WalkOutputs, sort_outputs
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.puppetry.cues import Cue, sort_cues
from poise.puppetry.hands import HandsTake
from poise.puppetry.hands_file import SUFFIX, load_hands
from poise.puppetry.layers import PuppetLayer
from poise.puppetry.mapping import load_mapping
from poise.puppetry.performance import FILE, build_layers, load_performance, sort_layers
from poise.spatial import rotation
from poise.world.ground.ground import Ground
from poise.world.scenery import find_ground

FPS, LONGEST = 60.0, 3600.0
MOST_FRAMES = 400_000
_EDGE = 0.02  # s, at both ends of a stance, in which a foot is still coming down or already going up
_TOUCHES = 0.01  # m over the ground: a point of a sole that is higher has not come down yet, or is going up
File = str | PathLike[str]


@dataclass(frozen=True, eq=False)
class PuppetRecipe:
    """What is played, on whom.

    inputs     each a folder or file of a performance (`performance.toml`), or MAPPING=FILE.hands, or layers
    seconds    how long; None: to the end of the longest recording
    fps        frames a second
    terrain    flat, stairs, ...: see `poise walk`
    body, height, mass, character   as of `poise walk`
    """

    inputs: tuple[str | PuppetLayer, ...]
    seconds: float | None = None
    fps: float = FPS
    terrain: str = "flat"
    body: str | None = None
    height: float | None = None
    mass: float | None = None
    character: Character | Path | None = None

    def list_files(self) -> list[Path]:
        """Files that are read."""
        named = [Path(str(each).rpartition("=")[2]) for each in self.inputs if not isinstance(each, PuppetLayer)]
        named += [Path(self.terrain)] if Path(self.terrain).suffix else []
        return named + ([self.character] if isinstance(self.character, Path) else [])


@dataclass(frozen=True, eq=False)
class Puppetry:
    """What was played, and its figures under the names of `poise puppet --json`.

    clip     as it was written, where that could be read back
    stances  (side, from, to) s, when feet were down
    ground   that it was played on
    """

    clip: Clip
    body: Standee
    stances: tuple[tuple[int, float, float], ...]
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    ground: Ground | None = None

    @property
    def character(self) -> Character:
        """Whose body it is."""
        return self.body.character


@dataclass(frozen=True, eq=False)
class Performed:
    """What was played: the motion, when feet were down, samples of hands that were lost, falls, s in physics."""

    clip: Clip
    stances: tuple[tuple[int, float, float], ...]
    lost: int
    falls: int = 0
    in_physics: float = 0.0


def read_layers(inputs: Iterable[str | PuppetLayer]) -> list[PuppetLayer]:
    """Layers, from below: legs, trunk and arms in that order where recordings are given one by one."""
    return read_inputs(inputs)[0]


def read_inputs(inputs: Iterable[str | PuppetLayer]) -> tuple[list[PuppetLayer], tuple[Cue, ...]]:
    """Layers, as of `read_layers`, and the cues of the performances among the inputs."""
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


def run_puppet(
    asked: PuppetRecipe, outputs: WalkOutputs | None = None, audience: Reporter = SILENT, json: bool = False
) -> Puppetry:
    """Do what a recipe says."""
    outputs = WalkOutputs() if outputs is None else outputs
    check_range(audience.spell("fps"), asked.fps, 1.0, 1000.0, "frames a second")
    who = PoseRecipe(body=asked.body, height=asked.height, mass=asked.mass, character=asked.character)
    check_recipe(who, audience)
    outputs.check(asked.list_files(), audience, json)
    layers, cues = read_inputs(asked.inputs)
    seconds = max(_find_end(layer) for layer in layers) if asked.seconds is None else asked.seconds
    if not 0.0 < seconds <= LONGEST:
        raise InputError(f"a performance lasts up to {LONGEST:g} s; {seconds:g} s given.")
    check_most(f"{seconds:g} s have", round(seconds * asked.fps), MOST_FRAMES, "Take fewer frames.")
    body = find_body(who, audience)
    played = perform_cued(layers, cues, body.character, seconds, asked.fps, asked.terrain, audience)
    found = Puppetry(played.clip, body, played.stances)
    more = {
        "layers": [layer.mapping.name for layer in layers], "lost_samples": played.lost, "falls": played.falls,
        "physics_s": played.in_physics,
    }  # fmt: skip
    found = _write(found, outputs, find_ground(asked.terrain), more, audience)
    _draw(found, outputs)
    return found


def _find_end(layer: PuppetLayer) -> float:
    return layer.start + layer.hands.duration if isinstance(layer.hands, HandsTake) else 0.0


def perform_cued(
    layers: Iterable[PuppetLayer], cues: Iterable[Cue], character: Character, seconds: float, fps: float = FPS,
    terrain: str = "flat", audience: Reporter = SILENT,
) -> Performed:  # fmt: skip
    """What layers play, with cues."""
    from poise.drivers.puppet.puppet import Puppet
    from poise.jobs.puppet.cued_puppet import STEPS, TICK, CuedPuppet, find_tick
    from poise.stage.stage import Stage

    # Physics goes by the step: with cues it is the page's, so that the same is played again.
    due, ground = list(sort_cues(cues)), find_ground(terrain)
    stage = Stage(dt=TICK / STEPS, ground=ground) if due else Stage(ground=ground)
    actor = stage.add(character)
    puppet = CuedPuppet(actor, tuple(layers))
    actor.drive("body", Puppet(puppet.layers))
    audience.progress(f"playing {seconds:.0f} s")

    def follow(_t: float) -> None:
        while due and stage.steps >= STEPS * find_tick(due[0]):
            puppet.do(due.pop(0).do)

    take = stage.run(seconds, fps=fps, each=follow if due else None)
    puppet.end(seconds)
    return Performed(take.clip(), tuple(puppet.stances), puppet.lost, puppet.falls, puppet.in_physics)


def _write(
    found: Puppetry, outputs: WalkOutputs, ground: Ground | None, more: Mapping[str, Any], audience: Reporter
) -> Puppetry:
    """Write the motion; it and its figures as they are in the file."""
    from poise.jobs.shared.metrics import describe_body

    clip, body = found.clip, found.body
    saved = body.target.save(clip, next(iter(outputs.motions), None), audience)
    for path in outputs.motions[1:]:
        body.target.write(clip, path)
    shown = clip if saved.clip is None else saved.clip
    figures = {
        **measure_puppet(shown, found.stances, ground),
        **more,
        "frames": len(clip),
        "fps": round(clip.fps, 9),
        "duration_s": clip.duration,
        **describe_body(body.character),
        "max_joint_error_m": saved.error,
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }
    return Puppetry(shown, body, found.stances, figures, tuple(outputs), ground)


def measure_puppet(
    clip: Clip, stances: Iterable[tuple[int, float, float]], ground: Ground | None = None
) -> dict[str, Any]:
    """Figures of a motion: of the feet while they are down, by heel or ball, whichever is lower over the ground."""
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


def _draw(found: Puppetry, outputs: WalkOutputs) -> None:
    """Films and pictures."""
    if not (outputs.films or outputs.pictures):
        return
    from poise.jobs.puppet.pictures import draw_puppet_sheet, film_puppet
    from poise.pictures.image import save_png

    for path in outputs.pictures:
        save_png(path, draw_puppet_sheet(found))
    for path in outputs.films:
        film_puppet(found, path)


@checked
def puppet(
    inputs: File | PuppetLayer | Iterable[File | PuppetLayer],
    *,
    seconds: float | None = None,
    fps: float = FPS,
    terrain: str = "flat",
    body: str | None = None,
    height: float | None = None,
    mass: float | None = None,
    character: Character | File | None = None,
    outputs: File | Iterable[File] = (),
    tell: Callable[[str, str], None] | None = None,
) -> Puppetry:
    """Play a performance of two hands: all that `poise puppet` does.

    inputs     a performance's folder or file, recordings as in "legs=take.hands", or `PuppetLayer`; one or several
    seconds    how long; None: to the end of the longest recording
    terrain    what it stands on: flat, slope, stairs, ...
    body       a kind of body of a `height` (m) and a `mass` (kg); or `character`: a body, or its file
    outputs    files to write, by their suffixes: motions, films, .png of some moments
    """
    given = [inputs] if isinstance(inputs, str | PathLike | PuppetLayer) else list(inputs)
    files = [outputs] if isinstance(outputs, str | PathLike) else list(outputs)
    asked = PuppetRecipe(
        tuple(each if isinstance(each, PuppetLayer) else str(each) for each in given), seconds, fps, terrain, body,
        height, mass, Path(character) if isinstance(character, str | PathLike) else character,
    )  # fmt: skip
    return run_puppet(asked, sort_outputs(map(Path, files)), RecordingReporter(tell))
