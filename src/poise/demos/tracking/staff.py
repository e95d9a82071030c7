"""A staff that is pumped up and down, and a wrist that keeps it upright (Z6).   [tracking, section 4.2, figure 8]

animated   the arm as it was drawn: the hand goes with the forearm, and the staff with the hand
tracked    the same, followed by springs: the staff's weight and inertia show
upright    a task controller in the wrist instead; the rest of the arm is followed as before

`tilt_degrees` is the farthest that the staff leans after its first half second, of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.demos.shared.show import BLUE, GREEN, RED, TAKE_FPS, Shot, measure_mix, save_show, stand_still
from poise.files.output import write_bytes
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import ArmGesture
from poise.pictures.items import DrawnProp
from poise.pictures.mix_plots import plot_comparison
from poise.stage.actor import Actor

HEIGHT, MASS, SECONDS, SETTLED = 1.75, 75.0, 5.0, 0.5
LENGTH, RADIUS, STAFF = 1.7, 0.015, 1.2  # m, m, kg
WAYS = {"animated": RED, "tracked": GREEN, "upright": BLUE}
HAND = "rightHand"


@dataclass(frozen=True)
class StaffPump(ArmGesture):
    """The right fist up and down before the shoulder, palm inward. Phase counts pumps; it is up at whole ones."""

    rate: float = 0.8

    @property
    def period(self) -> float:
        """One pump."""
        return 1.0

    @property
    def sides(self) -> tuple[str, ...]:
        """The right arm."""
        return ("right",)

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """The wrist on a line, in arm lengths."""
        up = np.cos(2.0 * np.pi * phase)
        wrist = np.stack([0.42 + 0.0 * up, -0.40 + 0.22 * up, 0.60 + 0.0 * up], axis=-1)
        return ArmPath(arm.length * wrist, np.array([-1.0, 0.0, 0.0]), np.zeros(len(phase)))


def run(folder: Path) -> dict[str, Any]:
    """Write the files of all three; see `show`. The subject keeps its staff upright."""
    found = {way: play(way, SECONDS) for way in WAYS}
    tilts = {way: find_tilt(take) for way, (_, take, _) in found.items()}
    stage, take, torques = found["upright"]
    settled = take.times > SETTLED
    figures = measure_mix(stage, take) | {
        "tilt_degrees": {way: float(tilt[settled].max()) for way, tilt in tilts.items()},
        "mean_tilt_degrees": {way: float(tilt[settled].mean()) for way, tilt in tilts.items()},
        "peak_wrist_nm": float(torques.max()),
        "strength_nm": float(stage.actors["actor"].effort.strength[stage.actors["actor"].skeleton.index(HAND)]),
        "told": [event.message for event in take.events if event.kind == "cannot-keep-upright"],
        "staff_kg": STAFF,
    }
    shots = []
    for way, (own, run_, _) in found.items():
        staff = DrawnProp(own.props["staff"].shapes, run_.props["staff"], run_.times, color=(0.5, 0.36, 0.22))
        shots.append(Shot(run_, None, way, WAYS[way], [staff]))
    plot = plot_comparison(take.times, tilts, "degrees", "how far the staff leans")
    write_bytes(folder / "staff-tilt.png", plot)
    return save_show(folder, "staff", shots, figures, shots[-1], azimuth=1.1)


def play(
    way: str, seconds: float, engine: str = "mujoco", dt: float = 0.005
) -> tuple[poise.Stage, poise.Take, np.ndarray]:
    """One of `WAYS`: the stage, its take, and (N,) N m that the wrist gave in every step."""
    stage, actor = build(way, engine, dt)
    torques: list[float] = []
    i, body = actor.skeleton.index(HAND), actor.body

    def listen(_t: float) -> None:
        given = body.R[i].T @ body.torque[i] - body.damping[i] * body.state.w[i]
        torques.append(float(np.linalg.norm(given)))

    take = stage.run(seconds, fps=TAKE_FPS, each=listen)
    return stage, take, np.array(torques)


def build(way: str, engine: str = "mujoco", dt: float = 0.005) -> tuple[poise.Stage, Actor]:
    """Somebody with a staff in his right hand."""
    character = poise.Character.human(HEIGHT, MASS, preset="mix")
    stage, pump = poise.Stage(engine, dt=dt), StaffPump()
    stage.add_prop(poise.Prop.capsule("staff", RADIUS, LENGTH, STAFF))
    actor = stage.add(character, "actor", begin_with(character.skeleton, pump, stand_still(character).pose(0.0)))
    actor.grasp(HAND, "staff")
    if way == "animated":
        actor.drive("root", poise.Kinematic(stand_still(character)))
        actor.drive("arms", poise.Kinematic(pump))
        return stage, actor
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Track(pump))
    if way == "upright":
        actor.drive([HAND], poise.KeepUpright("staff"))
    return stage, actor


def begin_with(skeleton: poise.Skeleton, gesture: ArmGesture, pose: poise.Pose) -> poise.Pose:
    """A pose with the arms as a gesture begins."""
    turns, joints = np.array(pose.rotations), gesture.joints(skeleton)
    turns[joints] = gesture.rotations(skeleton, np.zeros(1))[0]
    return poise.Pose(np.array(pose.root), turns)


def find_tilt(take: poise.Take) -> np.ndarray:
    """(F,) degrees, how far the staff leans."""
    up = rotation.rotate(take.props["staff"][:, 3:], np.array([0.0, 1.0, 0.0]))[:, 1]
    return np.asarray(np.degrees(np.arccos(np.clip(up, -1.0, 1.0))))
