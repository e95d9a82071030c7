"""A walk from a body, a ground and goals alone: planned, posed, written, measured on what was written, drawn."""

from __future__ import annotations

import dataclasses
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

import numpy as np

from poise.errors import InputError, check_most
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.body_options import BodyOptions, LoadOptions, parse_numbers, parse_pairs
from poise.jobs.shared.outputs import FILMS, Outputs, sort_outputs
from poise.options import File, JobOptions, Option, is_number
from poise.walking.gait import RANGES, Gait
from poise.walking.path.planner import FACINGS

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.jobs.shared.body import LoadedBody
    from poise.jobs.walk.metrics import Footfall, WalkBalance
    from poise.motion.clip import Clip
    from poise.world.ground.floor import Floor
    from poise.world.ground.ground import Ground
    from poise.world.scenery import Scenery
WALKED, FELL = 0, 1  # exit codes
STEPS, FPS, FILM_FPS = 30, 60.0, 30.0
MOST_STEPS = 5000
MOST_FRAMES = 400_000
_STILL = 0.3  # s of standing at the end
_CHUNK = 60  # frames that are posed at once
_DEGREES = ("toe_out", "lean")  # options in degrees, of a `Gait` in radians


def parse_path(text: str) -> list[tuple[float, ...]]:
    """Return the waypoints of a text such as `0,2`; several are separated by spaces or semicolons."""
    return [_parse_waypoint(piece) for piece in re.split(r"[;\s]+(?=[-+.0-9a-z])", text.strip(" ;"))]


def _parse_waypoint(text: str) -> tuple[float, ...]:
    numbers = parse_numbers(text, 2)
    if numbers is None:
        raise InputError(f"a place of a path is two numbers, x,z in metres, as in 0,2; '{text.strip():.60}' given.")
    return numbers


def _parse_shape(text: str) -> tuple[str, Any]:
    """Return name and value of a terrain's option, as in `rise=0.15` or `random=yes`."""
    key, equals, value = (piece.strip() for piece in text.partition("="))
    if not (key and equals and value):
        raise InputError(f"a terrain's option is written as name=value, as in rise=0.15; '{text:.60}' given.")
    pieces = [piece.strip() for piece in value.split(",")]
    if value.lower() in ("yes", "true", "no", "false"):
        return key, value.lower() in ("yes", "true")
    if not all(map(is_number, pieces)):
        return key, value
    numbers = [int(piece) if re.fullmatch(r"[-+]?[0-9]{1,9}", piece) else float(piece) for piece in pieces]
    return key, numbers[0] if len(numbers) == 1 else tuple(map(float, numbers))


def take_shape(given: Any) -> dict[str, Any]:
    """Return the options of a terrain, of a mapping or of `name=value` texts."""
    return parse_pairs(given, _parse_shape)


def _gait(name: str, help: str) -> Any:
    limits = None if name in _DEGREES else RANGES[name]
    return Option(help, between=limits, unit="degrees" if name in _DEGREES else "")


@dataclass(frozen=True, kw_only=True)
class GaitOptions:
    """The settings of `Gait`, which Python gives as `manner`. Lengths are fractions of the leg's length."""

    title: ClassVar[str] = "How it walks"

    step: Annotated[float, _gait("step", "Length of a step, in lengths of the leg.")] = field(
        default=Gait.step, init=False
    )
    width: Annotated[float, _gait("width", "Distance between the feet's lines, in lengths of the leg.")] = field(
        default=Gait.width, init=False
    )
    pace: Annotated[float, _gait("pace", "Quickness: 2 takes half the time.")] = field(default=Gait.pace, init=False)
    lift: Annotated[float, _gait("lift", "Height of swinging feet, in lengths of the leg.")] = field(
        default=Gait.lift, init=False
    )
    arms: Annotated[float, _gait("arms", "Swing of the arms: 0 none, 1 as people's.")] = field(
        default=Gait.arms, init=False
    )
    roll: Annotated[float, _gait("roll", "Roll of the feet from heel to toes: 0 keeps them flat.")] = field(
        default=Gait.roll, init=False
    )
    stretch: Annotated[float, _gait("stretch", "Straightness of the legs: 0.9 crouches, nearer 1 is upright.")] = field(
        default=Gait.stretch, init=False
    )
    margin: Annotated[float, _gait("margin", "Distance (m) of the centre of mass inside its support.")] = field(
        default=Gait.margin, init=False
    )
    toe_out: Annotated[float, _gait("toe_out", "Angle by which feet point outwards.")] = field(default=7.0, init=False)
    lean: Annotated[float, _gait("lean", "Angle by which the trunk leans forward.")] = field(default=2.0, init=False)
    manner: Annotated[Gait | None, Option("How it walks.", flag="")] = None

    def build_gait(self, run: Run) -> Gait:
        """Return the gait: Python's, or that of the options that were given."""
        if self.manner is not None:
            return self.manner
        names = [each.name for each in dataclasses.fields(Gait) if run.is_given(each.name)]
        values = {name: getattr(self, name) for name in names}
        return Gait(**{name: math.radians(value) if name in _DEGREES else value for name, value in values.items()})


