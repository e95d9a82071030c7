"""An arm goes from animated to physical and back at ten random moments of a fast motion (W10): nothing jumps.

Forces are over the largest that the same gesture puts on its connector without any switch: at a switch itself there is
no spike; in the 0.4 s after a return the arm hurries back to where the music is, which may take more than conducting.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import gestures, rotation
from poise.demos.shared.show import CLAY, Shot, measure_mix, save_show
from poise.drivers.transition.transition import TAKE_OVER
from poise.motion.parts import part_joints
from poise.stage.actor import Actor

HEIGHT, MASS, SEED, TIMES = 1.78, 75.0, 4, 10
EACH, SHORTEST = 1.0, 0.2  # s: time for a switch there and back, and the least that an arm stays physical
PART, AROUND = "rightArm", 0.03  # s, before and after a switch, in which a spike would be seen
GESTURE = gestures.conduct(bpm=132.0, beats=4, hands="both", size=1.2)


def run(folder: Path, seed: int = SEED) -> dict[str, Any]:
    """Write the switching arm's files; see `show`. seed: of the moments."""
    stage, actor = build()
    moments = choose_moments(seed)
    waiting = list(moments)
    jumps: list[tuple[float, float]] = []

    def switch(t: float) -> None:
        if waiting and t >= waiting[0] - 1e-9:
            waiting.pop(0)
            jumps.append(switch_over(actor, len(jumps) % 2 == 0))

    take = stage.run(EACH * TIMES + 0.5, fps=1.0 / stage.dt, each=switch)
    figures = measure_mix(stage, take)
    angle, speed = np.max(jumps, axis=0)
    usual = np.max(find_force(build()[0].run(5.0, fps=1.0 / stage.dt)))
    force = find_force(take)
    near = np.any(np.abs(take.times[:, None] - moments) < AROUND, axis=1)
    handing = np.any((take.times[:, None] >= moments[1::2]) & (take.times[:, None] < moments[1::2] + TAKE_OVER), axis=1)
    figures |= {
        "switches": len(jumps),
        "angle_jump_rad": float(angle),
        "speed_jump_rad_s": float(speed),
        "force_at_switches": float(np.max(force[near]) / usual),
        "force_in_hand_over": float(np.max(force[handing]) / usual),
    }
    shot = Shot(take, None, "the right arm switches", CLAY)
    return save_show(folder, "switch", [shot], figures, shot)


def build() -> tuple[poise.Stage, Actor]:
    """Somebody who conducts fast."""
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(HEIGHT, MASS, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(GESTURE))
    return stage, actor


def choose_moments(seed: int = SEED) -> np.ndarray:
    """(2 TIMES,) s, to physical and back in turn."""
    rng = np.random.default_rng(seed)
    begin = 0.3 + EACH * (np.arange(TIMES) + rng.uniform(0.0, 0.4, TIMES))
    return np.stack([begin, begin + rng.uniform(SHORTEST, 0.5 * EACH, TIMES)], axis=1).ravel()


def switch_over(actor: Actor, to_physics: bool) -> tuple[float, float]:
    """Change who drives the arm, now; the largest jump of a joint's angle (rad) and of its angular velocity (rad/s)."""
    joints = part_joints(actor.character.skeleton, PART)
    q, w = look_at(actor, joints)
    actor.drive(PART, poise.Loose(0.3, damping=0.7) if to_physics else poise.Kinematic(GESTURE))
    actor.stage.build()
    q_after, w_after = look_at(actor, joints)
    turned = rotation.log(rotation.multiply(rotation.conjugate(q), q_after))
    return float(np.linalg.norm(turned, axis=1).max()), float(np.linalg.norm(w_after - w, axis=1).max())


def look_at(actor: Actor, joints: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (K, 4) and angular velocities (K, 3) of some joints as they are now."""
    actor.show(actor.stage.time)
    return actor.body.state.q[joints].copy(), actor.body.state.w[joints].copy()


def find_force(take: poise.Take) -> np.ndarray:
    """(F,) N, the largest force of the coupling on any connector."""
    return np.asarray(np.nanmax(np.linalg.norm(take.actor().wrench[..., 3:], axis=-1), axis=1))
