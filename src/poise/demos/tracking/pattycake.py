"""Two children play patty cake from one adult's motion (Z5, Z7, Z9).   [tracking, section 5.1, figure 9]

The adult claps own hands together, then the right ones, the left ones, and both with a partner's.

What `pattycake` and `slap` are made of. Hands are at home, before the chest, between the claps. Places are in arm
lengths, out, up and forward from between the shoulders, so that two of one size who stand `2 REACH` arm lengths and the
thickness of a hand apart meet.

The adult's joint angles are played on both: one is taller than the other, and their hands miss each other. Offsets by
inverse kinematics at the moments of the claps, eased in and out, bring their palms together; simulated upper bodies
follow that, and their hands touch: each feels the other. At 133 % of the speed the same offsets still do.

`gap_mm` is how far the hands that clap are apart at the moment of a clap, surface to surface, at most over all claps,
at each speed; `gap_by_window_mm` the same with the paper's law, which lags, at twice the speed, by how long an offset
is eased in and out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.body.roles import SIDES
from poise.demos.shared.show import BLUE, RED, Shot, film_shots, measure_mix, save_figures, save_motion, stand_still
from poise.engines.contact_log import find_peak
from poise.files.output import write_bytes
from poise.motion.edits.ground import translate, turn
from poise.motion.edits.offsets import Offset, apply_offsets
from poise.motion.edits.timing import change_speed, frame_times
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import SingleGesture
from poise.motion.retargeting.reference import find_turns
from poise.pictures.mix_plots import plot_comparison
from poise.world.collision_shapes import build_bulk
from poise.world.overlap import build_lines, find_distances

BEAT = 0.5  # s from clap to clap
OWN, RIGHT, LEFT, BOTH = "own", "right", "left", "both"
ROUND = (OWN, RIGHT, OWN, LEFT, OWN, BOTH)
REACH = 0.84  # arm lengths, of the wrist forward where palms meet a partner's
_APART = (0.30, -0.36, 0.50)  # between claps
_TOGETHER = (0.125, -0.30, 0.50)
_ACROSS, _AHEAD = (0.0, -0.14, REACH), (0.33, -0.14, REACH)
_INWARD, _DOWN = (-1.0, 0.3, 0.2), (-0.15, -1.0, 0.0)
_BENT = -1.25  # rad, of a wrist that holds its palm to the front


@dataclass(frozen=True)
class Patting(SingleGesture):
    """A row of claps, one every `BEAT` s of phase, from home to home. Phase counts seconds.

    claps  what is clapped: "own" hands, the "right", the "left" or "both" with a partner
    """

    claps: tuple[str, ...] = ROUND

    @property
    def length(self) -> float:
        """A beat from home to the first clap, and half of one home after the last."""
        return BEAT * (len(self.claps) + 0.5)

    @property
    def sides(self) -> tuple[str, ...]:
        """Both arms."""
        return ("left", "right")

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """Through home, clap, home, clap, ..."""
        numbers = _fit(self.claps, arm.sign < 0.0)(np.clip(phase, 0.0, self.length))
        return ArmPath(arm.length * numbers[:, :3], numbers[:, 3:6], numbers[:, 6])


@lru_cache(maxsize=32)
def _fit(claps: tuple[str, ...], is_right: bool) -> Any:
    """A spline of the wrist's place (3), the palm (3) and the wrist's bend over time."""
    from scipy.interpolate import CubicSpline

    home = (*_APART, *_INWARD, 0.0)
    rows = [home]
    for clap in claps:
        meets = clap == BOTH or (clap == RIGHT) == is_right
        if clap == OWN:
            rows.append((*_TOGETHER, *_INWARD, 0.0))
        elif meets and clap != OWN:
            rows.append((*(_AHEAD if clap == BOTH else _ACROSS), *_DOWN, _BENT))
        else:
            rows.append(home)
        rows.append(home)
    times = [0.0, *(0.5 * BEAT * (k + 2) for k in range(2 * len(claps)))]
    return CubicSpline(times, np.array(rows), bc_type="clamped")


def clap_times(claps: tuple[str, ...] = ROUND) -> np.ndarray:
    """(N,) s, when each clap is."""
    return BEAT * (1.0 + np.arange(len(claps)))


def record_adult(
    skeleton: poise.Skeleton, still: poise.Clip, claps: tuple[str, ...] = ROUND, fps: float = 120.0
) -> poise.Clip:
    """The adult's motion: a clip of the whole body, standing."""
    patting = Patting(claps)
    times = frame_times(patting.length, fps, len(skeleton))
    turns = np.tile(still.rotations[0], (len(times), 1, 1))
    turns[:, patting.joints(skeleton)] = patting.rotations(skeleton, times)
    return poise.Clip(
        skeleton, times, np.tile(still.root[0], (len(times), 1)), rotation.make_continuous(turns), "pattycake"
    )


