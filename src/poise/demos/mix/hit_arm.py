"""An arm that is hit hangs loose for a second from an animated trunk, over legs that balance, and comes back (W1, W10).

Trunk, head and the left arm go on as they were told. Beside him stands who was not hit. `arm_off_degrees` is the
largest angle of a joint of the right arm to where the music has it, `back_s` how long after the hand-over it is there
again to a degree.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures, rotation
from poise.demos.mix.switch import look_at
from poise.demos.shared.show import BLUE, CLAY, Shot, measure_mix, measure_sway, save_show
from poise.motion.parts import part_joints
from poise.stage.actor import Actor
from poise.stage.standing import stand_at_ease

HEIGHT, MASS, SECONDS, FPS = 1.78, 75.0, 6.0, 100.0
HIT, LOOSE = 2.6, 1.0  # s: when, and how long it hangs
FORCE, BLOW = (0.0, -120.0, 40.0), 0.05  # N on the forearm, down and a little forwards, for so many seconds
PART = "rightArm"
GESTURE = gestures.conduct(bpm=92.0, beats=4, hands="both")
BREATH = gestures.breathe()


def run(folder: Path) -> dict[str, Any]:
    """Write the files of the one who is hit; see `show`."""
    (quiet_stage, _), (stage, actor) = build(), build()
    quiet = quiet_stage.run(SECONDS, fps=FPS)
    jumps: list[tuple[float, float]] = []

    def hit(t: float) -> None:
        if abs(t - HIT) < 0.1 * stage.dt:
            jumps.append(switch_over(actor, hang(actor.character)))
            actor.push("rightLowerArm", FORCE, BLOW)
        if abs(t - HIT - LOOSE) < 0.1 * stage.dt:
            jumps.append(switch_over(actor, poise.Kinematic(GESTURE)))

    take = stage.run(SECONDS, fps=FPS, each=hit)
    skeleton = actor.character.skeleton
    arm = part_joints(skeleton, PART)
    others = [i for i in part_joints(skeleton, "upperBody") if i not in arm]
    figures = measure_mix(stage, take, None, quiet.clip(), others)
    records = take.actor(), quiet.actor()
    off = rotation.angle(records[0].rotations[:, arm], records[1].rotations[:, arm]).max(axis=1)
    late = take.times[np.flatnonzero(off > np.deg2rad(1.0))[-1]] - HIT - LOOSE
    angle, speed = np.max(jumps, axis=0)
    figures |= {
        "impulse_ns": float(np.linalg.norm(FORCE) * BLOW),
        "arm_off_degrees": float(np.rad2deg(off.max())),
        "back_s": float(late),
        "angle_jump_rad": float(angle),
        "speed_jump_rad_s": float(speed),
        "sway_rms_mm": measure_sway(records[0]),
        "sway_rms_mm_not_hit": measure_sway(records[1]),
    }
    shots = [Shot(quiet, None, "not hit", CLAY), Shot(take, None, "hit", BLUE)]
    return save_show(folder, "hit-arm", shots, figures, shots[1])


def build() -> tuple[poise.Stage, Actor]:
    """Somebody who conducts with both hands, breathes, and balances."""
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(HEIGHT, MASS, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(BREATH))
    actor.drive("arms", poise.Kinematic(GESTURE))
    return stage, actor


def hang(character: poise.Character) -> poise.Loose:
    """An arm without a will, whose tendons have it hang at the side."""
    return poise.Loose(1.0, damping=0.6, pose=stand_at_ease(character).rotations)


def switch_over(actor: Actor, driver: poise.Loose | poise.Kinematic) -> tuple[float, float]:
    """Give the arm to somebody else, now; the largest jump of a joint's angle (rad) and of its angular velocity."""
    joints = list(range(len(actor.character.skeleton)))
    q, w = look_at(actor, joints)
    actor.drive(PART, driver)
    actor.stage.build()
    q_after, w_after = look_at(actor, joints)
    turned = rotation.angle(q, q_after)
    return float(turned.max()), float(np.linalg.norm(w_after - w, axis=1).max())
