"""Hands that are only animated beat a drum, knock a ball off it, and push back the body that they hang from.

The drum stands a little above where the hands would come down to, so that every beat meets it. Physical legs take what
the beats put on the body. Then another drummer, whose hands are simulated and follow a motion that goes through the
drum: `demos/tracking/drumming.py`, drum-tracked.* and drum-height.png.

The second half is for the demo `swing`: how a child pumps a swing, sitting. It leans back with its legs out while the
swing goes forward, and sits up with its legs under the seat while it goes back. The hands stay on the ropes.

Why that works (W. Case and M. Swanson 1990, "The pumping of a swing from the seated position"): with h the angular
momentum of the rider's limbs relative to the swing and I the inertia of everything about the bar,

    d/dt (I a' + h) = moment of gravity        so        I a'' + m g l a = -h' + ...

A lean b makes h = J b', and for b in step with the swing's velocity -h' is in step with it too: it feeds energy in. The
other way round it takes it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.body.roles import SIDES
from poise.demos.shared.show import BLUE, GREEN, RED, TAKE_FPS, Shot, film_shots, measure_mix, save_motion, save_show
from poise.demos.tracking import drumming
from poise.engines.contact_log import find_peak
from poise.files.output import write_bytes
from poise.ik.two_bone import solve_two_bone
from poise.motion.gestures.conduct import conduct
from poise.motion.gestures.gesture import Gesture
from poise.pictures.items import DrawnProp
from poise.pictures.mix_plots import plot_comparison
from poise.stage.actor import Actor
from poise.world.collision_shapes import build_bulk

SECONDS, BPM = 4.0, 90.0
HANDS = ("leftHand", "rightHand")
MET = 0.006  # m, how far above their lowest point the hands meet the drum
TALL, RADIUS, BALL = 0.25, 0.06, 0.15  # m, m, kg


def run(folder: Path) -> dict[str, Any]:
    """Write the drummer's files; see `show`."""
    stage, take, force = play(SECONDS)
    beats = find_beats(force)
    figures = measure_mix(stage, take)
    figures |= {
        "beats": len(beats),
        "peak_force_n": max(find_peak(each, stage.dt) for each in force.reshape(len(force), -1).T),
        "ball_speed_m_s": find_ball_speed(take),
    }
    at = stage.props["drum"].position
    corners = [at * [1.0, 0.0, 1.0] + [x, 0.0, z] for x in (-0.4, 0.4) for z in (-0.1, 0.1)]
    props = [
        DrawnProp(stage.props["drum"].shapes, np.array([*at, 1.0, 0.0, 0.0, 0.0])),
        DrawnProp(
            [poise.Capsule(corner, corner + [0.0, at[1], 0.0], 0.012) for corner in corners], color=(0.4, 0.4, 0.42)
        ),
        DrawnProp(stage.props["ball"].shapes, take.props["ball"], take.times, color=(0.85, 0.5, 0.25)),
    ]
    shot = Shot(take, None, "animated arms on a drum", BLUE, props)
    figures |= run_tracked(folder)
    return save_show(folder, "drum", [shot], figures, shot, azimuth=0.7)


def run_tracked(folder: Path) -> dict[str, Any]:
    """Write the files of the drummer whose hands follow a motion, and return his figures."""
    character = poise.Character.human(drumming.HEIGHT, drumming.MASS, preset="mix")
    skin = drumming.find_skin(character)
    found = {way: drumming.beat(way, character, skin) for way in drumming.WAYS}
    drum = found["tracked"].stage.props["drum"]
    drawn = DrawnProp(drum.shapes, np.array([*drum.position, 1.0, 0.0, 0.0, 0.0]))
    colors = dict(zip(drumming.WAYS, (RED, GREEN, BLUE), strict=False))
    shots = [Shot(found[way].take, None, way, color, [drawn]) for way, color in colors.items()]
    save_motion(folder, "drum-tracked", shots[2])
    film_shots(folder / "drum-tracked", shots, speed=0.5, azimuth=0.7)
    first = found["kinematic"].begin_times()[0][0]
    near = np.abs(found["tracked"].take.times - first - 0.05) < 0.2
    lines = {way: 1e3 * each.heights[near, 0] for way, each in found.items()}
    plot = plot_comparison(found["tracked"].take.times[near], lines, "mm", "height of a hand over the drum's skin")
    write_bytes(folder / "drum-height.png", plot)
    return drumming.measure(found)


def play(seconds: float, dt: float = 0.005) -> tuple[poise.Stage, poise.Take, np.ndarray]:
    """The stage, its take, and (N,) N on the drum in every step."""
    place, reach = find_drum(dt)
    stage = poise.Stage(dt=dt)
    stage.add_prop(poise.Prop.box("drum", (0.9, TALL, 0.3), None, place - [0.0, TALL / 2, 0.0]))
    stage.add_prop(poise.Prop.sphere("ball", RADIUS, BALL, (reach[0], place[1] + RADIUS, reach[1])))
    add_drummer(stage)
    force: list[float] = []

    def listen(_t: float) -> None:
        touches = stage.groups[0].simulation.find_contacts(0)
        sizes = np.linalg.norm(touches.forces, axis=1)
        force.append(sum(sizes[[who == "drum" for who in touches.others]], 0.0))

    stage.build()
    take = stage.run(seconds, fps=TAKE_FPS, each=listen)
    return stage, take, np.array(force)


def add_drummer(stage: poise.Stage) -> Actor:
    """Somebody on a stage whose legs balance, and whose arms beat time."""
    actor = stage.add(poise.Character.human(1.75, 75.0, preset="mix"), "drummer")
    actor.drive("legs", poise.Balance(hold=0.0, counter_lean=0.0))  # hips that stay: hands are to meet the drum
    actor.drive("arms", poise.Kinematic(conduct(bpm=BPM, beats=2, hands="both")))
    return actor