@dataclass(frozen=True, kw_only=True)
class WalkOptions(JobOptions, GaitOptions, BodyOptions, LoadOptions):
    """Options of `walk`."""

    terrain: Annotated[
        Ground | File,
        Option(
            "flat, slope, stairs, rough or moving; or a file: heights (.png, .npz), a mesh (.glb, .gltf), a stage "
            "(.toml).",
            flag="--terrain",
        ),
    ] = field(default=Path("flat"), kw_only=False)
    steps: Annotated[
        int | None,
        Option("How many.", flag="--steps", between=(1, MOST_STEPS), default="30, or to the end of the path"),
    ] = field(default=None, kw_only=False)
    path: Annotated[
        Sequence[float] | str | Iterable[Sequence[float] | str],
        Option(
            "x,z x,z ...: places to walk through, m; it begins at 0,0 and faces +Z.",
            flag="--path",
            several=True,
            takes_several=True,
            parse=parse_path,
            example="0,2",
        ),
    ] = field(default=(), kw_only=False)
    outputs: Annotated[
        File | Iterable[File],
        Option(
            "The motion, in any format that is written; a film (.mp4, .webm, .webp, .gif); or a .png of stills; "
            "repeatable.",
            flag="--output",
            short="-o",
            several=True,
            writes=True,
            is_needed=True,
        ),
    ] = ()
    goal: Annotated[
        Sequence[float] | str | None,
        Option("x,z: where the path ends, m.", parse=_parse_waypoint, example="0,2"),
    ] = None
    facing: Annotated[
        str,
        Option("How it goes: back walks backwards; left and right sideways, to that side.", choices=tuple(FACINGS)),
    ] = "ahead"
    shape: Annotated[
        Mapping[str, Any],
        Option(
            "name=value of the terrain, as in rise=0.15 or random=yes for stairs; repeatable.",
            several=True,
            accept=take_shape,
        ),
    ] = field(default_factory=dict)
    stage: Annotated[File | None, Option("TOML of ground and props that stand on it, instead of a terrain.")] = field(
        default=None, init=False
    )
    seed: Annotated[int, Option("Seed of a random terrain.", flag="")] = 0
    fps: Annotated[float, Option("Frame rate of the motion.", between=(1.0, 1000.0), unit="frames a second")] = FPS
    film: Annotated[File | None, Option("A film of it: .mp4, .webm, .webp or .gif.", writes=True)] = field(
        default=None, init=False
    )
    plot: Annotated[File | None, Option("PNG of the centre of mass over the support.", writes=True)] = None
    joints: Annotated[File | None, Option("PNG of the angles of the legs.", writes=True)] = None

    @property
    def files(self) -> Outputs:
        """The files to write."""
        listed = sort_outputs(
            cast("tuple[Path, ...]", self.outputs), {".png": "picture"}, None if self.film is None else Path(self.film)
        )
        more = (("plot", self.plot), ("joints", self.joints))
        return Outputs(listed.named + tuple((option, Path(path)) for option, path in more if path is not None))


@dataclass(frozen=True, eq=False)
class WalkResult:
    """A walk, and its metrics under the names of `poise walk --json`.

    clip       as it was written, if that can be read back
    body       with its loads
    floor      the ground with its props
    footfalls  the stances of the feet
    balance    of the centre of mass over the support, per frame
    """

    clip: Clip
    body: LoadedBody
    scenery: Scenery
    floor: Floor
    footfalls: tuple[Footfall, ...]
    balance: WalkBalance
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def fell(self) -> bool:
        """Whether the centre of mass was outside of the support for longer than a frame."""
        return bool(self.figures.get("fell"))

    @property
    def character(self) -> Character:
        """The body that walks, with its loads."""
        return self.body.character


