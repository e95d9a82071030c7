"""Hands that beat a drum, four ways (Z5, Z10).   [tracking, section 4.1, figure 4]

kinematic   the motion as it was drawn: hands sink into the drum
no contact  followed by springs, with the drum not there for them
tracked     followed by springs on legs that balance, and the drum stops them, by the engine's contacts
penalty     the same by the paper's springs and dampers

The motion goes `SINKS` below the drum's skin. A beat begins where the motion's hand comes to the skin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.demos.shared.show import stand_still
from poise.demos.tracking.staff import begin_with
from poise.engines.contact_log import find_impulse, find_peak
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.curves import bounce
from poise.motion.gestures.gesture import ArmGesture
from poise.stage.actor import Actor
from poise.world.collision_shapes import build_bulk

HEIGHT, MASS, SECONDS, DT, FPS = 1.75, 75.0, 3.0, 0.001, 500.0
HANDS = ("leftHand", "rightHand")
SINKS = 0.03  # m
SKIN, DEEP, AWAY = (0.7, 0.5), 0.3, 0.6  # m: the drum's skin, its depth, and how far before the body it is
STIFFNESS, BOUNCE = 300.0, 0.5  # 1/s2 of the arms; of the skin
WAYS = ("kinematic", "no contact", "tracked", "penalty")


@dataclass(frozen=True)
class Drumming(ArmGesture):
    """Hands that beat in turn, palms down. Phase counts beats of one hand; both are half way up at 0."""

    rate: float = 1.5

    @property
    def period(self) -> float:
        """A beat of each hand."""
        return 1.0

    @property
    def sides(self) -> tuple[str, ...]:
        """Both arms."""
        return ("left", "right")

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """The wrist up and down, quicker before the beat."""
        up = bounce(phase + (0.75 if arm.sign < 0.0 else 0.25), 0.35, 0.3)[0]
        wrist = np.stack([0.34 + 0.0 * up, -0.62 + 0.24 * up, 0.62 + 0.0 * up], axis=-1)
        return ArmPath(arm.length * wrist, np.array([0.0, -1.0, 0.05]), np.full(len(phase), -0.1))


@dataclass(frozen=True, eq=False)
class Beaten:
    """How it went, one of `WAYS`.

    heights  (F, 2) m, of the lowest point of the left and the right hand over the skin
    forces   (N, 2) N, of the drum on each hand, in every step
    """

    stage: poise.Stage
    take: poise.Take
    heights: np.ndarray
    forces: np.ndarray

    @property
    def sinks_mm(self) -> float:
        """The deepest that a hand is in the drum."""
        return -1e3 * float(self.heights.min())

    def begin_times(self) -> list[np.ndarray]:
        """Of each hand: s, (B,), when it came down to the skin, at most every 0.2 s."""
        times, found = self.take.times, []
        for height in self.heights.T:
            down = np.flatnonzero((height[:-1] > TOUCHING) & (height[1:] <= TOUCHING))
            share = (height[down] - TOUCHING) / (height[down] - height[down + 1])
            at = times[down] + share * (times[down + 1] - times[down])
            found.append(at[np.diff(at, prepend=-1.0) > 0.2])
        return found


TOUCHING = 0.001  # m over the skin: engines keep things apart by about so much


def find_skin(character: poise.Character) -> float:
    """m, how high the drum's skin is: so far above the lowest point that the motion's hands come to."""
    stage, actor = build("kinematic", character, None)
    return float(find_heights(run_way(stage, actor, 1.0)[0].clip(), character).min()) + SINKS


def build(way: str, character: poise.Character, skin: float | None, engine: str = "mujoco", dt: float = DT,
          stiffness: float = STIFFNESS, **options: Any) -> tuple[poise.Stage, Actor]:  # fmt: skip
    """A drummer, and a drum where a skin (m high) is given. options: of the tracking."""
    forces = "penalty" if way == "penalty" else "engine"
    touch = (
        poise.ContactSettings(only=tuple((hand, "drum") for hand in HANDS), bounce=BOUNCE, forces=forces)
        if skin
        else poise.ContactSettings()
    )
    stage, drumming, still = poise.Stage(engine, dt=dt, touch=touch), Drumming(), stand_still(character)
    if skin is not None:
        stage.add_prop(poise.Prop.box("drum", (SKIN[0], DEEP, SKIN[1]), None, (0.0, skin - 0.5 * DEEP, AWAY)))
    actor = stage.add(character, "drummer", begin_with(character.skeleton, drumming, still.pose(0.0)))
    if way == "kinematic":
        actor.drive("root", poise.Kinematic(still))
        actor.drive("arms", poise.Kinematic(drumming))
        return stage, actor
    actor.drive("legs", poise.Balance(hold=0.0, counter_lean=0.0))  # hips that stay: hands are to meet the drum
    actor.drive("upperBody", poise.Track(still))
    actor.drive("arms", poise.Track(drumming, stiffness=stiffness, **options))
    return stage, actor


def beat(way: str, character: poise.Character, skin: float, seconds: float = SECONDS, **options: Any) -> Beaten:
    """One of `WAYS`; options as of `build`."""
    is_there = way in ("tracked", "penalty")
    stage, actor = build(way, character, skin if is_there else None, **options)
    take, forces = run_way(stage, actor, seconds)
    return Beaten(stage, take, find_heights(take.clip(), character) - skin, forces)


def run_way(stage: poise.Stage, actor: Actor, seconds: float) -> tuple[poise.Take, np.ndarray]:
    """A take, and (N, 2) N on each hand in every step."""
    labels = actor.character.skeleton.labels
    forces: list[list[float]] = []

    def listen(_t: float) -> None:
        touches = stage.groups[0].simulation.find_contacts(0)
        sizes = np.linalg.norm(touches.forces, axis=1)
        who = [
            labels[joint] if other == "drum" else ""
            for joint, other in zip(touches.joints, touches.others, strict=True)
        ]
        forces.append([float(sizes[[each == hand for each in who]].sum()) for hand in HANDS])

    stage.build()
    take = stage.run(seconds, fps=min(FPS, 1.0 / stage.dt), each=listen if stage.props else None)
    return take, np.array(forces).reshape(-1, 2)


def find_heights(clip: poise.Clip, character: poise.Character) -> np.ndarray:
    """(F, 2) m, of the lowest point of each hand's shape."""
    positions, turns = clip.world
    bulk, found = build_bulk(character), []
    for hand in HANDS:
        i = character.skeleton.index(hand)
        shape = bulk[i]
        ends = np.array([shape.start, shape.end] if isinstance(shape, poise.Capsule) else [shape.center])
        at = positions[:, i, None] + rotation.rotate(turns[:, i, None], ends[None])
        found.append(at[..., 1].min(axis=1) - shape.radius)  # type: ignore[union-attr]
    return np.stack(found, axis=1)