def find_drum(dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(3,) m, the middle of the drum's skin; (2,) m, x and z, where the left hand comes by, of one who beats air."""
    stage = poise.Stage(dt=dt)
    actor = add_drummer(stage)
    bulk, skeleton = build_bulk(actor.character), actor.character.skeleton
    lowest, places = np.inf, []
    for _ in range(round(2.0 * 60.0 / BPM / dt)):
        stage.step()
        actor.body.update()
        for name in HANDS:
            i = skeleton.index(name)
            shape = bulk[i]
            assert isinstance(shape, poise.Capsule | poise.Sphere)
            ends = (shape.start, shape.end) if isinstance(shape, poise.Capsule) else (shape.center,)
            at = np.array([actor.body.p[i] + actor.body.R[i] @ end for end in ends])
            tip = at[np.argmin(at[:, 1])]
            lowest = min(lowest, float(tip[1]) - shape.radius)
            places.append((float(tip[1]), *tip))
    low = np.array(min(places)[1:])
    middle = np.array([0.0, lowest + MET, low[2]])
    return middle, np.array([abs(low[0]), low[2] + 0.08])


def find_beats(force: np.ndarray, least: float = 20.0, apart: int = 20) -> np.ndarray:
    """(B,) steps in which a beat begins: the drum is pressed by `least` N, and was not for `apart` steps.

    A hand that bounces once beats once.
    """
    pressed = np.flatnonzero(force > least)
    return pressed[np.diff(pressed, prepend=-apart - 1) > apart]


def find_ball_speed(take: poise.Take) -> float:
    """m/s, the ball's fastest, seen from above: falling does not count."""
    speed = np.linalg.norm(np.diff(take.props["ball"][:, [0, 2]], axis=0), axis=1) / np.diff(take.times)
    return float(speed.max())


SEATED = np.array([0.0, 0.085, -0.07])  # m, of the hips in the swing's frame: on the plank, a hand behind the ropes
_PALM = 0.07  # m from wrist to palm
# Degrees at the two ends, legs under the seat and legs out. Angles about +X: back is negative for trunk and thighs.
_ENDS = {"spine": (12.0, -42.0), "head": (-8.0, 30.0), "UpperLeg": (-78.0, -100.0), "LowerLeg": (98.0, 14.0),
         "Foot": (8.0, 28.0)}  # fmt: skip


@dataclass(frozen=True)
class Pump(Gesture):
    """Phase counts swings: at 0 the swing is furthest back, at 1/2 furthest forward.

    rate   swings a second
    late   phase by which the rider is behind: 0 pumps, 1/2 brakes
    effort of the lean and of the legs: 0 sits still, 1 is a keen child
    grip   m, where the left hand holds its rope, from the hips; the right one mirrors it
    """

    rate: float = 0.35
    late: float = 0.0
    effort: float = 1.0
    grip: tuple[float, float, float] = (0.22, 0.40, 0.07)

    @property
    def period(self) -> float:
        """One swing."""
        return 1.0

    def joints(self, skeleton: poise.Skeleton) -> list[int]:
        """Trunk, head, arms without hands, and legs."""
        limbs = [side + joint for side in SIDES for joint in ("UpperArm", "LowerArm", "UpperLeg", "LowerLeg", "Foot")]
        return sorted(skeleton.index(role) for role in ("spine", "head", *limbs))

    def rotations(self, skeleton: poise.Skeleton, phase: np.ndarray) -> np.ndarray:
        """See `Gesture.rotations`."""
        phase = np.atleast_1d(np.asarray(phase, float))
        x = 2.0 * np.pi * (phase - self.late)
        # Flat at its top, so that both ends are held for a while: sin x + sin 3x / 9 has no curvature there.
        out = 0.5 + 0.5 * self.effort * (np.sin(x) + np.sin(3.0 * x) / 9.0) * 9.0 / 8.0
        turns: dict[int, np.ndarray] = {}
        for role, (under, far) in _ENDS.items():
            angle = np.radians(under + (far - under) * out)
            for name in [role] if role in skeleton.roles else [side + role for side in SIDES]:
                turns[skeleton.index(name)] = rotation.exp(angle[:, None] * [1.0, 0.0, 0.0])
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            turns |= self._hold_rope(skeleton, side, sign, turns[skeleton.index("spine")])
        return rotation.make_continuous(np.stack([turns[i] for i in self.joints(skeleton)], axis=1))

    def _hold_rope(self, skeleton: poise.Skeleton, side: str, sign: float, trunk: np.ndarray) -> dict[int, np.ndarray]:
        spine, upper, lower, hand = (
            skeleton.index(role) for role in ("spine", f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand")
        )
        shoulder = skeleton.offsets[spine] + rotation.rotate(trunk, skeleton.offsets[upper])
        forearm = skeleton.offsets[hand]
        palm = forearm * (1.0 + _PALM / np.linalg.norm(forearm))
        target = np.broadcast_to(np.array(self.grip) * [sign, 1.0, 1.0], shoulder.shape)
        # Elbows go down and a little out.
        arm = solve_two_bone(
            shoulder,
            target,
            np.array([-1.0, 0.0, 0.6 * sign]),
            skeleton.offsets[lower],
            palm,
            np.array([0.0, -sign, 0.0]),
        )
        back = rotation.conjugate(trunk)
        return {
            upper: rotation.multiply(back, arm.upper),
            lower: rotation.multiply(rotation.conjugate(arm.upper), arm.lower),
        }