@job(WalkOptions, is_random=True)
def walk(options: WalkOptions, run: Run) -> WalkResult:
    """Have a body walk over a ground, balanced all the time.

    Footholds are looked for as it goes; what is in the way is walked around, and what cannot be stepped on or over is
    told. Figures are measured on the file. Exit 1 if its centre of mass is ever outside of what carries it.
    """
    from poise.jobs.shared.body import build_loaded_body, check_body

    _check(options, run)
    check_body(options, run)
    terrain = options.terrain if options.stage is None else options.stage
    outputs, files = options.files, [terrain] if isinstance(terrain, Path) and terrain.suffix else []
    outputs.check([*files, options.character], run, "a walk", f"a film ({', '.join(FILMS)}) or a .png")
    scenery = find_scenery(terrain, options.shape, options.seed)
    body = build_loaded_body(options, options.carried, run)
    plan = plan_walk(options, body, scenery, run)
    result = _write(plan, options, body, scenery, outputs, run)
    if result.fell:
        run.warn(
            f"at {result.figures['fell_at_s']:.2f} s the centre of mass is outside of what carries it, by up to "
            f"{-1000.0 * result.figures['com_margin_m']:.0f} mm."
        )
    _draw(result, outputs)
    files_json = [str(path) for path in result.files]
    run.answer = Answer({**result.figures, "files": files_json}, exit_code=FELL if result.fell else WALKED)
    return result


def _check(options: WalkOptions, run: Run) -> None:
    """Raise InputError for waypoints that make no sense, and options that contradict each other."""
    from poise.world.scenery import is_random

    if options.stage is not None and (run.is_given("terrain") or options.shape):
        raise InputError("--stage has a ground of its own; leave out --terrain and --shape, or --stage.")
    for place in _list_waypoints(options):
        if len(place) != 2 or not all(math.isfinite(each) for each in place):
            raise InputError(
                f"a place of {run.spell('path')} is two finite numbers, x and z; given {tuple(place)!r:.60}."
            )
    text = str(options.terrain) if options.stage is None else ""
    if run.is_given("seed") and not is_random(text, options.shape):
        run.note(f"nothing is random here, so {run.spell('seed')} changes nothing.")


def _list_waypoints(options: WalkOptions) -> list[Sequence[float]]:
    goal = () if options.goal is None else (options.goal,)
    return [*cast("tuple[Sequence[float], ...]", options.path), *cast("tuple[Sequence[float], ...]", goal)]


def find_scenery(terrain: Ground | File, shape: Mapping[str, Any], seed: int = 0) -> Scenery:
    """Return the ground and the props; InputError for those that a planned walk cannot have."""
    from poise.world.ground.ground import Ground
    from poise.world.ground.moving import MovingGround
    from poise.world.scenery import Scenery, find_terrain

    if "friction" in shape:
        raise InputError("'friction' of a terrain has no effect: a walk is planned, not simulated. Leave it out.")
    if isinstance(terrain, Ground):
        if shape:
            raise InputError("options of a terrain are for words and height maps; a ground is given as it is.")
        found = Scenery(terrain, True)
    else:
        try:
            found = find_terrain(str(terrain), seed, **shape)
        except TypeError as error:  # an option of the wrong kind
            raise InputError(f"an option of terrain '{terrain}' is of the wrong kind: {error}.") from None
    if isinstance(found.ground, MovingGround) and found.props:
        raise InputError("props do not go along with a ground that moves. Leave out the props, or the motion.")
    loose = [prop.name for prop in found.props if prop.inertia is not None]
    if loose:
        raise InputError(
            f"prop '{loose[0]}' has a mass, and nothing is simulated here. Leave out its mass: then it stays."
        )
    return found


@dataclass(frozen=True, eq=False)
class PlannedWalk:
    """A motion, the stances of its feet, and `solve_us` and `plan_ms_a_step`: the time that it took to find."""

    clip: Clip
    footfalls: tuple[Footfall, ...]
    speed: Mapping[str, float]


