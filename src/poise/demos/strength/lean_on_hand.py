"""A shove that nobody can stand: alone he falls, before a wall his hands reach out, hold him and push him back (O9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.demos.shared.show import BLUE, RED, Shot, film_shots, save_figures, save_motion, stand_still
from poise.drivers.strength.player import StrengthPlayer
from poise.pictures.items import DrawnProp

HEIGHT, MASS, SECONDS, FPS = 1.75, 75.0, 3.0, 30.0
SHOVE = poise.Push("chest", (0.0, 0.0, 225.0), 0.2, 0.2)  # 0.6 m/s of the whole body
WALL, SIZE = 0.9, (0.9, 2.0, 0.1)  # m, its face ahead of him, and its edges
HANDS = ("leftHand", "rightHand")


def run(folder: Path) -> dict[str, Any]:
    """Write the files of both."""
    alone, before = (shove(wall) for wall in (False, True))
    figures = {**measure(before), "alone": measure(alone)}
    wall = DrawnProp(poise.Box(middle(), 0.5 * np.array(SIZE)), color=(0.62, 0.64, 0.68))
    shots = [Shot(alone[1], None, "alone", RED), Shot(before[1], None, "before a wall", BLUE, (wall,))]
    save_motion(folder, "lean-on-hand", shots[1])
    film_shots(folder / "lean-on-hand", shots, azimuth=1.57)
    return save_figures(folder, "lean-on-hand", figures)


def middle() -> np.ndarray:
    """(3,) m, of the wall."""
    return np.array([0.0, 0.5 * SIZE[1], WALL + 0.5 * SIZE[2]])


def shove(wall: bool, engine: str = "inverse", dt: float = 1.0 / FPS) -> tuple[dict[str, Any], poise.Take]:
    """Shove him, with or without a wall ahead: what his hands and the wall did, and the take."""
    stage = poise.Stage(engine, dt, touch=poise.ContactSettings(itself=False))
    if wall:
        stage.add_prop(poise.Prop.box("wall", SIZE, position=middle()))
    body = poise.Character.human(HEIGHT, MASS, sex="male", age=25, preset="strength")
    actor = stage.add(body, "shoved")
    actor.drive("body", poise.Strength(stand_still(body)))
    actor.push(SHOVE.joint, SHOVE.force, SHOVE.seconds, SHOVE.start)
    most, touched, over = 0.0, None, 0.0

    def watch(t: float) -> None:
        nonlocal most, touched, over
        player, touches = actor.player("body"), actor.body.touches
        assert isinstance(player, StrengthPlayer)
        over = max(over, float(np.max(player.torque - player.high)), float(np.max(player.low - player.torque)))
        own = [k for k, joint in enumerate(touches.joints) if body.skeleton.names[joint] in HANDS]
        force = float(np.linalg.norm(touches.forces[own].sum(axis=0))) if t > 0.0 and own else 0.0
        most = max(most, force)
        touched = t if touched is None and force > 0.0 else touched

    take = stage.run(SECONDS, fps=FPS, each=watch)
    return {"hands_touch_at_s": touched, "hands_push_n": most, "torque_out_of_range_nm": over}, take


def measure(done: tuple[dict[str, Any], poise.Take]) -> dict[str, Any]:
    """Whether and when he fell, how far his centre of mass went, and where it is at the end."""
    found, take = done
    center, fell = take.actor().center, take.fell_at()
    return {
        "fell": fell is not None, "fell_at_s": fell, "center_farthest_m": float(center[:, 2].max()),
        "center_at_end_m": float(center[-1, 2]), **found,
    }  # fmt: skip
