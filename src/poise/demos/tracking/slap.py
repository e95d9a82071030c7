"""Patty cake that ends in a slap: a transition between two clips, and an impact (Z5, Z8, Z9, Z10).   [tracking, fig. 5]

One child has enough: from the middle of a clap her right hand goes over to another motion, whose hand would go through
the other child's cheek. Both are simulated from the hips up and follow their clips; hand and head touch.

`jump_m_s` is the largest change of the hand's speed from one frame to the next before the impact, beside that of a cut
without a transition; `speed_m_s` the hand's speed towards the cheek just before the impact and, on the
average, from 0.06 to 0.16 s after it; `head_degrees` how far the head is turned by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.demos.shared.show import Shot, film_shots, measure_mix, save_figures, save_motion, stand_still
from poise.demos.tracking.pattycake import (
    ADULT,
    BEAT,
    CHILDREN,
    COLORS,
    DT,
    HANDS,
    OWN,
    RIGHT,
    find_palm,
    play_on,
    put_together,
    record_adult,
)
from poise.engines.contact_log import find_peak
from poise.files.output import write_bytes
from poise.motion.edits.ground import translate, turn
from poise.motion.edits.offsets import Offset, apply_offsets
from poise.motion.edits.sequence import Segment, join_segments
from poise.motion.edits.timing import frame_times
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import SingleGesture
from poise.motion.samples.curves import rise_and_fall
from poise.pictures.plots import plot_transition
from poise.world.collision_shapes import build_bulk

CLAPS = (OWN, RIGHT, OWN)
DISTANCE, FPS = 0.50, 500.0
LEAVES, TRANSITION = 2.2 * BEAT, 0.3  # s: when the one motion gives way to the other, and for how long
STRIKES, LASTS = 0.55, 1.2  # s of the slap's own clock
THROUGH = 0.06  # m, that the palm is aimed past the cheek
NECK = 120.0  # 1/s2: how firmly the other holds her head
SLAPPER, SLAPPED, HAND = "tall", "small", "rightHand"
# s, and out, up, forward in arm lengths: home, drawn back, through the cheek, and home
_KEYS = (
    (0.0, 0.30, -0.36, 0.50), (0.32, 0.95, 0.12, 0.42), (STRIKES, 0.18, 0.16, 0.92), (0.72, -0.15, 0.10, 0.80),
    (LASTS, 0.30, -0.36, 0.50),
)  # fmt: skip
_LEAN = np.radians([16.0, 14.0, 0.0])  # of the trunk: forward, and the right shoulder with it


@dataclass(frozen=True)
class Slapping(SingleGesture):
    """The right hand draws back and strikes. Phase counts seconds."""

    @property
    def length(self) -> float:
        """s."""
        return LASTS

    @property
    def sides(self) -> tuple[str, ...]:
        """Both: the left one stays at home."""
        return ("left", "right")

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """The wrist through its places."""
        from scipy.interpolate import CubicSpline

        keys = np.array(_KEYS)
        places = np.tile(keys[0, 1:], (len(phase), 1))
        if arm.sign < 0.0:
            places = CubicSpline(keys[:, 0], keys[:, 1:], bc_type="clamped")(np.clip(phase, 0.0, LASTS))
        return ArmPath(arm.length * places, np.array([-1.0, 0.2, 0.35]), np.zeros(len(phase)))


@dataclass(frozen=True, eq=False)
class Slapped:
    """How it went.

    motions  what was to be gone over from, what to, and what came of it, on the stage's clock
    begins, ends  s, of the transition;  hit: s, when the hand touched the head; None: never
    """

    stage: poise.Stage
    take: poise.Take
    motions: dict[str, poise.Clip]
    begins: float
    ends: float
    hit: float | None
    force: np.ndarray


def run(folder: Path) -> dict[str, Any]:
    """Write the files of both; see `show`. The motion files are of the one who slaps."""
    found, cut = slap(), slap(transition=0.0)
    hands = {
        name: find_hand(clip)[:, 0] for name, clip in (*found.motions.items(), ("tracked", found.take.clip(SLAPPER)))
    }
    figures = measure_mix(found.stage, found.take, SLAPPER) | measure(found, cut)
    times = {name: clip.times for name, clip in found.motions.items()} | {"tracked": found.take.times}
    plot = plot_transition(
        {name: (times[name], 1e3 * hands[name]) for name in hands}, (found.begins, found.ends), found.hit,
        "mm", "the right hand, sideways",
    )  # fmt: skip
    write_bytes(folder / "slap-hand.png", plot)
    shots = [Shot(found.take, name, name, COLORS[name]) for name in (SLAPPED, SLAPPER)]
    save_motion(folder, "slap", shots[1])
    found.take.save(folder / f"slap-{SLAPPED}.glb", SLAPPED)
    film_shots(folder / "slap", shots, speed=0.5, azimuth=2.2, together=True)
    return save_figures(folder, "slap", figures)


def build_clips(
    transition: float = TRANSITION,
) -> tuple[dict[str, poise.Character], dict[str, poise.Clip], dict[str, poise.Clip]]:
    """The children, what each is to follow, and the motions that the slapper's is made of."""
    adult = poise.Character.human(*ADULT, preset="mix")
    clip = record_adult(adult.skeleton, stand_still(adult), CLAPS)
    children = {
        name: poise.Character.human(m, kg, age=years, preset="mix") for name, (m, kg, years) in CHILDREN.items()
    }
    clips = {name: play_on(clip, child) for name, child in children.items()}
    clips[SLAPPER] = translate(turn(clips[SLAPPER], np.pi, np.zeros(3)), np.array([0.0, 0.0, DISTANCE]))
    clips = put_together(children, clips, claps=CLAPS)
    cheek = find_cheek(clips[SLAPPED], children[SLAPPED], LEAVES + STRIKES)
    slapping = aim(record_slap(children[SLAPPER], clips[SLAPPER]), children[SLAPPER], cheek)
    first = Segment(clips[SLAPPER], 0.0, LEAVES)
    result = join_segments([first, Segment(slapping)], transition=transition, fps=120.0).clip
    motions = {"patty cake": clips[SLAPPER], "slap": slapping.replace(times=slapping.times + LEAVES), "result": result}
    return children, {SLAPPED: clips[SLAPPED], SLAPPER: result}, motions