def measure(found: dict[str, Beaten]) -> dict[str, Any]:
    """Figures of all of `WAYS`: see docs/tracking-demos.md."""
    inputs = found["kinematic"].begin_times()
    late: dict[str, float] = {}
    bounces: dict[str, float] = {}
    for way in ("tracked", "penalty"):
        own = found[way]
        errors = [abs(a - b) for mine, its in zip(own.begin_times(), inputs, strict=True)
                  for a, b in zip(mine, its, strict=True)]  # fmt: skip
        late[way] = 1e3 * float(max(errors))
        bounces[way] = find_bounce(own, inputs)
    return {
        "sinks_mm": {way: each.sinks_mm for way, each in found.items()},
        "contact_time_error_ms": late,
        "bounce_mm": bounces,
        "tracked_beats": sum(len(each) for each in found["tracked"].begin_times()),
        "tracked_peak_force_n": max(find_peak(each, found["tracked"].stage.dt) for each in found["tracked"].forces.T),
        "tracked_impulse_ns": max(find_impulse(each, found["tracked"].stage.dt) for each in found["tracked"].forces.T),
        "shoulder_mm": find_shoulder(found["tracked"], found["no contact"]),
    }


def find_bounce(own: Beaten, inputs: list[np.ndarray], within: float = 0.06) -> float:
    """mm, how far hands spring back from the skin within a while after they came to it; the least of all beats."""
    found = []
    for k, beats in enumerate(inputs):
        for t in beats[beats + within < own.take.times[-1]]:
            here = (own.take.times > t) & (own.take.times < t + within)
            height = own.heights[here, k]
            low = int(np.argmin(height[: len(height) // 3]))
            found.append(height[low:].max() - max(height[low], 0.0))
    return 1e3 * float(min(found))


def find_shoulder(own: Beaten, other: Beaten) -> float:
    """mm, the farthest that the beats move a shoulder from where it is without them."""
    labels = ("leftUpperArm", "rightUpperArm")
    places = [each.take.clip().world[0] for each in (own, other)]
    at = [own.take.actor().character.skeleton.index(label) for label in labels]
    return 1e3 * float(np.linalg.norm(places[0][:, at] - places[1][:, at], axis=-1).max())
