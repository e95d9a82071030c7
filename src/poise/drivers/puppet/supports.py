"""Supports of a puppet's feet on the ground as it is: the choice of the one that it hangs from, edges and slopes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.puppet.settings import DEEP, EDGE, LARGEST_NUDGE, SLOW
from poise.drivers.root.supports import LOOK_AHEAD, SupportGround, choose_least, find_supports, weigh_ahead
from poise.drivers.stateful import Stateful
from poise.spatial import rotation
from poise.spatial.rotation import length, lengths

# Another support is anchored only if it is lower than the present one by a cost: for a support of a foot that stands,
# _STANDING m and _STANDING_SLIDE m per m/s along the ground; for one in the air, _IN_AIR and _IN_AIR_SLIDE.
_STANDING, _STANDING_SLIDE, _IN_AIR, _IN_AIR_SLIDE = 0.006, 0.05, 0.02, 0.12
_STRAIN_COST = 0.6  # m of height per m by which a standing foot is led away from its strings
_HIP_COST = 0.4  # m of height per m by which a standing foot is farther from under the hips than the other one
NEVER = 10.0  # m of height: more than any difference, so that a support is not chosen
_LINE = 4  # points of a sole from one support to the next
_LARGEST_END = 0.25  # of the length of a foot, that is left out at its ends across an edge
_UP = np.array([0.0, 1.0, 0.0])


class PuppetSupports(Stateful):
    """Heels, balls and tips of a puppet's soles; it changes feet when the other foot is clearly down.

    of_foot    (2, P) which supports belong to each foot
    line, line_of_foot  (S, P) weights of the supports in points along the soles, and (2, S) whose foot they are of
    motion     (2, P, 3) positions and velocities, as strings have the supports
    led        (2, 3) m, along the ground, by which each foot is led away from its strings
    slope      (2, 4) orientation of the ground under each foot
    planted    (2,) whether each foot stands, and `real` (P, 3) m, the positions of its supports then
    holds      (2, 2) m, x and z of the point of the ground that holds each foot up
    strain     (2,) m, by which each foot is led while both stand
    held_back  (2,) feet in the air that are kept away from their strings: those do not land there
    change_cost  m, by which the other foot must be lower, in addition
    """

    STATE = ("real", "planted", "holds")

    def __init__(self, character: Character, ground: SupportGround, slope: np.ndarray):
        self.supports, self.ground, self.slope = find_supports(character.skeleton, None, False), ground, slope
        names = self.supports.names
        self.of_foot = np.array([[name.startswith(side) for name in names] for side in SIDES])
        self.line, self.line_of_foot = _find_line(self.of_foot)
        self.motion = np.zeros((2, len(names), 3))
        self.led, self.change_cost, self.held_back = np.zeros((2, 3)), 0.0, np.zeros(2, np.bool_)
        self.strain, self.planted = np.zeros(2), np.zeros(2, np.bool_)
        self.real, self.holds = np.zeros((len(names), 3)), np.zeros((2, 2))

    @property
    def positions(self) -> np.ndarray:
        """Positions (P, 3) m of the supports, as strings have them."""
        return np.asarray(self.motion[0])

    def find_motion(self, body: Body) -> None:
        """Find positions and velocities of the supports of a body."""
        self.motion = self.supports.find_motion(body, body.state.root, body.state.v)

    def remember(self, body: Body, stands: np.ndarray) -> None:
        """Store where the supports of a finished frame are, and which feet (2,) stand in it."""
        self.find_motion(body)
        self.real[:], self.planted[:] = self.motion[0], stands

    # Which support is anchored.

    def choose(self, body: Body, t: float, current: int) -> int:
        """See `SupportSelector.choose`."""
        self.find_motion(body)
        place, speed = self.motion
        led = self.lead(place)
        height = place[:, 1] - self.find_ground(led, current < 0)
        if current < 0:
            return choose_least(height, current)
        # The look-ahead of [anchored, 8] over the ground as it is: what is ahead of a foot is no support.
        scores = weigh_ahead(height, height + LOOK_AHEAD * speed[:, 1])
        other = self.of_foot[1 if self.of_foot[0, current] else 0]
        slides = lengths(speed[:, [0, 2]])
        stands = self.planted @ self.of_foot > 0.0
        costs = np.where(stands, _STANDING + _STANDING_SLIDE * slides, _IN_AIR + _IN_AIR_SLIDE * slides)
        scores = scores + other * (self.change_cost + costs)
        scores = scores + _STRAIN_COST * self.strain @ self.of_foot
        if self.planted.all():  # the foot under the hips is anchored, even if strings have the other one lower
            scores = scores - self.find_hip_bonus(body.state.root) @ self.of_foot
        # A foot that swings through a riser is deep in the ground, and does not stand there.
        held = self.held_back @ self.of_foot > 0.0
        passes = ~stands & (height < -DEEP) & ((slides > SLOW) | self.has_edge(led))
        return choose_least(np.asarray(scores + other * (passes | held) * NEVER), current)

    def find_height(self, support: int, x: float, z: float) -> float:
        """See `SupportSelector.find_height`: of the ground under the whole foot, with that support at x and z."""
        places = self.positions
        moved = places + (np.array([x, 0.0, z]) - places[support])
        return float(self.find_ground(moved, not self.planted.any())[support])

    def find_hip_bonus(self, root: np.ndarray) -> np.ndarray:
        """Return by how much lower (2,) m each foot counts, since the hips are over it rather than over the other."""
        far = np.zeros(2)
        for side, mine in enumerate(self.of_foot):
            points = self.positions[mine][:, [0, 2]]
            start, way = points[0], points[-1] - points[0]
            along = np.clip((root[[0, 2]] - start) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
            far[side] = length(root[[0, 2]] - start - along * way)
        return np.asarray(_HIP_COST * np.maximum(far[::-1] - far, 0.0))

    # The ground.

    def lead(self, places: np.ndarray) -> np.ndarray:
        """Return positions (P, 3) m where feet are led to; those of planted feet stay."""
        stand = (self.planted @ self.of_foot > 0.0)[:, None]
        return np.where(stand, self.real, places + self.of_foot.T @ self.led)

    def find_ground(self, places: np.ndarray, whole: bool = False) -> np.ndarray:
        """Return the height (P,) m of the ground for supports at some positions.

        A foot across an edge lies on its higher side. With n the normal of the ground under the foot, the ground under
        point i holds point k up as a plane does, at  y_ik = g_i - n_xz (p_k - p_i) / n_y.

        whole  whether the ends of a foot count, too, though it will be moved off an edge that only they are over
        """
        ground = self.ground.heights(places[:, 0], places[:, 2])
        for side, mine in enumerate(self.of_foot):
            flat, g = places[mine][:, [0, 2]], ground[mine]
            if self.planted[side]:  # the point that came to hold it up still does
                at, normal = self.holds[side], rotation.rotate(self.slope[side], _UP)
                g = float(self.ground.heights(at[:1], at[1:])[0])
                ground[mine] = g - (flat - at) @ normal[[0, 2]] / normal[1]
            elif g.max() - g.min() > EDGE:
                normal = self.find_normal(places[mine])
                ends = flat.copy()
                way = ends[-1] - ends[0]
                way *= 0.0 if whole else min(LARGEST_NUDGE / max(length(way), 1e-9), _LARGEST_END)
                ends[0], ends[-1] = ends[0] + way, ends[-1] - way
                inner = self.ground.heights(ends[:, 0], ends[:, 1])
                y = (inner - (flat[:, None] - ends) @ normal[[0, 2]] / normal[1]).max(axis=1)
                ground[mine] = np.where(np.abs(y - g) > EDGE, y, g)
        return ground

    def has_edge(self, places: np.ndarray) -> np.ndarray:
        """Return whether there is an edge under the foot of each support (P,) at some positions."""
        raw = self.ground.heights(places[:, 0], places[:, 2])
        return np.asarray(self.of_foot.T @ (self.of_foot @ (np.abs(self.find_ground(places) - raw) > 0.5 * EDGE)) > 0)

    def find_normal(self, places: np.ndarray) -> np.ndarray:
        """Return the normal (3,) of the ground under a foot: the least steep one, since an edge is not a slope."""
        return max((self.ground.normal(place) for place in places), key=lambda normal: float(normal[1]))


def _find_line(of_foot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `PuppetSupports.line` and `line_of_foot`."""
    rows: list[np.ndarray] = []
    sides: list[int] = []
    for side, each in enumerate(of_foot):
        points = np.eye(len(each))[each]
        for start, end in pairwise(points):
            rows += [start + u * (end - start) for u in np.arange(_LINE) / _LINE]
        rows.append(points[-1])
        sides += [side] * (len(rows) - len(sides))
    return np.array(rows), np.arange(2)[:, None] == np.array(sides)
