"""A load that is too heavy (W13): somebody lifts 9 kg with a stretched arm, and lets go when the effort passes 1.

Effort is the torque at a joint over its strength. The actor tells when it passes 1; a listener drops the load.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures
from poise.demos.shared.show import CLAY, TAKE_FPS, Shot, measure_mix, save_show
from poise.pictures.items import DrawnProp
from poise.stage.take.take import Event

HEIGHT, MASS, SECONDS = 1.78, 75.0, 5.0
START = 0.5  # s: the gesture begins with a jolt, and nobody lets go of a thing for that
HAND, LOAD = "rightHand", poise.Load("rightHand", 9.0, (-0.06, 0.0, 0.0))


def run(folder: Path) -> dict[str, Any]:
    """Write the files of the lift; see `show`."""
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(HEIGHT, MASS, preset="mix"), loads=[LOAD])
    gesture = gestures.arm_swing(rate=0.15, amplitude=100.0, hands="right")
    actor.drive("legs", poise.Balance())
    actor.drive("rightArm", poise.Kinematic(gesture))
    arm = gesture.joints(actor.character.skeleton)
    efforts = [0.0]

    def let_go(event: Event) -> None:
        if event.kind == "effort":
            actor.drop(HAND)

    def watch(t: float) -> None:
        actor.show(t)
        efforts.append(float(actor.measure()[1][arm].max()))  # tells when it is above 1

    actor.listen(let_go)
    take = stage.run(SECONDS, fps=TAKE_FPS, each=watch)
    dropped = next((event.time for event in take.events if event.kind == "dropped"), None)
    figures = measure_mix(stage, take)
    figures |= {
        "load_kg": LOAD.mass,
        "dropped_at_s": dropped,
        "peak_effort": max(efforts[round(START / stage.dt) :]),
        "effort_at_end": efforts[-1],
    }
    shot = Shot(take, None, f"{LOAD.mass:g} kg at arm's length", CLAY, [draw_load(take, dropped)])
    return save_show(folder, "overload", [shot], figures, shot, azimuth=-0.9)


def draw_load(take: poise.Take, dropped: float | None) -> DrawnProp:
    """The load in the hand, and on its way to the ground after that."""
    record = take.actor()
    positions, turns = take.clip().world
    hand = record.character.skeleton.index(HAND)
    poses = np.concatenate([positions[:, hand], turns[:, hand]], axis=1)
    shape = poise.Sphere(np.array(LOAD.offset), LOAD.radius)
    if dropped is not None:
        last = int(np.searchsorted(take.times, dropped, side="right")) - 1
        speed = (poses[last, :3] - poses[last - 1, :3]) * TAKE_FPS
        for frame in range(last + 1, len(take)):
            t = take.times[frame] - take.times[last]
            poses[frame] = poses[last]
            poses[frame, :3] += speed * t + [0.0, -0.5 * 9.81 * t * t, 0.0]
            poses[frame, 1] = max(poses[frame, 1], 2.0 * LOAD.radius)
    return DrawnProp(shape, poses, take.times, color=(0.30, 0.32, 0.36))
