"""A walk from nothing but a body, a ground and goals: planned, posed, written, measured on what was written, drawn."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.errors import FileError, InputError, check_most, check_range, unknown_name
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.jobs.pose.job import PoseRecipe, Standee, check_recipe, find_body
from poise.jobs.shared.options import parse_load
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.jobs.walk.metrics import Footfall, WalkBalance
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.walking.gait import Gait
from poise.walking.path.planner import FACINGS
from poise.world.forces import Load
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground
from poise.world.ground.moving import MovingGround
from poise.world.scenery import Scenery

STEPS, FPS, FILM_FPS = 30, 60.0, 30.0
MOST_STEPS = 5000
MOST_FRAMES = 400_000
FILMS = (".mp4", ".webm", ".webp", ".gif")
_STILL = 0.3  # s, that it stands in the end
_CHUNK = 60  # frames that are asked for at once
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf|nan"
File = str | PathLike[str]
Place = Sequence[float]


@dataclass(frozen=True, eq=False)
class WalkRecipe:
    """Who walks where, and how.

    terrain    a word, a file, a ground, or ground and props;  shape: options of it (`find_terrain`)
    seed       of what a terrain has at random
    steps      how many; None: 30, or to the end of a path
    path       (x, z) m, places to walk through
    facing     ahead; back: backwards; left, right: sideways, to that side
    manner     how it walks
    loads      what is carried
    body       a kind of body: `physiques.PHYSIQUES`;  height, mass: of the average one that it is made from
    character  a body, or its file
    fps        frames a second
    """

    terrain: str | Path | Ground | Scenery = "flat"
    shape: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    steps: int | None = None
    path: tuple[Place, ...] = ()
    facing: str = "ahead"
    manner: Gait = field(default_factory=Gait)
    loads: tuple[Load, ...] = ()
    body: str | None = None
    height: float | None = None
    mass: float | None = None
    character: Character | Path | None = None
    fps: float = FPS

    def list_files(self) -> list[Path]:
        """Files that are read."""
        named = [Path(self.terrain)] if isinstance(self.terrain, str | Path) and Path(self.terrain).suffix else []
        return named + ([self.character] if isinstance(self.character, Path) else [])


@dataclass(frozen=True)
class WalkOutputs:
    """Files to write. Figures are measured on the first of the motions."""

    motions: tuple[Path, ...] = ()
    films: tuple[Path, ...] = ()
    pictures: tuple[Path, ...] = ()
    plots: tuple[Path, ...] = ()
    joints: tuple[Path, ...] = ()

    def check(self, read: Iterable[Path], audience: Reporter = SILENT, json: bool = False) -> None:
        """Refuse what cannot be written, before anything is done."""
        from poise.files.registry import check_can_save, find_format
        from poise.pictures.film import check_film

        read = tuple(read)
        kinds = {"output": self.motions, "film": self.films, "picture": self.pictures, "plot": self.plots,
                 "joints": self.joints}  # fmt: skip
        check_outputs(read, [(audience.spell(kind), path) for kind, paths in kinds.items() for path in paths], json)
        for path in self.motions:
            entry = find_format(path)
            if entry is None or entry.save is None:
                raise FileError(
                    path, f"'{path.suffix}' cannot be written; a walk is written as a motion (.glb, .bvh, ...), a film "
                    f"({', '.join(FILMS)}) or a .png."
                )  # fmt: skip
            check_can_save(path, read)
        for option in ("picture", "plot", "joints"):
            for path in kinds[option]:
                check_suffix(audience.spell(option), path, ".png")
        for path in self.films:
            check_suffix(audience.spell("film"), path, *FILMS)
            check_film(path)

    def __iter__(self) -> Any:
        return iter((*self.motions, *self.films, *self.pictures, *self.plots, *self.joints))


def sort_outputs(paths: Iterable[Path]) -> WalkOutputs:
    """Paths by what their suffixes name: films, pictures (.png), and motions."""
    found: dict[str, list[Path]] = {"motions": [], "films": [], "pictures": []}
    for path in paths:
        suffix = path.suffix.lower()
        found["films" if suffix in FILMS else "pictures" if suffix == ".png" else "motions"].append(path)
    return WalkOutputs(**{kind: tuple(each) for kind, each in found.items()})


@dataclass(frozen=True, eq=False)
class WalkFound:
    """A walk, and its figures under the names of `poise walk --json`.

    clip       as it was written, where that could be read back
    body       whose it is, with what it carries
    floor      what it walked on;  props: what stands on it
    footfalls  where feet stood, and when
    balance    its centre of mass over what was down, frame by frame
    """

    clip: Clip
    body: Standee
    scenery: Scenery
    floor: Floor
    footfalls: tuple[Footfall, ...]
    balance: WalkBalance
    figures: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def fell(self) -> bool:
        """Whether the centre of mass was outside of what carries for longer than a frame."""
        return bool(self.figures.get("fell"))

    @property
    def character(self) -> Character:
        """Whose body walks, with what it carries."""
        return self.body.character


def parse_path(words: Iterable[str]) -> tuple[tuple[float, float], ...]:
    """Places out of words, as in `0,2` `1.5,4`; several in one word are apart by spaces or semicolons."""
    places = []
    for word in words:
        for piece in re.split(r"[;\s]+(?=[-+.0-9a-z])", word.strip(" ;")):
            numbers = [each.strip() for each in piece.split(",")]
            if len(numbers) != 2 or any(re.fullmatch(_NUMBER, each, re.IGNORECASE) is None for each in numbers):
                raise InputError(f"a place of a path is two numbers, x,z in metres, as in 0,2; '{piece:.60}' given.")
            places.append((float(numbers[0]), float(numbers[1])))
    return tuple(places)


def parse_shape(words: Iterable[str]) -> dict[str, Any]:
    """Options of a terrain out of words, as in `rise=0.15` or `random=yes`."""
    found: dict[str, Any] = {}
    for word in words:
        key, equals, value = (piece.strip() for piece in word.partition("="))
        if not (key and equals and value):
            raise InputError(f"a terrain's option is written as name=value, as in rise=0.15; '{word:.60}' given.")
        if key in found:
            raise InputError(f"the terrain's option '{key}' is given twice.")
        pieces = [piece.strip() for piece in value.split(",")]
        if value.lower() in ("yes", "true", "no", "false"):
            found[key] = value.lower() in ("yes", "true")
        elif all(re.fullmatch(_NUMBER, piece, re.IGNORECASE) for piece in pieces):
            numbers = [int(piece) if re.fullmatch(r"[-+]?[0-9]{1,9}", piece) else float(piece) for piece in pieces]
            found[key] = numbers[0] if len(numbers) == 1 else tuple(map(float, numbers))
        else:
            found[key] = value
    return found


def check_walk(asked: WalkRecipe, audience: Reporter = SILENT) -> None:
    """Refuse numbers that make no sense."""
    spell = audience.spell
    if asked.steps is not None:
        check_range(spell("steps"), asked.steps, 1, MOST_STEPS)
    if asked.facing not in FACINGS:
        raise unknown_name("facing", asked.facing, tuple(FACINGS))
    check_range(spell("fps"), asked.fps, 1.0, 1000.0, "frames a second")
    for place in asked.path:
        if len(place) != 2 or not all(math.isfinite(each) for each in place):
            raise InputError(f"a place of {spell('path')} is two finite numbers, x and z; given {tuple(place)!r:.60}.")
    check_recipe(_find_who(asked), audience)


def _find_who(asked: WalkRecipe) -> PoseRecipe:
    return PoseRecipe(
        loads=asked.loads, body=asked.body, height=asked.height, mass=asked.mass, character=asked.character
    )


def run_walk(
    asked: WalkRecipe, outputs: WalkOutputs | None = None, audience: Reporter = SILENT, json: bool = False
) -> WalkFound:
    """Do what a recipe says."""
    outputs = WalkOutputs() if outputs is None else outputs
    check_walk(asked, audience)
    outputs.check(asked.list_files(), audience, json)
    scenery = find_scenery(asked)
    body = find_body(_find_who(asked), audience)
    clip, footfalls, speed = plan_walk(asked, body, scenery, audience)
    floor = Floor(scenery.ground, scenery.props)
    found = WalkFound(clip, body, scenery, floor, footfalls, WalkBalance(np.zeros((0, 3)), [], np.zeros(0)))
    found = write_walk(found, asked, outputs, speed, audience)
    if found.fell:
        audience.warn(
            f"at {found.figures['fell_at_s']:.2f} s the centre of mass is outside of what carries it, by up to "
            f"{-1000.0 * found.figures['com_margin_m']:.0f} mm."
        )
    _draw(found, outputs)
    return found


def find_scenery(asked: WalkRecipe) -> Scenery:
    """What is walked on."""
    from poise.world.scenery import find_terrain

    terrain = asked.terrain
    if "friction" in asked.shape:
        raise InputError("'friction' of a terrain has no effect: a walk is planned, not simulated. Leave it out.")
    if isinstance(terrain, Ground):
        terrain = Scenery(terrain, True)
    if isinstance(terrain, Scenery):
        if asked.shape:
            raise InputError("options of a terrain are for words and height maps; a ground is given as it is.")
        found = terrain
    else:
        try:
            found = find_terrain(str(terrain), asked.seed, **asked.shape)
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


def plan_walk(
    asked: WalkRecipe, body: Standee, scenery: Scenery, audience: Reporter = SILENT
) -> tuple[Clip, tuple[Footfall, ...], dict[str, float]]:
    """The motion, where feet stand in it, and how long it took to find.

    On a ground that moves all of it is planned as if it stood, and carried along.
    """
    from poise.walking.start import start_walk

    ground = scenery.ground
    still = ground.ground if isinstance(ground, MovingGround) else ground
    steps = asked.steps if asked.steps is not None or asked.path else STEPS
    audience.progress("planning")
    begin = time.perf_counter()
    poser = start_walk(
        body.character, Floor(still, scenery.props), steps, asked.path or None, facing=asked.facing,
        manner=asked.manner,
    )  # fmt: skip
    walker = poser.walker
    for name in ("step", "lift"):
        given, used = getattr(asked.manner, name), getattr(walker.manner, name)
        if used < given != getattr(Gait(), name):
            audience.note(f"{audience.spell(name)} is {used:g} instead of {given:g}: a knee of this body hardly bends.")
    walker.reach(math.inf)
    planned = time.perf_counter() - begin
    count = math.ceil((walker.end + _STILL) * asked.fps) + 1
    check_most(f"{walker.end:.0f} s of walking have {count} frames", count, MOST_FRAMES, "Take fewer steps or frames.")
    times = np.arange(count) / asked.fps
    root, rotations, took = [], [], []
    audience.progress(f"posing {count} frames")
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
    return clip, falls, speed


def write_walk(
    found: WalkFound, asked: WalkRecipe, outputs: WalkOutputs, speed: Mapping[str, float], audience: Reporter = SILENT
) -> WalkFound:
    """Write the motion; it and its figures as they are in the file."""
    from poise.jobs.shared.metrics import describe_body
    from poise.jobs.walk.metrics import measure_balance, measure_walk

    clip, body = found.clip, found.body
    saved = body.target.save(clip, next(iter(outputs.motions), None), audience)
    for path in outputs.motions[1:]:
        body.target.write(clip, path)
    shown = clip if saved.clip is None else saved.clip
    balance = measure_balance(shown, body.character, found.floor, found.footfalls)
    figures = {
        **measure_walk(shown, body.character, found.floor, found.footfalls, balance),
        **speed,
        "terrain": asked.terrain if isinstance(asked.terrain, str) else type(found.scenery.ground).__name__,
        "frames": len(clip),
        "fps": asked.fps,
        **describe_body(body.character),
        "max_joint_error_m": saved.error,
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }
    return replace(found, clip=shown, balance=balance, figures=figures, files=tuple(outputs))


def _draw(found: WalkFound, outputs: WalkOutputs) -> None:
    """Films, pictures and plots."""
    if not (outputs.films or outputs.pictures or outputs.plots or outputs.joints):
        return
    from poise.files.output import write_bytes
    from poise.jobs.walk.pictures import draw_walk_sheet, film_walk, plot_leg_angles, plot_walk
    from poise.pictures.image import save_png

    for path in outputs.plots:
        write_bytes(path, plot_walk(found))
    for path in outputs.joints:
        write_bytes(path, plot_leg_angles(found))
    for path in outputs.pictures:
        save_png(path, draw_walk_sheet([found]))
    for path in outputs.films:
        film_walk([found], path, FILM_FPS)


@checked
def walk(
    terrain: str | PathLike[str] | Ground | Scenery = "flat",
    steps: int | None = None,
    path: Iterable[Place] | None = None,
    *,
    facing: str = "ahead",
    manner: Gait | None = None,
    shape: Mapping[str, Any] | None = None,
    seed: int = 0,
    loads: Load | str | Iterable[Load | str] = (),
    body: str | None = None,
    height: float | None = None,
    mass: float | None = None,
    character: Character | File | None = None,
    fps: float = FPS,
    outputs: File | Iterable[File] = (),
    plot: File | None = None,
    joints: File | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> WalkFound:
    """Have a body walk: all that `poise walk` does.

    terrain    flat, slope, stairs, rough or moving; a height map (.png, .npz, .glb) or a stage file (.toml); a ground
    steps      how many; None: 30, or to the end of the path
    path       (x, z) m, places to walk through; it begins at the origin and faces +Z
    facing     ahead; back: backwards; left, right: sideways, to that side
    manner     how it walks: `poise.Gait`
    shape      options of the terrain, as in {"rise": 0.15};  seed of what it has at random
    loads      `Load("leftHand", 3)`, or words as of the command: "leftHand=3"
    body       a kind of body (`poise.bodies.PHYSIQUES`) of a `height` (m) and a `mass` (kg); or
    character  a body, or its file
    outputs    files to write, by their suffixes: motions, films, .png of some moments
    plot       .png of the centre of mass over the support;  joints: .png of the legs' angles
    """
    words = [loads] if isinstance(loads, str | Load) else list(loads)
    files = [outputs] if isinstance(outputs, str | PathLike) else list(outputs)
    asked = WalkRecipe(
        str(terrain) if isinstance(terrain, PathLike) else terrain, shape or {}, seed, steps, tuple(path or ()), facing,
        manner or Gait(), tuple(parse_load(load) if isinstance(load, str) else load for load in words), body, height,
        mass, Path(character) if isinstance(character, str | PathLike) else character, fps,
    )  # fmt: skip
    out = sort_outputs(map(Path, files))
    plots = {"plots": plot, "joints": joints}
    out = replace(out, **{kind: (Path(each),) for kind, each in plots.items() if each is not None})
    return run_walk(asked, out, RecordingReporter(tell))
