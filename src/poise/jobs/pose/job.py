"""A pose from goals: what is reached for, which feet stand, where the eyes look. Solved, written, measured, drawn."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.bodies import HEIGHT, MASS, PHYSIQUES, build_body, list_extras
from poise.body.character import Character
from poise.body.geometry.primitives import Sphere
from poise.body.reshape import add_mass
from poise.body.roles import SIDES
from poise.errors import FileError, InputError, RangeError, check_most, check_range, unknown_name
from poise.files.output import all_or_none
from poise.files.reading.options import Source
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.ik.support_polygon import find_possible_margin
from poise.jobs.pose.standing import STANDS, STEPS, Standing, StandingOn, Wanted, stand_at_ease, take_stance
from poise.jobs.retarget import Target, load_body
from poise.jobs.shared import body as clip_body
from poise.jobs.shared.options import parse_load
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.world.forces import Load

REACHED = 1e-3  # m
SUNK = 2e-3  # m under the floor, that is worth a word
SHORT = 5e-4  # m that the margin is less than its aim, that is worth a word
FARTHEST = 100.0  # m from the origin, that a target may be
FPS = 30.0
FILMS = (".mp4", ".webm", ".webp", ".gif")
MOST_FRAMES = 6_000
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf|nan"
File = str | PathLike[str]
Places = Mapping[str, Sequence[float]]


@dataclass(frozen=True, eq=False)
class PoseRecipe:
    """What a body is to do, and whose body it is.

    reach      joint or role -> (3,) m
    stand      the feet that carry: both, left, right
    look       (3,) m;  crouch: m that the hips come down by
    margin     m, that the centre of mass stays inside the soles' edge
    loads      what is carried
    seconds    s of motion into the pose; None: the pose alone;  fps: its frames a second
    body       a kind of body: `bodies.PHYSIQUES`;  height, mass: of the average one that it is made from
    character  a body, or its file
    start      a clip, or its file, in whose pose it begins, at `at` (s from its first frame);  bones: how its file is
               read, as for `load_clip`
    weak       joint or role -> how strong it is beside what is usual; joints then turn by their strength
    """

    reach: Places = field(default_factory=dict)
    stand: str = "both"
    look: Sequence[float] | None = None
    crouch: float | None = None
    margin: float = 0.02
    loads: tuple[Load, ...] = ()
    seconds: float | None = None
    fps: float = FPS
    body: str | None = None
    height: float | None = None
    mass: float | None = None
    character: Character | Path | None = None
    start: Clip | Path | None = None
    at: float | None = None
    weak: Mapping[str, float] | None = None
    bones: str | None = None

    def list_files(self) -> list[Path]:
        """Files that are read."""
        return [path for path in (self.character, self.start) if isinstance(path, Path)]


@dataclass(frozen=True, eq=False)
class Standee:
    """Whose body it is.

    character  with what it carries, as it is weighed
    target     as it is written;  balls: joint, ball in its frame, kg, of what is carried
    stance     where it begins; None: at ease
    """

    character: Character
    target: Target
    balls: tuple[tuple[str, Sphere, float], ...] = ()
    start: Clip | None = None


@dataclass(frozen=True, eq=False)
class PoseFound:
    """The pose, or the motion into it, and its figures under the names of `poise pose --json`.

    character  with what it carries
    down       (F, 2) which feet carry
    """

    clip: Clip
    character: Character
    down: np.ndarray
    figures: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PoseOutputs:
    """Files to write: a motion, or a picture by its suffix; and pictures and films besides."""

    output: Path | None = None
    picture: Path | None = None
    film: Path | None = None
    plot: Path | None = None

    def check(self, read: Iterable[Path], moves: bool, audience: Reporter = SILENT, json: bool = False) -> None:
        """Refuse what cannot be written, before anything is done."""
        from poise.files.registry import FORMATS, check_can_save, find_format

        read = tuple(read)
        named = [(option, getattr(self, option)) for option in ("output", "picture", "film", "plot")]
        given = [(audience.spell(option), path) for option, path in named if path is not None]
        check_outputs(read, given, json)
        if self.output is not None and self.output.suffix.lower() != ".png":
            entry = find_format(self.output)
            if entry is None or entry.save is None:
                known = ", ".join(e.suffix for e in FORMATS if e.save is not None)
                raise FileError(
                    self.output, f"'{self.output.suffix}' cannot be written; a pose is written as {known} or .png."
                )
            check_can_save(self.output, read)
        check_suffix(audience.spell("picture"), self.picture, ".png")
        check_suffix(audience.spell("plot"), self.plot, ".png")
        check_suffix(audience.spell("film"), self.film, *FILMS)
        if not moves and (self.film is not None or self.plot is not None):
            option = "film" if self.film is not None else "plot"
            raise InputError(
                f"{audience.spell(option)} is of a motion, and a pose stands still. Say {audience.spell('seconds')}, "
                "or leave it out."
            )


def parse_reach(words: Iterable[str]) -> dict[str, tuple[float, float, float]]:
    """Targets out of words, as in `rightHand=0.4,1.2,0.3`."""
    found: dict[str, tuple[float, float, float]] = {}
    for word in words:
        joint, equals, place = (piece.strip() for piece in word.partition("="))
        if not (joint and equals and place):
            raise InputError(
                f"a target is written as joint=x,y,z in metres, as in rightHand=0.4,1.2,0.3; '{word}' given."
            )
        if joint in found:
            raise InputError(f"'{joint}' has two targets; it can be at one place only.")
        found[joint] = parse_place(place, f"the target of '{joint}'")
    return found


def parse_place(word: str, what: str = "a place") -> tuple[float, float, float]:
    """Three numbers out of a word, as in `0.4,1.2,0.3`."""
    pieces = [piece.strip() for piece in word.split(",")]
    if len(pieces) != 3 or any(re.fullmatch(_NUMBER, piece, re.IGNORECASE) is None for piece in pieces):
        raise InputError(f"{what} is three numbers, x,y,z in metres; '{word:.80}' given.")
    x, y, z = map(float, pieces)
    return x, y, z


def parse_shares(words: Iterable[str]) -> dict[str, float]:
    """Strengths out of words, as in `leftLowerLeg=0.5`."""
    found = {}
    for word in words:
        joint, equals, share = (piece.strip() for piece in word.partition("="))
        if not (joint and equals) or re.fullmatch(_NUMBER, share) is None:
            raise InputError(f"a weak joint is written as joint=share, as in leftLowerLeg=0.5; '{word:.80}' given.")
        found[joint] = float(share)
    return found


def run_pose(
    asked: PoseRecipe, outputs: PoseOutputs | None = None, audience: Reporter = SILENT, json: bool = False
) -> PoseFound:
    """Do what a recipe says."""
    outputs = PoseOutputs() if outputs is None else outputs
    check_recipe(asked, audience)
    outputs.check(asked.list_files(), asked.seconds is not None, audience, json)
    body = find_body(asked, audience)
    wanted = _find_wanted(asked, body.character, audience)
    audience.progress("posing")
    clip, down, took, stance = _solve(asked, body, wanted)
    with all_or_none():
        figures = _write(clip, body, wanted, down, stance, outputs, audience)
        figures |= {"solve_us": float(np.median(took)), "stand": asked.stand}
        figures |= {"failed": figures["com_margin_m"] < 0.0 or figures["floor_depth_m"] > SUNK}
        notes, warnings = _say_missed(figures), _say_failed(figures, audience)
        figures |= {"warnings": list(warnings)}
        for sentence in notes:
            audience.note(sentence)
        for sentence in warnings:
            audience.warn(sentence)
        _draw(clip, body, wanted, down, stance.ground, outputs)
    return PoseFound(clip, body.character, down, figures, (*notes, *warnings))


def check_recipe(asked: PoseRecipe, audience: Reporter = SILENT) -> None:
    """Refuse numbers that make no sense."""
    spell = audience.spell
    if asked.stand not in STANDS:
        raise unknown_name("stand", asked.stand, STANDS)
    for joint, place in asked.reach.items():
        _check_place(place, f"the target of '{joint}'")
    if asked.look is not None:
        _check_place(asked.look, f"{spell('look')}")
    if asked.crouch is not None:
        check_range(spell("crouch"), asked.crouch, -2.0, 2.0, "m")
    check_range(spell("margin"), asked.margin, 0.0, 0.1, "m")
    check_range(spell("fps"), asked.fps, 1.0, 1000.0, "frames a second")
    if asked.seconds is not None:
        if not (math.isfinite(asked.seconds) and asked.seconds > 0.0):
            raise InputError(f"{spell('seconds')} must be above 0; {asked.seconds:g} given.")
        count = asked.seconds * asked.fps
        check_most(f"{asked.seconds:g} s have {count:.4g} frames", count, MOST_FRAMES, "Give fewer seconds.")
    elif asked.fps != FPS:
        raise InputError(
            f"{spell('fps')} is of a motion, and a pose stands still. Say {spell('seconds')}, or leave it out."
        )
    if asked.at is not None and asked.start is None:
        raise InputError(f"{spell('at')} is a time of the clip that {spell('start')} names. Name one, or leave it out.")
    if asked.body is not None and asked.body not in PHYSIQUES:
        raise unknown_name("body", asked.body, PHYSIQUES)
    for option in ("character", "start"):
        if asked.body is not None and getattr(asked, option) is not None:
            raise InputError(f"{spell(option)} has a body of its own; leave out {spell('body')} or {spell(option)}.")
    Source(mass=asked.mass, height=asked.height, bones=asked.bones).check(audience)
    if asked.bones is not None and not isinstance(asked.start, Path):
        raise InputError(f"{spell('bones')} says how the file of {spell('start')} is read. Name one, or leave it out.")


def find_body(asked: PoseRecipe, audience: Reporter = SILENT) -> Standee:
    """Whose body it is, with what it carries."""
    start, balls = None, tuple[tuple[str, Sphere, float], ...]()
    source = Source(mass=asked.mass, height=asked.height, character=asked.character, bones=asked.bones)
    if asked.start is not None:
        character, target, start = _read_start(asked, source, audience)
    elif asked.character is not None:
        if asked.mass is not None or asked.height is not None:
            option = "mass" if asked.mass is not None else "height"
            own = audience.spell("character")
            raise InputError(f"{own} has a {option} of its own; leave out {audience.spell(option)} or {own}.")
        character, target = load_body(asked.character, audience)
    else:
        size = HEIGHT if asked.height is None else asked.height, MASS if asked.mass is None else asked.mass
        name = asked.body or "average"
        character, balls = build_body(name, *size), tuple(list_extras(name, *size))
        target = Target(character.skeleton, mass=character.mass - sum(weight for _, _, weight in balls))
    for load in asked.loads:
        balls += ((load.joint, Sphere(np.array(load.offset), load.radius), load.mass),)
        character = add_mass(character, load.joint, load.mass, load.offset, load.radius)
    return Standee(character, target, balls, start)


def _read_start(asked: PoseRecipe, source: Source, audience: Reporter) -> tuple[Character, Target, Clip]:
    """The body of a clip, and its pose at a time as a clip of one frame."""
    from poise.files.registry import read_source

    reading = None if isinstance(asked.start, Clip) else read_source(str(asked.start), source, audience)
    clip = asked.start if isinstance(asked.start, Clip) else reading.clip  # type: ignore[union-attr]
    body = clip_body.find_body(clip, reading, source, audience)
    clip = body.clip
    at = 0.0 if asked.at is None else asked.at
    if not 0.0 <= at <= clip.duration + 1e-9:
        raise RangeError(audience.spell("at"), at, 0.0, clip.duration, "s (the clip's end)")
    frame = int(np.argmin(np.abs(clip.times - clip.times[0] - at)))
    if clip.shifts is not None and np.abs(clip.shifts[frame]).max() > 1e-6:
        raise InputError("bones of the clip change their length, and a pose has rigid ones. Give another start.")
    return body.character, body.target, clip.pick(slice(frame, frame + 1))


def _find_wanted(asked: PoseRecipe, character: Character, audience: Reporter) -> Wanted:
    """What is wanted of this body; refused where it has no such joint, or stands on it."""
    skeleton, standing = character.skeleton, [side for side in SIDES if asked.stand in ("both", side)]
    seen: dict[int, str] = {}
    for joint in asked.reach:
        index = skeleton.index(joint)
        if index in seen:
            raise InputError(f"'{joint}' and '{seen[index]}' are one joint; it can be at one place only.")
        seen[index] = joint
        for side in standing:
            if index in skeleton.descendants(skeleton.index(side + "Foot")):
                other = "right" if side == "left" else "left"
                raise InputError(
                    f"'{joint}' is of a foot that stands; {audience.spell('stand')} {other} leaves it free to reach."
                )
    if asked.look is not None and skeleton.find_role("head") is None:
        raise InputError(f"'{character.name}' has no head that could look. Leave out {audience.spell('look')}.")
    reach = {joint: np.asarray(place, float) for joint, place in asked.reach.items()}
    look = None if asked.look is None else np.asarray(asked.look, float)
    return Wanted(reach, asked.stand, look, asked.crouch, asked.margin)


def _solve(asked: PoseRecipe, body: Standee, wanted: Wanted) -> tuple[Clip, np.ndarray, np.ndarray, StandingOn]:
    """The motion into the pose, or the pose alone; which feet carry; µs of each solve; the stance it begins in."""
    from poise.body.strength.static import find_stiffness

    character = body.character
    stiffness = None if asked.weak is None else find_stiffness(character, asked.weak)
    if body.start is None:
        stance = stand_at_ease(character)
    else:
        stance = take_stance(character, body.start.root[0], body.start.rotations[0])
    standing = Standing(character, stance, stiffness)
    way = standing.go(wanted, np.linspace(0.0, 1.0, STEPS + 1)[1:].tolist())
    skeleton = body.target.skeleton
    if asked.seconds is None:
        still = Clip(skeleton, np.zeros(1), way.root[-1:], way.rotations[-1:], "pose")
        return still, way.down[-1:], way.microseconds, stance
    count = round(asked.seconds * asked.fps) + 1
    moved = standing.move(wanted, way.rotations[-1], count)
    clip = Clip(skeleton, np.arange(count) / asked.fps, moved.root, moved.rotations, "pose")
    return clip, moved.down, way.microseconds, stance


def _write(
    clip: Clip, body: Standee, wanted: Wanted, down: np.ndarray, stance: StandingOn, outputs: PoseOutputs,
    audience: Reporter,
) -> dict[str, Any]:  # fmt: skip
    """Write the motion; its figures, of what was written."""
    from poise.jobs.shared.metrics import describe_body

    is_motion = outputs.output is not None and outputs.output.suffix.lower() != ".png"
    saved = body.target.save(clip, outputs.output if is_motion else None, audience)
    shown = clip if saved.clip is None else saved.clip
    return {
        **measure_pose(shown, body.character, wanted, down, stance.ground),
        "margin_m": wanted.margin,
        "margin_used_m": find_possible_margin(stance.find_support(wanted.stand), wanted.margin),
        "frames": len(clip),
        **describe_body(body.character),
        "max_joint_error_m": saved.error,
        **({} if body.target.reading is None else body.target.reading.describe_bones()),
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }


def measure_pose(
    clip: Clip, character: Character, wanted: Wanted, down: np.ndarray, ground: float = 0.0
) -> dict[str, Any]:
    """How well a motion does what was wanted: its last frame, and its balance and its floor at every frame.

    down    (F, 2) which feet stand on the ground, which is level at a height (m)
    """
    from poise.dynamics.kinematics import compute_center_of_mass
    from poise.dynamics.tree import build_tree
    from poise.ik.support_polygon import find_edges, find_margin
    from poise.jobs.shared.metrics import find_supports
    from poise.spatial import rotation

    skeleton = character.skeleton
    positions, turns = clip.world
    targets = {}
    for joint, place in wanted.reach.items():
        at = positions[-1, skeleton.index(joint)]
        targets[joint] = {"target": place, "at": at, "error_m": float(np.linalg.norm(at - place))}
    center = compute_center_of_mass(build_tree(character), *clip.poses)[:, [0, 2]]
    margins = [
        float(find_margin(find_edges(outline), spot)) if len(outline) else -math.inf
        for outline, spot in zip(find_supports(clip, down, ground), center, strict=True)
    ]
    depth, lowest = find_depth(clip, character, down, ground)
    worst = max((each["error_m"] for each in targets.values()), default=0.0)
    look = None
    if wanted.look is not None:
        head = skeleton.index("head")
        way = wanted.look - positions[-1, head]
        ahead = rotation.rotate(turns[-1, head], np.array([0.0, 0.0, 1.0]))
        look = float(np.arccos(np.clip(ahead @ way / max(float(np.linalg.norm(way)), 1e-9), -1.0, 1.0)))
    return {
        "reached": bool(worst < REACHED),
        "reach_error_m": worst,
        "targets": targets,
        "com_margin_m": float(min(margins)),
        "floor_depth_m": depth,
        "floor_joint": lowest,
        "look_error_rad": look,
    }


def find_depth(clip: Clip, character: Character, down: np.ndarray, ground: float) -> tuple[float, str | None]:
    """The largest depth (m) of a drawn segment below the ground, 0 if none is, and its joint; but for standing feet."""
    from poise.spatial import rotation
    from poise.world.collision_shapes import find_outside

    skeleton, (positions, turns) = clip.skeleton, clip.world
    depth, lowest = 0.0, None
    for joint, points in find_outside(character).items():
        heights = positions[:, joint, 1] + rotation.rotate(turns[:, joint, None], points)[..., 1].min(axis=1) - ground
        for side, is_down in zip(SIDES, np.asarray(down, bool).T, strict=True):
            if joint in skeleton.descendants(skeleton.index(side + "Foot")):
                heights = heights[~is_down]
        if len(heights) and -float(heights.min()) > depth:
            depth, lowest = -float(heights.min()), skeleton.labels[joint]
    return depth, lowest


def _say_missed(figures: Mapping[str, Any]) -> tuple[str, ...]:
    said = [
        f"'{joint}' is {each['error_m']:.3f} m from its target: out of reach, and as near as balance allows."
        for joint, each in figures["targets"].items()
        if each["error_m"] >= REACHED
    ]
    if figures["look_error_rad"] is not None and figures["look_error_rad"] > np.radians(2.0):
        said.append(f"the head looks {np.degrees(figures['look_error_rad']):.0f} degrees past its target.")
    return tuple(said)


def _say_failed(figures: Mapping[str, Any], audience: Reporter) -> tuple[str, ...]:
    said = []
    if figures["margin_used_m"] < figures["margin_m"] - 1e-9:
        said.append(
            f"{audience.spell('margin')} {figures['margin_m']:g} is more than the soles that touch the ground allow; "
            f"{figures['margin_used_m']:.4f} m is used."
        )
    if figures["com_margin_m"] < 0.0:
        said.append(f"the centre of mass is {-figures['com_margin_m']:.4f} m outside the soles that touch the ground.")
    elif figures["com_margin_m"] < figures["margin_used_m"] - SHORT:
        said.append(
            f"the centre of mass is only {figures['com_margin_m']:.4f} m inside the soles that touch the ground, where "
            f"{figures['margin_used_m']:.4f} m is the aim."
        )
    if figures["floor_depth_m"] > SUNK:
        said.append(f"'{figures['floor_joint']}' is {figures['floor_depth_m']:.3f} m under the floor.")
    return tuple(said)


def _draw(clip: Clip, body: Standee, wanted: Wanted, down: np.ndarray, ground: float, outputs: PoseOutputs) -> None:
    """Pictures, films and plots."""
    is_picture = outputs.output is not None and outputs.output.suffix.lower() == ".png"
    pictures = [path for path in (outputs.output if is_picture else None, outputs.picture) if path is not None]
    if not pictures and outputs.film is None and outputs.plot is None:
        return
    from poise.dynamics.kinematics import compute_center_of_mass
    from poise.dynamics.tree import build_tree
    from poise.files.output import write_bytes
    from poise.jobs.pose.pictures import draw_body, draw_still, list_changes
    from poise.jobs.shared.metrics import find_supports
    from poise.pictures.film import save_film
    from poise.pictures.image import save_png
    from poise.pictures.mix_plots import plot_center_of_mass
    from poise.pictures.picture import Picture, film_picture

    drawn = draw_body(clip, body.character, down, wanted.reach.values(), body.balls, skin=body.target.skin,
                      mass=body.target.mass)  # fmt: skip
    picture = Picture([drawn])
    moments = [0.0] if len(clip) == 1 else np.linspace(0.0, clip.duration, 6).tolist()
    for path in pictures:
        save_png(path, draw_still(picture, moments))
    if outputs.plot is not None:
        center, supports = (
            compute_center_of_mass(build_tree(body.character), *clip.poses),
            find_supports(clip, down, ground),
        )
        write_bytes(outputs.plot, plot_center_of_mass(clip.times, center, list_changes(supports), title="pose"))
    if outputs.film is not None:
        times = np.arange(int(clip.duration * FPS) + 1) / FPS
        save_film(outputs.film, film_picture(picture, times), FPS)


def _check_place(place: Sequence[float], what: str) -> None:
    numbers = np.asarray(place, float)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InputError(f"{what} is three finite numbers, x,y,z in metres; given {tuple(place)!r:.80}.")
    if np.abs(numbers).max() > FARTHEST:
        raise InputError(f"{what} is at most {FARTHEST:g} m from the origin; given {tuple(map(float, numbers))}.")


@checked
def pose(
    reach: Places | None = None,
    *,
    stand: str = "both",
    look: Sequence[float] | None = None,
    crouch: float | None = None,
    margin: float = 0.02,
    loads: Load | str | Iterable[Load | str] = (),
    seconds: float | None = None,
    fps: float = FPS,
    body: str | None = None,
    height: float | None = None,
    mass: float | None = None,
    character: Character | File | None = None,
    start: Clip | File | None = None,
    at: float | None = None,
    weak: Mapping[str, float] | None = None,
    bones: str | None = None,
    output: File | None = None,
    picture: File | None = None,
    film: File | None = None,
    plot: File | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> PoseFound:
    """Pose a body by what it should do, balanced: all that `poise pose` does.

    reach      joint or role -> (3,) m in the world, +Y up; the body stands over the origin and faces +Z
    stand      the feet that carry: `both`, `left` or `right`
    look       (3,) m, what the head turns to;  crouch: m, that the hips come down by; below 0: up
    margin     m, that the centre of mass stays inside the edge of the soles
    loads      `Load("leftHand", 3)`, or words as of the command: "leftHand=3"
    seconds    s of motion into the pose, `fps` frames a second; None: the pose alone
    body       a kind of body (`poise.bodies.PHYSIQUES`) of a `height` (m) and a `mass` (kg); or
    character  a body, or its file; or
    start      a clip, or its file, in whose pose it begins, at `at` (s from its first frame), its feet where they are;
               `bones`: how its file is read, as for `load_clip`
    weak       joint or role -> its strength beside what is usual; {} turns joints by usual strength, None evenly
    output     a motion file (.glb, .bvh, ...) or .png;  picture: .png;  film: .mp4, ...;  plot: .png of the balance
    """
    words = [loads] if isinstance(loads, str | Load) else list(loads)
    asked = PoseRecipe(
        reach or {}, stand, look, crouch, margin,
        tuple(parse_load(load) if isinstance(load, str) else load for load in words),
        seconds, fps, body, height, mass, _as_path(character), _as_path(start), at, weak, bones,
    )  # fmt: skip
    files = PoseOutputs(*(None if path is None else Path(path) for path in (output, picture, film, plot)))
    return run_pose(asked, files, RecordingReporter(tell))


def _as_path(given: Any) -> Any:
    return Path(given) if isinstance(given, str | PathLike) else given
