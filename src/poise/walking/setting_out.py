"""Somebody who stands somewhere, about to walk: the feet put down, the way looked for, the first pose found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.dynamics.momentum import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.dynamics.world import compute_world_pose
from poise.errors import InputError
from poise.motion.own.tracks import stand_pose
from poise.walking.feet import WalkingFoot, build_feet
from poise.walking.foot_path import FootStance
from poise.walking.foothold import Refusal, Terrain
from poise.walking.lying import stand_on
from poise.walking.manner import Manner
from poise.walking.poses import WalkPoser
from poise.walking.route import StepLimits, plan_route
from poise.walking.stride import ROOM, check_stride, find_hover
from poise.walking.walker import Hang, Walker
from poise.walking.way import FACINGS, WalkWay
from poise.world.floor import Floor
from poise.world.ground import Ground
from poise.world.load import Load

_MORE, _FARTHER = 5, 0.13  # how often, and by how much (m) farther, a place to end at is looked for
_LONGER = 1.25  # than the usual step: the longest that is taken
_WIDER = (1.3, 1.6, 2.0)  # of the usual width between the feet, tried where the ground has no place
_ALONG = (0.0, -0.05, 0.05, -0.1, 0.1, -0.15, 0.15)  # of the leg, farther on, tried where soles would not lie


def set_out(
    character: Character,
    floor: Floor | Ground | None = None,
    steps: int | None = None,
    path: Iterable[Sequence[float]] | None = None,
    *,
    at: Sequence[float] = (0.0, 0.0),
    heading: float = 0.0,
    facing: str | float = "ahead",
    manner: Manner | None = None,
    loads: Iterable[Load] = (),
    given: Sequence[str] = (),
    wait: float = 0.2,
) -> WalkPoser:
    """A body that stands at x and z (m), facing a heading (rad), and will walk a number of steps or along a path.

    steps   how many, the last of which brings the feet together; None: to the end of the path
    path    (x, z) m, places to walk through; None: straight on
    facing  ahead, back, left or right: how it is turned to the way it goes; or rad
    given   joints whose rotations are told from frame to frame, not sought
    wait    s, that it stands first
    """
    manner, floor = manner or Manner(), floor if isinstance(floor, Floor) else Floor(floor or Ground())
    if steps is None and path is None:
        raise InputError("a walk needs a number of steps, or a path.")
    feet, loads = build_feet(character), tuple(loads)
    turned = read_facing(facing)
    terrain, leg = Terrain(floor), min(foot.leg for foot in feet)
    way = _find_way(floor, steps, path, at, heading, turned, manner, leg)
    stances = find_stances(feet, terrain, at, heading, manner, leg)
    walker = Walker(character, terrain, way, find_hang(character, loads), stances, manner, steps, wait=wait)
    poser = WalkPoser(walker, given, loads)
    poser.begin(0.0)
    return poser


def read_facing(facing: str | float) -> float:
    """rad, how far to the left of the way somebody faces."""
    if isinstance(facing, str):
        if facing not in FACINGS:
            from poise.errors import unknown_name

            raise unknown_name("facing", facing, tuple(FACINGS))
        return FACINGS[facing]
    return float(facing)


def _find_way(
    floor: Floor, steps: int | None, path: Iterable[Sequence[float]] | None, at: Sequence[float], heading: float,
    facing: float, manner: Manner, leg: float,
) -> WalkWay:  # fmt: skip
    limits = StepLimits.of_leg(leg)
    if path is None:
        far = _LONGER * (2 + (steps or 0)) * manner.step * leg
        return _find_straight(floor, far, at, heading - facing, facing, limits)
    return WalkWay(plan_route(floor, at, path, limits).points, facing)


def _find_straight(
    floor: Floor, far: float, at: Sequence[float], along: float, facing: float, limits: StepLimits
) -> WalkWay:
    """Straight on for so many metres or a little more: where one could stand in the end."""
    refused: InputError | None = None
    for k in range(_MORE + 1):
        goal = far + k * _FARTHER
        try:
            route = plan_route(floor, at, [(at[0] + goal * np.sin(along), at[1] + goal * np.cos(along))], limits)
        except InputError as error:
            refused = refused or error
            continue
        return WalkWay(route.points, facing)
    assert refused is not None
    raise refused


def find_stances(
    feet: tuple[WalkingFoot, WalkingFoot], terrain: Terrain, at: Sequence[float], heading: float, manner: Manner,
    leg: float,
) -> tuple[FootStance, FootStance]:  # fmt: skip
    """Both feet side by side at x and z (m), as near as the ground lets them; a little on or back, where they lie there
    and would hover here."""
    refused, best = "", None
    for wider, along in [*((1.0, along) for along in _ALONG), *((wider, 0.0) for wider in _WIDER)]:
        if best is not None and (wider > 1.0 or best[0] < 1e-9):
            break
        place = float(at[0] + along * leg * np.sin(heading)), float(at[1] + along * leg * np.cos(heading))
        spots = _stand(feet, terrain, place, heading, 0.5 * wider * manner.width * leg, manner.toe_out, leg)
        if isinstance(spots, str):
            refused = refused or spots
            continue
        cost = abs(along) + sum(find_hover(spot) for spot in spots)
        if best is None or cost < best[0]:
            best = cost, spots
    if best is not None:
        return best[1]
    raise InputError(f"nobody can stand at x {at[0]:.2f}, z {at[1]:.2f} m: {refused} Begin elsewhere.")


def _stand(
    feet: tuple[WalkingFoot, WalkingFoot], terrain: Terrain, at: tuple[float, float], heading: float, half: float,
    toe_out: float, leg: float,
) -> tuple[FootStance, FootStance] | str:  # fmt: skip
    """Feet half m to the left and to the right of x and z (m), or why they cannot stand there."""
    spots: list[FootStance] = []
    for foot, outward in zip(feet, (1.0, -1.0), strict=True):
        x, z = at[0] + half * outward * np.cos(heading), at[1] - half * outward * np.sin(heading)
        level = float(spots[0].place[1]) if spots else None
        found = terrain.find_foothold(
            float(x), float(z), heading + outward * toe_out + foot.yaw, foot.sole, level=level, up=0.3 * leg,
            down=0.3 * leg, spare=ROOM,
        )  # fmt: skip
        if isinstance(found, Refusal):
            return found.text
        spots.append(stand_on(foot, found, terrain))
    return check_stride(feet, 1, spots[1], spots[0]) or (spots[0], spots[1])


def find_hang(character: Character, loads: Iterable[Load] = ()) -> Hang:
    """Where hips and hip joints are from the centre of mass when it stands, with what it carries."""
    skeleton, pose, tree = character.skeleton, stand_pose(character.skeleton), build_tree(character)
    world = compute_world_pose(tree, pose.root, pose.rotations)
    mass, center = tree.mass, tree.mass * compute_center_of_mass(tree, pose.root, pose.rotations)
    for load in loads:
        i = skeleton.index(load.joint)
        center = center + load.mass * (world.joints[i] + world.turns[i] @ np.asarray(load.offset))
        mass += load.mass
    center = center / mass
    joints = np.stack([world.joints[skeleton.index(f"{side}UpperLeg")] for side in SIDES])
    return Hang(world.joints[skeleton.index("hips")] - center, joints - center, float(mass))