def plan_walk(options: WalkOptions, body: LoadedBody, scenery: Scenery, run: Run) -> PlannedWalk:
    """Return the motion on a ground. One that moves is planned as if it were still, and moved along with the ground."""
    from poise.jobs.walk.metrics import Footfall
    from poise.motion.clip import Clip
    from poise.walking.start import start_walk
    from poise.world.ground.floor import Floor
    from poise.world.ground.moving import MovingGround

    ground = scenery.ground
    still = ground.ground if isinstance(ground, MovingGround) else ground
    path, gait = _list_waypoints(options), options.build_gait(run)
    steps = options.steps if options.steps is not None or path else STEPS
    run.progress("planning")
    begin = time.perf_counter()
    poser = start_walk(
        body.character, Floor(still, scenery.props), steps, path or None, facing=options.facing,
        manner=gait,
    )  # fmt: skip
    walker = poser.walker
    for name in ("step", "lift"):
        given, used = getattr(gait, name), getattr(walker.manner, name)
        if used < given != getattr(Gait(), name):
            run.note(f"{run.spell(name)} is {used:g} instead of {given:g}: a knee of this body hardly bends.")
    walker.reach(math.inf)
    planned = time.perf_counter() - begin
    count = math.ceil((walker.end + _STILL) * options.fps) + 1
    check_most(f"{walker.end:.0f} s of walking have {count} frames", count, MOST_FRAMES, "Take fewer steps or frames.")
    times = np.arange(count) / options.fps
    root, rotations, took = [], [], []
    run.progress(f"posing {count} frames")
    for first in range(0, count, _CHUNK):
        wanted = poser.ask(times[first : first + _CHUNK])
        begin = time.perf_counter()
        posed = poser.follower.follow(**wanted)
        took.append((time.perf_counter() - begin) / len(posed.root))
        root.append(posed.root)
        rotations.append(posed.rotations)
    carried = np.array([ground.shift(float(t)) for t in times]) if isinstance(ground, MovingGround) else 0.0
    clip = Clip(body.target.skeleton, times, np.concatenate(root) + carried, np.concatenate(rotations), "walk")
    falls = tuple(
        Footfall(side, stance.land, stance.flat, stance.rise, stance.off, np.asarray(stance.place))
        for side in range(2)
        for stance in walker.course.stances[side]
    )
    speed = {"solve_us": 1e6 * float(np.median(took)), "plan_ms_a_step": 1e3 * planned / len(walker.course.steps)}
    return PlannedWalk(clip, falls, speed)


def _write(
    plan: PlannedWalk, options: WalkOptions, body: LoadedBody, scenery: Scenery, outputs: Outputs, run: Run
) -> WalkResult:
    """Write the motion; return it and its metrics as they are in the file."""
    from poise.jobs.shared.metrics import describe_body
    from poise.jobs.walk.metrics import measure_balance, measure_walk
    from poise.world.ground.floor import Floor

    saved = body.target.save(plan.clip, outputs.motion, run)
    for path in outputs["output"][1:]:
        body.target.write(plan.clip, path)
    clip, floor = plan.clip if saved.clip is None else saved.clip, Floor(scenery.ground, scenery.props)
    balance = measure_balance(clip, body.character, floor, plan.footfalls)
    terrain = options.terrain if options.stage is None else options.stage
    figures = {
        **measure_walk(clip, body.character, floor, plan.footfalls, balance),
        **plan.speed,
        "terrain": str(terrain) if isinstance(terrain, Path) else type(scenery.ground).__name__,
        "frames": len(plan.clip),
        "fps": options.fps,
        **describe_body(body.character),
        "max_joint_error_m": saved.error,
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }
    return WalkResult(clip, body, scenery, floor, plan.footfalls, balance, figures, tuple(outputs))


def _draw(result: WalkResult, outputs: Outputs) -> None:
    """Draw films, pictures and plots."""
    if not outputs.has_any("film", "picture", "plot", "joints"):
        return
    from poise.files.output import write_bytes
    from poise.jobs.walk.pictures import draw_walk_sheet, film_walk, plot_leg_angles, plot_walk
    from poise.pictures.image import save_png

    for path in outputs["plot"]:
        write_bytes(path, plot_walk(result))
    for path in outputs["joints"]:
        write_bytes(path, plot_leg_angles(result))
    for path in outputs["picture"]:
        save_png(path, draw_walk_sheet([result]))
    for path in outputs["film"]:
        film_walk([result], path, FILM_FPS)
