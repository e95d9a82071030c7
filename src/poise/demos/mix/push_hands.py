"""Two who stand face to face, hand against hand: one pushes, the other's arms stay as they are, and both sway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise import rotation
from poise.body.roles import SIDES
from poise.demos.shared.show import BLUE, RED, TAKE_FPS, Shot, measure_mix, measure_sway, save_show
from poise.motion.samples.tracks import stand_pose
from poise.world.overlap import find_lines

HEIGHT, MASS, SECONDS = 1.75, 72.0, 8.0
STIFFNESS = 0.5  # of both balances: softer than usual, so that one sees it
REST, STROKE = 0.42, 0.06  # m: how far the hands are before the shoulders, and how far they push to and fro
PALMS = 1.3  # rad: how far the hands are bent up
PERIOD, START = 1.6, 1.0  # s: of a push, and when the first begins
_X, _UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
AROUND = rotation.from_axis_angle(_UP, np.pi)


def run(folder: Path) -> dict[str, Any]:
    """Write the files of the two; see `show`."""
    stage = build()
    take = stage.run(SECONDS, fps=TAKE_FPS)
    figures = measure_mix(stage, take, "held")
    before, during = slice(0, round(START * TAKE_FPS)), slice(round((START + PERIOD) * TAKE_FPS), None)
    figures |= {
        "distance_m": find_distance(),
        "still_sway_mm": {name: measure_sway(take.actor(name), before) for name in take.actors},
        "pushed_sway_mm": {name: measure_sway(take.actor(name), during) for name in take.actors},
        "hits": sum(event.kind == "hit" for event in take.events),
        "fell_of_all": [name for name in take.actors if take.fell_at(name) is not None],
    }
    shots = [Shot(take, "pusher", "pushes", RED), Shot(take, "held", "holds", BLUE)]
    return save_show(folder, "push-hands", shots, figures, shots[1], azimuth=1.2, together=True)


def build(
    character: poise.Character | None = None, stage: poise.Stage | None = None, stiffness: float = STIFFNESS
) -> poise.Stage:
    """Both, hand against hand, alike; what is in metres goes by their stature."""
    character, stage = character or poise.Character.human(HEIGHT, MASS, preset="mix"), stage or poise.Stage()
    pose = stand_pose(character.skeleton)
    turned = pose.rotations.copy()
    turned[0] = rotation.multiply(AROUND, turned[0])
    there = pose.root * [-1.0, 1.0, -1.0] + [0.0, 0.0, find_distance(character)]
    pusher = stage.add(character, "pusher", pose)
    held = stage.add(character, "held", poise.Pose(there, turned))
    for actor in (pusher, held):
        # hips that stay: bodies that lean back from their own arms would not meet
        actor.drive("legs", poise.Balance(stiffness=stiffness, hold=0.0, counter_lean=0.0))
    pusher.drive("arms", poise.Kinematic(build_push(character, STROKE)))
    held.drive("arms", poise.Kinematic(build_push(character, 0.0)))
    return stage


def find_distance(character: poise.Character | None = None) -> float:
    """m between the two, for hands that just touch where they rest: each has his palms in the middle."""
    character = character or poise.Character.human(HEIGHT, MASS, preset="mix")
    positions, turns = build_push(character, 0.0).world
    lines = find_lines(character).placed(rotation.to_matrix(turns[0]), positions[0])
    mine = lines.joint == character.skeleton.index("leftHand")
    ahead = np.maximum(lines.start[mine, 2], lines.end[mine, 2]) + lines.radius[mine]
    return 2.0 * float(ahead.max()) - 0.005 * character.height / HEIGHT


def build_push(character: poise.Character, stroke: float) -> poise.Clip:
    """Both hands before the shoulders, palms ahead, pushing by so many metres of an adult's to and fro."""
    skeleton, scale = character.skeleton, character.height / HEIGHT
    times = np.arange(0.0, SECONDS + 1.0, 0.02)
    phase = np.clip(times - START, 0.0, None) / PERIOD
    reach = scale * (REST + stroke * np.sin(2.0 * np.pi * phase) * np.clip(phase, 0.0, 1.0))
    pose = stand_pose(skeleton)
    turns = np.tile(pose.rotations, (len(times), 1, 1))
    for side in SIDES:
        upper, lower, hand = (skeleton.index(f"{side}{name}") for name in ("UpperArm", "LowerArm", "Hand"))
        along = _X if side == "left" else -_X
        first, second = (float(np.linalg.norm(skeleton.offsets[k])) for k in (lower, hand))
        # elbows hang: the upper arm as far below the shoulder as the forearm rises to it
        down = np.arccos(np.clip((reach**2 + first**2 - second**2) / (2.0 * first * reach), -1.0, 1.0))
        rise = np.arcsin(np.clip(first * np.sin(down) / second, -1.0, 1.0))
        arm = _point(along, -down)
        forearm = _point(along, rise)
        turns[:, upper] = arm
        turns[:, lower] = rotation.multiply(rotation.conjugate(arm), forearm)
        turns[:, hand] = rotation.multiply(rotation.conjugate(forearm), _point(along, np.full(len(times), PALMS)))
    return poise.Clip(skeleton, times, np.tile(pose.root, (len(times), 1)), turns, "push")


def _point(along: np.ndarray, rise: np.ndarray) -> np.ndarray:
    """(F, 4) the turn that brings a limb from its rest to straight ahead, raised by so much (F,) rad."""
    ahead = rotation.from_axis_angle(_UP, -0.5 * np.pi * float(along[0]))
    raised = [rotation.multiply(rotation.from_axis_angle(_X, -float(angle)), ahead) for angle in rise]
    return np.array(raised)