def play_on(clip: poise.Clip, character: poise.Character) -> poise.Clip:
    """The same joint angles on another body, which stands."""
    still = stand_still(character)
    return poise.Clip(character.skeleton, clip.times, np.tile(still.root[0], (len(clip), 1)), clip.rotations, clip.name)


def find_palm(character: poise.Character, side: str) -> tuple[np.ndarray, np.ndarray]:
    """(3,) m where the palm of a hand's shape is, and (3,) which way it faces, in the hand's frame."""
    hand = character.skeleton.index(side + "Hand")
    shape = build_bulk(character)[hand]
    turn = find_turns(character.skeleton)[hand]
    out = rotation.rotate(rotation.conjugate(turn), np.array([0.0, -1.0, 0.0]))
    if isinstance(shape, poise.Capsule):
        along = (shape.end - shape.start) / max(shape.length, 1e-9)
        out = out - (out @ along) * along
        out = out / np.linalg.norm(out)
        return 0.5 * (shape.start + shape.end) + shape.radius * out, out
    return shape.center + shape.radius * out, out  # type: ignore[union-attr]


def find_palms(clip: poise.Clip, character: poise.Character, t: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of each side: where its palm is (3,) m and which way it faces (3,), in the world at a time."""
    positions, turns = character.skeleton.pose(*clip.pose(t))
    found = {}
    for side in SIDES:
        hand = character.skeleton.index(side + "Hand")
        point, out = find_palm(character, side)
        found[side] = (positions[hand] + rotation.rotate(turns[hand], point), rotation.rotate(turns[hand], out))
    return found


ADULT = (1.75, 75.0)
CHILDREN = {"small": (1.12, 20.0, 6.0), "tall": (1.22, 24.0, 7.0)}  # m, kg, years
COLORS = {"small": RED, "tall": BLUE}
DISTANCE = 0.70  # m between them
DT, FPS, WINDOW = 0.002, 250.0, 0.2
PRESS = 0.004  # m, that each palm is aimed past the other
HANDS = (("leftHand", "rightHand"), ("leftHand", "leftHand"), ("rightHand", "rightHand"))
SPEEDS, FAST = (1.0, 1.33), 2.0
WINDOWS = (0.05, 0.1, 0.2)


@dataclass(frozen=True, eq=False)
class Game:
    """How it went.

    times  (N,) s, of the claps;  gaps (N,) m, between the hands that clap, at those times
    around (F,) m, between the hands of the next clap, over the take
    forces (S, 2) N, of all that hands of others put on each child's, in every step
    """

    stage: poise.Stage
    take: poise.Take
    times: np.ndarray
    gaps: np.ndarray
    around: np.ndarray
    forces: np.ndarray


def run(folder: Path) -> dict[str, Any]:
    """Write the files of both; see `show`. The motion files are of the small one."""
    children, clips = build_players()
    met = {"offsets": put_together(children, clips), "none": clips}
    games = {(name, speed): play(children, each, speed) for name, each in met.items() for speed in SPEEDS}
    game = games["offsets", 1.0]
    with_partner = [k for k, clap in enumerate(ROUND) if clap != OWN]
    slow = {
        str(window): play(children, put_together(children, clips, window), FAST, law="paper").gaps[with_partner]
        for window in WINDOWS
    }
    figures = measure_mix(game.stage, game.take, "small") | {
        "claps": len(game.times),
        "gap_mm": {f"{speed:.0%}": 1e3 * float(games["offsets", speed].gaps.max()) for speed in SPEEDS},
        "gap_without_mm": {
            f"{speed:.0%}": 1e3 * float(games["none", speed].gaps[with_partner].min()) for speed in SPEEDS
        },
        "gap_by_window_mm": {window: 1e3 * float(gaps.max()) for window, gaps in slow.items()},
        "peak_force_n": max(find_peak(each, game.stage.dt) for each in game.forces.T),
        "claps_felt": count_felt(game),
        "felt_mm": find_felt(children, met["offsets"]),
    }
    lines = {"with offsets": 1e3 * game.around, "without": 1e3 * games["none", 1.0].around}
    write_bytes(folder / "pattycake-gap.png", plot_comparison(game.take.times, lines, "mm", "between hands that clap"))
    shots = [Shot(game.take, name, name, COLORS[name]) for name in CHILDREN]
    save_motion(folder, "pattycake", shots[0])
    game.take.save(folder / "pattycake-tall.glb", "tall")
    film_shots(folder / "pattycake", shots, speed=0.7, azimuth=1.3, together=True)
    return save_figures(folder, "pattycake", figures)


def build_players(claps: tuple[str, ...] = ROUND) -> tuple[dict[str, poise.Character], dict[str, poise.Clip]]:
    """The children, and the adult's motion on each, face to face."""
    adult = poise.Character.human(*ADULT, preset="mix")
    clip = record_adult(adult.skeleton, stand_still(adult), claps)
    children = {
        name: poise.Character.human(m, kg, age=years, preset="mix") for name, (m, kg, years) in CHILDREN.items()
    }
    clips = {name: play_on(clip, child) for name, child in children.items()}
    away = np.array([0.0, 0.0, DISTANCE])
    clips["tall"] = translate(turn(clips["tall"], np.pi, np.zeros(3)), away)
    return children, clips


def list_pairs(clap: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The hands that meet in a clap, pairs of (child, side)."""
    if clap == OWN:
        return [((name, "left"), (name, "right")) for name in CHILDREN]
    if clap == BOTH:
        return [(("small", a), ("tall", b)) for a, b in (SIDES, SIDES[::-1])]
    return [(("small", clap), ("tall", clap))]


def put_together(
    children: dict[str, poise.Character],
    clips: dict[str, poise.Clip],
    window: float = WINDOW,
    claps: Sequence[str] = ROUND,
) -> dict[str, poise.Clip]:
    """The same clips, with palms that meet half way at the claps. window: s, in which an offset comes and goes."""
    offsets: dict[str, list[Offset]] = {name: [] for name in clips}
    for clap, t in zip(claps, clap_times(tuple(claps)), strict=True):
        palms = {name: find_palms(clip, children[name], float(t)) for name, clip in clips.items()}
        for one, other in list_pairs(clap):
            (a, out), (b, back) = palms[one[0]][one[1]], palms[other[0]][other[1]]
            middle, across = 0.5 * (a + b), (out - back) / np.linalg.norm(out - back)
            for (name, side), sign in ((one, 1.0), (other, -1.0)):
                point = find_palm(children[name], side)[0]
                place = middle + sign * PRESS * across
                offsets[name].append(Offset(f"{side}Hand", float(t), place, tuple(point), before=window, after=window))
    return {name: apply_offsets(clip, offsets[name]).clip for name, clip in clips.items()}


def play(children: dict[str, poise.Character], clips: dict[str, poise.Clip], speed: float = 1.0,
    touch: poise.ContactSettings | None = None,
         claps: Sequence[str] = ROUND, engine: str = "mujoco", **options: Any) -> Game:  # fmt: skip
    """Both on a stage, at a speed. options: of the tracking."""
    stage = poise.Stage(engine, dt=DT, touch=touch or poise.ContactSettings(only=HANDS))
    for name, clip in clips.items():
        played = change_speed(clip, speed) if speed != 1.0 else clip
        actor = stage.add(children[name], name, poise.Pose(played.root[0].copy(), played.rotations[0].copy()))
        actor.drive("body", poise.Kinematic(played))
        actor.drive("upperBody", poise.Track(played, **options))
    forces: list[list[float]] = []
    take = stage.run(float(played.duration), fps=FPS, each=lambda _t: forces.append(read_forces(stage)))
    times = clap_times(tuple(claps)) / speed
    around = np.zeros(len(take.times))
    gaps = np.zeros(len(times))
    turns = {name: take.clip(name).world for name in clips}
    nearest = np.abs(take.times[:, None] - times[None]).argmin(axis=1)
    for k, clap in enumerate(claps):
        for frame in np.flatnonzero(nearest == k):
            around[frame] = max(find_gap(children, turns, pair, int(frame)) for pair in list_pairs(clap))
        gaps[k] = around[int(np.abs(take.times - times[k]).argmin())]
    return Game(stage, take, times, gaps, around, np.array(forces))


def find_gap(
    children: dict[str, poise.Character],
    world: dict[str, Any],
    pair: tuple[tuple[str, str], tuple[str, str]],
    frame: int,
) -> float:
    """m between two hands, surface to surface, in a frame; 0 where they touch."""
    lines = []
    for name, side in pair:
        character, (positions, turns) = children[name], world[name]
        hand = character.skeleton.index(side + "Hand")
        own = build_lines([(0, build_bulk(character)[hand])])
        lines.append(own.placed(rotation.to_matrix(turns[frame, hand])[None], positions[frame, hand][None]))
    a, b = lines
    return max(0.0, float(find_distances(a, b)[0, 0] - a.radius[0] - b.radius[0]))


def read_forces(stage: poise.Stage) -> list[float]:
    """N, that each child feels of the other, in the last step."""
    found = []
    for group in stage.groups:
        for k, actor in enumerate(group.actors):
            touches = group.simulation.find_contacts(k)
            others = [who != "ground" and not who.startswith(f"{actor.name}/") for who in touches.others]
            found.append((actor.name, float(np.linalg.norm(touches.forces[others].sum(axis=0)))))
    return [force for _, force in sorted(found)]


def count_felt(game: Game, within: float = 0.1) -> int:
    """Of the claps with a partner: those in which both are pressed by more than a newton."""
    steps = np.arange(len(game.forces)) * game.stage.dt
    felt = [game.forces[np.abs(steps - t) < within].max(axis=0, initial=0.0) > 1.0 for t in game.times]
    return int(sum(bool(each.all()) for each, clap in zip(felt, ROUND, strict=True) if clap != OWN))


def find_felt(children: dict[str, poise.Character], clips: dict[str, poise.Clip]) -> dict[str, float]:
    """mm, how far a hand of each is moved by the other's: beside a game in which nobody touches anybody."""
    runs = [
        play(children, clips, touch=touch).take for touch in (None, poise.ContactSettings(itself=False, actors=False))
    ]
    found = {}
    for name, child in children.items():
        at = [child.skeleton.index(side + "Hand") for side in SIDES]
        places = [run.clip(name).world[0][:, at] for run in runs]
        found[name] = 1e3 * float(np.linalg.norm(places[0] - places[1], axis=-1).max())
    return found
