"""A child pumps a playground swing (W11): the swing is physical, its rider animated and attached to it.

In phase with the swing the amplitude grows; half a swing late it dies away. The rider listens: a few times a second it
compares its own phase with the swing's and hurries or dawdles a little, as pumping changes the swing's period.
[Isaacs and Cohen 1987, "Controlling dynamic simulation with kinematic constraints"]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.demos.mix.drum import SEATED, Pump
from poise.demos.shared.show import BLUE, RED, TAKE_FPS, Shot, measure_mix, save_show
from poise.jobs.shared.answers import GAINS, LAGS, SHIFTS
from poise.motion.playback.kernels import phase_at
from poise.pictures.items import DrawnProp, Item
from poise.stage.actor import Actor
from poise.world.swing import grip

HEIGHT, MASS = 1.40, 36.0
LENGTH, CLEARANCE, START = 1.9, 0.5, np.radians(5.0)
SECONDS, SPEED = 20.0, 2.0
GRIP = 0.46  # m above the seat
LISTEN = 0.2  # s between two looks at the swing
HURRY, MOST = 1.5, 0.25  # change of rate a cycle of phase error, and at most


def run(folder: Path) -> dict[str, Any]:
    """Write the swing's files; see `show`. The film is at twice the speed."""
    shots, grown, figures = [], {}, {}
    for label, late, color in (("half a swing late", 0.5, RED), ("in phase", 0.0, BLUE)):
        stage, take = pump(late)
        shots.append(Shot(take, None, label, color, draw_swing(take)))
        grown[label] = find_amplitude(take)[-1] / find_amplitude(take)[0]
        figures = measure_mix(stage, take)
    figures |= dict.fromkeys(("foot_slip_mm", "com_margin_m", "sway_mm", *GAINS, *LAGS, *SHIFTS))  # it does not stand
    figures["growth_in_phase"], figures["growth_out_of_phase"] = grown["in phase"], grown["half a swing late"]
    return save_show(folder, "swing", shots, figures, shots[-1], speed=SPEED, azimuth=-1.15)


def pump(
    late: float, seconds: float = SECONDS, effort: float = 1.0, dt: float = 0.005
) -> tuple[poise.Stage, poise.Take]:
    """A rider on a swing that starts at rest, a little back."""
    stage = poise.Stage(dt=dt)
    rider, rate = seat_rider(stage, late, effort)
    heard = [-LISTEN]

    def listen(t: float) -> None:
        if t < heard[0] + LISTEN - 1e-9:
            return
        heard[0] = t
        player: Any = rider.assignments[-1].player
        apart = (find_phase(rider, rate) - phase_at(player.clock, t)[0] + 0.5) % 1.0 - 0.5
        rider.change(rate=rate * (1.0 + float(np.clip(HURRY * apart, -MOST, MOST))))

    return stage, stage.run(seconds, fps=TAKE_FPS, each=listen)


def seat_rider(stage: poise.Stage, late: float, effort: float = 1.0) -> tuple[Actor, float]:
    """A child on a swing of the stage, and how many times a second it expects to swing, as a point would."""
    swing = stage.add_prop(poise.build_swing(LENGTH, START, CLEARANCE))
    character = poise.Character.human(HEIGHT, MASS, preset="mix")
    turns = rotation.identity((len(character.skeleton),))
    turns[0] = swing.turn
    rider = stage.add(character, "rider", poise.Pose(swing.position + rotation.rotate(swing.turn, SEATED), turns))
    rate = float(np.sqrt(9.81 / (LENGTH - 0.15))) / (2.0 * np.pi)
    x, y, z = grip(swing, 0, GRIP) - SEATED
    rider.drive("root", poise.Attached("swing"))
    rider.drive(character.skeleton.names[1:], poise.Kinematic(Pump(rate, late, effort, (float(x), float(y), float(z)))))
    return rider, rate


def find_phase(rider: Actor, rate: float) -> float:
    """Of the swing under its rider, 0 where it is furthest back: a = A cos(2 pi p), a' = -A 2 pi rate sin(2 pi p)."""
    _, y, z = rider.body.state.root - [0.0, CLEARANCE + LENGTH, 0.0]
    _, dy, dz = rider.body.state.v
    angle, speed = np.arctan2(-z, -y), (y * dz - z * dy) / (y * y + z * z)
    return float(np.arctan2(-speed / (2.0 * np.pi * rate), angle) / (2.0 * np.pi))


def find_angle(take: poise.Take) -> np.ndarray:
    """(F,) rad, of the swing."""
    turn = take.props["swing"][:, 3:]
    return np.asarray(2.0 * np.arctan2(turn[:, 1], turn[:, 0]))


def find_amplitude(take: poise.Take) -> np.ndarray:
    """(N,) rad, where the swing turned, one after the other; the start first."""
    angle = find_angle(take)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(angle)))) + 1
    return np.abs(np.concatenate([angle[:1], angle[turns]]))


def draw_swing(take: poise.Take) -> list[Item]:
    """The swing as it moved, and the frame that it hangs from."""
    top, wide = CLEARANCE + LENGTH, 0.7
    ends = [np.array([side * wide, top, 0.0]) for side in (1.0, -1.0)]
    posts = [poise.Capsule(end, end * [1.1, 0.0, 1.0] + [0.0, 0.0, z], 0.02) for end in ends for z in (1.1, -1.1)]
    frame = DrawnProp([poise.Capsule(ends[0], ends[1], 0.03), *posts], color=(0.55, 0.57, 0.60))
    return [DrawnProp(poise.build_swing(LENGTH).shapes, take.props["swing"], take.times), frame]