def record_slap(character: poise.Character, stands: poise.Clip, fps: float = 120.0) -> poise.Clip:
    """The slap of a body that stands where another clip of it does."""
    skeleton, slapping = character.skeleton, Slapping()
    times = frame_times(LASTS, fps, len(skeleton))
    turns = np.tile(stands.rotations[0], (len(times), 1, 1))
    turns[:, slapping.joints(skeleton)] = slapping.rotations(skeleton, times)
    lean = rise_and_fall(times, 0.1, STRIKES, STRIKES + 0.1, LASTS)[:, None] * _LEAN
    spine = skeleton.index("spine")
    turns[:, spine] = rotation.multiply(turns[:, spine], rotation.exp(lean))
    root = np.tile(stands.root[0], (len(times), 1))
    return poise.Clip(skeleton, times, root, rotation.make_continuous(turns), "slap")


def find_cheek(clip: poise.Clip, character: poise.Character, t: float) -> np.ndarray:
    """(3,) m, of the left cheek, where it is at a time."""
    at = min(t, float(clip.times[-1]))
    positions, turns = character.skeleton.pose(*clip.pose(at))
    head = character.skeleton.index("head")
    shape: Any = build_bulk(character)[head]
    middle = shape.center if hasattr(shape, "center") else 0.5 * (shape.start + shape.end)
    return np.asarray(positions[head] + rotation.rotate(turns[head], middle + np.array([shape.radius, -0.02, 0.0])))


