"""The start of a walk: from standing, with the feet put down, or from a body that moves already.

From standing: the path is looked for, and the first pose found.

From moving: feet that stand stay where they are, one in the air is put down first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.dynamics.kinematics import compute_center_of_mass, compute_world_pose
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.motion.samples.tracks import stand_pose
from poise.spatial import rotation
from poise.walking.feet.foot import WalkingFoot, build_feet
from poise.walking.feet.stance import FootStance, FootSwing
from poise.walking.footholds.sole_contact import stand_on
from poise.walking.footholds.stride import ROOM, check_stride, find_hover
from poise.walking.footholds.terrain import NoFoothold, Terrain
from poise.walking.gait import Gait
from poise.walking.path.planner import FACINGS, StepLimits, WalkPath, plan_route
from poise.walking.poses import WalkPoser
from poise.walking.steps import Step, StepPlan, Timing
from poise.walking.walker import HipOffsets, Walker
from poise.world.forces import Load
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground

_MORE, _FARTHER = 5, 0.13  # how often, and by how much (m) farther, a place to end at is looked for
_LONGER = 1.25  # than the usual step: the longest that is taken
_WIDER = (1.3, 1.6, 2.0)  # of the usual width between the feet, tried where the ground has no place
_ALONG = (0.0, -0.05, 0.05, -0.1, 0.1, -0.15, 0.15)  # of the leg, farther on, tried where soles would not lie


def start_walk(
    character: Character,
    floor: Floor | Ground | None = None,
    steps: int | None = None,
    path: Iterable[Sequence[float]] | None = None,
    *,
    at: Sequence[float] = (0.0, 0.0),
    heading: float = 0.0,
    facing: str | float = "ahead",
    manner: Gait | None = None,
    loads: Iterable[Load] = (),
    given: Sequence[str] = (),
    wait: float = 0.2,
) -> WalkPoser:
    """Return a body that stands at x and z (m), faces a heading (rad), and will walk some steps or along a path.

    steps   how many, the last of which brings the feet together; None: to the end of the path
    path    (x, z) m, places to walk through; None: straight on
    facing  ahead, back, left or right: the body's heading compared with the path's; or rad
    given   joints whose rotations are prescribed from frame to frame
    wait    s, that it stands first
    """
    manner, floor = manner or Gait(), floor if isinstance(floor, Floor) else Floor(floor or Ground())
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
    """Return the heading of the body to the left of the path's, rad."""
    if isinstance(facing, str):
        if facing not in FACINGS:
            from poise.errors import unknown_name

            raise unknown_name("facing", facing, tuple(FACINGS))
        return FACINGS[facing]
    return float(facing)


def _find_way(
    floor: Floor, steps: int | None, path: Iterable[Sequence[float]] | None, at: Sequence[float], heading: float,
    facing: float, manner: Gait, leg: float,
) -> WalkPath:  # fmt: skip
    limits = StepLimits.of_leg(leg)
    if path is None:
        far = _LONGER * (2 + (steps or 0)) * manner.step * leg
        return _find_straight(floor, far, at, heading - facing, facing, limits)
    return WalkPath(plan_route(floor, at, path, limits).points, facing)


def _find_straight(
    floor: Floor, far: float, at: Sequence[float], along: float, facing: float, limits: StepLimits
) -> WalkPath:
    """Straight on for so many metres or a little more: where one could stand in the end."""
    refused: InputError | None = None
    for k in range(_MORE + 1):
        goal = far + k * _FARTHER
        try:
            route = plan_route(floor, at, [(at[0] + goal * np.sin(along), at[1] + goal * np.cos(along))], limits)
        except InputError as error:
            refused = refused or error
            continue
        return WalkPath(route.points, facing)
    assert refused is not None
    raise refused


