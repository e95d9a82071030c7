"""Hands that are only animated beat a drum, knock a ball off it, and push back the body that they hang from.

The drum stands a little above where the hands would come down to, so that every beat meets it. Physical legs take what
the beats put on the body. Then another drummer, whose hands are simulated and follow a motion that goes through the
drum: `drumming.py`, drum-tracked.* and drum-height.png.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.shape import Capsule, Sphere
from poise.demos import drumming
from poise.demos.show import BLUE, GREEN, RED, TAKE_FPS, Shot, film_shots, measure_mix, save_motion, save_show
from poise.drivers.balance import Balance
from poise.drivers.kinematic import Kinematic
from poise.engines.hits import find_peak
from poise.files.atomic import write_bytes
from poise.motion.gestures.conducting import conduct
from poise.pictures.mix_plots import plot_comparison
from poise.pictures.picture_items import DrawnProp
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.take import Take
from poise.world.bulk import build_bulk
from poise.world.prop import Prop

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
        DrawnProp([Capsule(corner, corner + [0.0, at[1], 0.0], 0.012) for corner in corners], color=(0.4, 0.4, 0.42)),
        DrawnProp(stage.props["ball"].shapes, take.props["ball"], take.times, color=(0.85, 0.5, 0.25)),
    ]
    shot = Shot(take, None, "animated arms on a drum", BLUE, props)
    figures |= run_tracked(folder)
    return save_show(folder, "drum", [shot], figures, shot, azimuth=0.7)


def run_tracked(folder: Path) -> dict[str, Any]:
    """Write the files of the drummer whose hands follow a motion, and return his figures."""
    character = Character.human(drumming.HEIGHT, drumming.MASS, preset="mix")
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


def play(seconds: float, dt: float = 0.005) -> tuple[Stage, Take, np.ndarray]:
    """The stage, its take, and (N,) N on the drum in every step."""
    place, reach = find_drum(dt)
    stage = Stage(dt=dt)
    stage.add_prop(Prop.box("drum", (0.9, TALL, 0.3), None, place - [0.0, TALL / 2, 0.0]))
    stage.add_prop(Prop.sphere("ball", RADIUS, BALL, (reach[0], place[1] + RADIUS, reach[1])))
    add_drummer(stage)
    force: list[float] = []

    def listen(_t: float) -> None:
        touches = stage.groups[0].simulation.find_contacts(0)
        sizes = np.linalg.norm(touches.forces, axis=1)
        force.append(sum(sizes[[who == "drum" for who in touches.others]], 0.0))

    stage.build()
    take = stage.run(seconds, fps=TAKE_FPS, each=listen)
    return stage, take, np.array(force)


def add_drummer(stage: Stage) -> Actor:
    """Somebody on a stage whose legs balance, and whose arms beat time."""
    actor = stage.add(Character.human(1.75, 75.0, preset="mix"), "drummer")
    actor.drive("legs", Balance(hold=0.0, counter_lean=0.0))  # hips that stay: hands are to meet the drum
    actor.drive("arms", Kinematic(conduct(bpm=BPM, beats=2, hands="both")))
    return actor


def find_drum(dt: float) -> tuple[np.ndarray, np.ndarray]:
    """(3,) m, the middle of the drum's skin; (2,) m, x and z, where the left hand comes by, of one who beats air."""
    stage = Stage(dt=dt)
    actor = add_drummer(stage)
    bulk, skeleton = build_bulk(actor.character), actor.character.skeleton
    lowest, places = np.inf, []
    for _ in range(round(2.0 * 60.0 / BPM / dt)):
        stage.step()
        actor.body.update()
        for name in HANDS:
            i = skeleton.index(name)
            shape = bulk[i]
            assert isinstance(shape, Capsule | Sphere)
            ends = (shape.start, shape.end) if isinstance(shape, Capsule) else (shape.center,)
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


def find_ball_speed(take: Take) -> float:
    """m/s, the ball's fastest, seen from above: falling does not count."""
    speed = np.linalg.norm(np.diff(take.props["ball"][:, [0, 2]], axis=0), axis=1) / np.diff(take.times)
    return float(speed.max())