def aim(clip: poise.Clip, character: poise.Character, cheek: np.ndarray) -> poise.Clip:
    """The slap with its palm past a cheek when it strikes."""
    place = cheek + np.array([-THROUGH, 0.0, 0.0])
    offset = Offset(HAND, STRIKES, place, tuple(find_palm(character, "right")[0]), before=0.3, after=0.3)
    return apply_offsets(clip, [offset]).clip


def slap(transition: float = TRANSITION, touch: poise.ContactSettings | None = None, engine: str = "mujoco") -> Slapped:
    """Both on a stage. transition: s; 0 is a cut."""
    children, clips, motions = build_clips(transition)
    pairs = (*HANDS, (f"{SLAPPER}/{HAND}", f"{SLAPPED}/head"))
    stage = poise.Stage(engine, dt=DT, touch=touch or poise.ContactSettings(only=pairs))
    for name, clip in clips.items():
        actor = stage.add(children[name], name, poise.Pose(clip.root[0].copy(), clip.rotations[0].copy()))
        actor.drive("body", poise.Kinematic(clip))
        actor.drive("upperBody", poise.Track(clip))
    stage.actors[SLAPPED].drive("head", poise.Track(clips[SLAPPED], stiffness=NECK))
    force: list[float] = []
    take = stage.run(LEAVES + LASTS, fps=FPS, each=lambda _t: force.append(_read_force(stage)))
    felt = np.flatnonzero(np.array(force) > 1.0)
    hit = None if not len(felt) else float(felt[0] * stage.dt)
    return Slapped(stage, take, motions, LEAVES - 0.5 * transition, LEAVES + 0.5 * transition, hit, np.array(force))


def _read_force(stage: poise.Stage) -> float:
    """N, of the hand on the head in the last step."""
    for group in stage.groups:
        for k, actor in enumerate(group.actors):
            if actor.name == SLAPPED:
                touches = group.simulation.find_contacts(k)
                hit = [other == f"{SLAPPER}/{HAND}" and actor.skeleton.labels[joint] == "head"
                       for joint, other in zip(touches.joints, touches.others, strict=True)]  # fmt: skip
                return float(np.linalg.norm(touches.forces[hit].sum(axis=0)))
    return 0.0


def find_hand(clip: poise.Clip) -> np.ndarray:
    """(F, 3) m, the right wrist."""
    return np.asarray(clip.positions[:, clip.skeleton.index(HAND)])


def find_jump(take: poise.Take, until: float, name: str = SLAPPER) -> float:
    """m/s, the largest change of the hand's velocity from one frame to the next before a time."""
    velocity = np.diff(find_hand(take.clip(name)), axis=0) * FPS
    before = take.times[2:] < until
    return float(np.linalg.norm(np.diff(velocity, axis=0), axis=1)[before].max())


def measure(found: Slapped, cut: Slapped) -> dict[str, Any]:
    """Figures of a slap, beside one with a cut instead of the transition."""
    take, hit = found.take, found.hit
    assert hit is not None, "the hand never touched the head"
    speed = -np.diff(find_hand(take.clip(SLAPPER))[:, 0]) * FPS  # towards the cheek
    at = round(hit * FPS)
    head = found.take.actor(SLAPPED).character.skeleton.index("head")
    turns = take.clip(SLAPPED).world[1][:, head]
    return {
        "hit_at_s": hit,
        "jump_m_s": {
            "transition": find_jump(take, hit - 0.01),
            "cut": find_jump(cut.take, (cut.hit or hit) - 0.01),
        },
        "speed_m_s": {"before": float(speed[at - 8 : at - 1].max()), "after": float(speed[at + 30 : at + 80].mean())},
        "peak_force_n": find_peak(found.force, found.stage.dt),
        "impulse_ns": float(found.force.sum() * found.stage.dt),
        "head_degrees": float(np.degrees(rotation.angle(turns[at - 5], turns[at:]).max())),
    }