def find_stances(
    feet: tuple[WalkingFoot, WalkingFoot], terrain: Terrain, at: Sequence[float], heading: float, manner: Gait,
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
        if isinstance(found, NoFoothold):
            return found.text
        spots.append(stand_on(foot, found, terrain))
    return check_stride(feet, 1, spots[1], spots[0]) or (spots[0], spots[1])


def find_hang(character: Character, loads: Iterable[Load] = ()) -> HipOffsets:
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
    return HipOffsets(world.joints[skeleton.index("hips")] - center, joints - center, float(mass))


KNOT = 0.05  # s, of the walker's plans
_AIR = 0.012  # m over the ground that a sole is in the air
_DOWN = 0.45  # s that a foot in the air takes to the ground
_LEAN = 0.35  # rad that a foot stands tilted at most
_UP = np.array([0.0, 1.0, 0.0])


def take_stances(
    character: Character, terrain: Terrain, R: np.ndarray, p: np.ndarray, v: np.ndarray, manner: Gait
) -> tuple[StepPlan, int | None]:
    """The course of a body in motion from time 0 on, and which foot (0 left, 1 right) is in the air; None: neither.

    R, p, v  (J, 3, 3), (J, 3) m and (J, 3) m/s, of all bodies
    """
    feet = build_feet(character)
    gaps = [_find_gap(foot, terrain, R[foot.joint], p[foot.joint]) for foot in feet]
    lifted = int(np.argmax(gaps)) if max(gaps) > _AIR else None
    stances: list[FootStance] = [_stand_on(foot, terrain, R[foot.joint], p[foot.joint]) for foot in feet]
    if lifted is None:
        return StepPlan(feet, ([stances[0]], [stances[1]])), None
    return _put_down(feet, lifted, stances, terrain, R, p, v, manner), lifted


def _find_gap(foot: WalkingFoot, terrain: Terrain, R: np.ndarray, p: np.ndarray) -> float:
    """m, between the ground and what of a sole is nearest to it."""
    corners = p + np.concatenate([foot.corners, foot.front]) @ R.T
    return float(np.min(corners[:, 1] - _find_heights(terrain, corners, float(p[1]) + 0.1)))


def _find_heights(terrain: Terrain, points: np.ndarray, below: float) -> np.ndarray:
    """(N,) m, of the floor under points (N, 3) that is not higher than `below`."""
    return np.array([terrain.height(float(x), float(z), below=below) for x, _, z in points])


def _stand_on(foot: WalkingFoot, terrain: Terrain, R: np.ndarray, p: np.ndarray) -> FootStance:
    """A sole that lies flat where the lowest of it is now."""
    turn, corners = rotation.from_matrix(R), p + foot.corners @ R.T
    normal = terrain.floor.find(float(p[0]), float(p[2]), float(p[1]) + 0.1)[1]
    own_up = rotation.rotate(turn, _UP)
    if np.arccos(np.clip(float(own_up @ normal), -1.0, 1.0)) < _LEAN:
        turn = rotation.multiply(rotation.between(own_up, normal), turn)
    else:
        ahead = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
        level = rotation.exp(np.array([0.0, float(np.arctan2(ahead[0], ahead[2])), 0.0]))
        turn = rotation.multiply(rotation.between(_UP, normal), level)
    over = corners[:, 1] - _find_heights(terrain, corners, float(p[1]) + 0.1)
    share = np.exp(-(over - over.min()) / 0.004)  # who is nearest to the ground stays
    share /= share.sum()
    place = share @ corners - rotation.rotate(turn, share @ (foot.corners + foot.down * _UP))
    # The sole's plane passes where the ground is under the middle of the sole.
    middle = place + rotation.rotate(turn, foot.corners.mean(axis=0) * [1.0, 0.0, 1.0])
    place[1] += terrain.height(float(middle[0]), float(middle[2]), below=float(p[1]) + 0.1) - middle[1]
    return FootStance(place, turn)


def _put_down(
    feet: tuple[WalkingFoot, WalkingFoot], side: int, stances: list[FootStance], terrain: Terrain, R: np.ndarray,
    p: np.ndarray, v: np.ndarray, manner: Gait,
) -> StepPlan:  # fmt: skip
    """A course on which one foot comes down from where it is."""
    foot, other = feet[side], stances[1 - side]
    leg = min(each.leg for each in feet)
    spot = _find_spot(feet, side, stances[side], other, terrain, p[foot.joint] + 0.2 * v[foot.joint], manner, leg)
    land = KNOT * round(_DOWN * manner.scale(leg) / KNOT)
    turn = rotation.from_matrix(R[foot.joint])
    place = p[foot.joint] - rotation.rotate(turn, foot.down * _UP)
    begin = FootStance(place, turn, rise=-2.0 * KNOT, off=-KNOT)
    timing = Timing(KNOT, land, KNOT * round(0.2 * manner.scale(leg) / KNOT), 0.0)
    course = StepPlan(feet, ([begin], [other]) if side == 0 else ([other], [begin]))
    course.add(side, spot, FootSwing(top=0.0, up=0.01, down=0.02), -KNOT, timing)
    # It has been in the air for a while: nothing of it carries.
    course.stances[side][0] = begin
    course.steps[0] = Step(side, -2.0 * KNOT, -KNOT, course.steps[0].land)
    return course


def _find_spot(
    feet: tuple[WalkingFoot, WalkingFoot], side: int, under: FootStance, other: FootStance, terrain: Terrain,
    near: np.ndarray, manner: Gait, leg: float,
) -> FootStance:  # fmt: skip
    """Where a foot in the air comes down: under where it goes, or beside the other."""
    foot, outward = feet[side], 1.0 if side == 0 else -1.0
    ahead = rotation.rotate(other.turn, np.array([0.0, 0.0, 1.0]))
    heading = float(np.arctan2(ahead[0], ahead[2]))
    aside = np.array([np.cos(heading), -np.sin(heading)]) * outward
    along = np.array([np.sin(heading), np.cos(heading)])
    forward = float((near[[0, 2]] - other.place[[0, 2]]) @ along)
    tries = [near[[0, 2]]]
    for wider in (1.0, 1.3, 1.6, 2.0):
        for share in (1.0, 0.5, 0.0):
            far = float(np.clip(forward, -0.4 * leg, 0.5 * leg)) * share
            tries.append(other.place[[0, 2]] + wider * manner.width * leg * aside + far * along)
    for x, z in tries:
        found = terrain.find_foothold(
            float(x), float(z), heading + outward * manner.toe_out + foot.yaw, foot.sole, level=float(other.place[1]),
            up=0.3 * leg, down=0.3 * leg,
        )  # fmt: skip
        if isinstance(found, NoFoothold):
            continue
        spot = stand_on(foot, found, terrain)
        if not check_stride(feet, side, spot, other):
            return spot
    return under
