"""Contact of a puppet's feet with the ground: which feet are down, edges that they come to, and footholds off edges."""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.drivers.puppet.feet import GroundAhead, PlantedFeet
from poise.drivers.puppet.flight import PuppetFlight
from poise.drivers.puppet.settings import CONTACT, DEEP, EDGE, LIFT, LOOKS, NUDGES, RELEASE, SLOW
from poise.drivers.puppet.supports import PuppetSupports
from poise.puppetry.marionette import Marionette
from poise.spatial import rotation
from poise.spatial.rotation import length

_OUT_OF_REACH = 0.15  # of a leg's length, by which a standing foot that is not anchored may be beyond its reach
_MOST_LED, _LED_AT_CONTACT = 0.1, 0.03  # m, by which such a foot is led at most, and by which when it comes down
_STOPS = 0.12  # s, in which a foot that looks ahead expects to slow down
_SETBACKS = np.concatenate([[0.0], np.arange(1, 16) * 0.02])  # m, that a foot may be held back by before an edge
_APART = 0.015  # m, that it stays before the edge
_BESIDE = 0.008  # m, that a foothold is beside an edge
_LANDING, _LANDING_AFTER = 0.08, 0.15  # m over the ground, below which a foot comes down, s after it went up
_PARTS = np.linspace(0.0, 1.0, 33)  # points of a foot from heel to ball
_RESTS = 0.05  # m/s, below which a foot goes in no direction
_FOOT = 0.05  # m: supports that are nearer to each other along the ground have no direction
_LEVEL = np.array([1.0, 0.0, 1.0])
_UP = np.array([0.0, 1.0, 0.0])
_WAY = _STOPS * (1.0 - np.exp(-LOOKS / _STOPS))  # s: distance in LOOKS at a speed of 1 that slows down


class GroundContact:
    """Decides which feet are down, and finds the ground that they come to.

    over   (2,) m, height of the lowest point of each foot over the ground, as strings have it
    ahead  (2, T) m, the same over the ground that it comes to in LOOKS
    """

    def __init__(self, supports: PuppetSupports, marionette: Marionette, feet: PlantedFeet, flight: PuppetFlight):
        self.supports, self.marionette, self.feet, self.flight = supports, marionette, feet, flight
        self.over, self.ahead = np.zeros(2), np.zeros((2, len(LOOKS)))

    def look_ahead(self, body: Body, finds_footholds: bool = True) -> GroundAhead:
        """Return the ground that feet meet; feet in flight meet none."""
        nothing = np.inf if self.flight.is_up else 0.0
        setback, along = self._find_edges()
        aside = self._find_footholds() if finds_footholds else np.zeros((2, 3))
        return GroundAhead(self._find_heights(body), self.over + nothing, self.ahead + nothing, setback, along, aside)

    def update(self, body: Body, current: int) -> None:
        """Decide which feet of a body that is as its strings have it are down.

        current  the anchored support
        """
        supports = self.supports
        supports.find_motion(body)
        supports.led[:] = self.feet.offset * _LEVEL
        places, speeds = supports.motion
        led = supports.lead(places)
        under, below = supports.find_ground(led), supports.ground.heights(places[:, 0], places[:, 2])
        over = places[:, 1] - under
        is_inside = (below - under > EDGE) & (places[:, 1] < below - DEEP)  # a riser that it stands before
        clear = self._measure(led)
        bonus, has_edge = supports.find_hip_bonus(body.state.root), supports.has_edge(led)
        for side, mine in enumerate(supports.of_foot):
            was = bool(self.marionette.in_contact[side])
            lowest = np.flatnonzero(mine)[int(np.argmin(over[mine]))]
            self.over[side] = over[lowest] if was else clear[supports.line_of_foot[side]].min()
            away = length(supports.led[side])
            if self.flight.is_up:
                is_down = False
            elif 0 <= current < len(mine) and mine[current]:
                is_down = True
            elif was:
                # One that is led too far away makes a step, unless its strings are in a riser.
                is_down = over[lowest] < RELEASE + bonus[side] and (away < _MOST_LED or is_inside[mine].any())
                is_down = is_down and self.feet.lacks[side] < _OUT_OF_REACH
            else:
                is_slow = float(np.hypot(*speeds[lowest, [0, 2]])) < SLOW
                # Beside an edge, a foot must be lower than the edge as it is led, too.
                is_there = over[lowest] + self.feet.offset[side, 1] < EDGE or not has_edge[lowest]
                is_down = over[lowest] < CONTACT and is_there and is_slow and away < _LED_AT_CONTACT
            self.marionette.in_contact[side] = is_down
            if is_down and not was:
                self.lay_ground(side)

    def _measure(self, led: np.ndarray) -> np.ndarray:
        """Find `ahead`; return the height (S,) m of points along the soles over the ground, as they are and as led.

        A foot in the air is lifted over the ground below its strings, too: it returns to them.
        """
        supports = self.supports
        line, speeds = supports.line @ supports.motion
        grounds = [supports.ground.heights(at[:, 0], at[:, 2]) for at in (line, supports.line @ led)]
        ahead = line + _WAY[:, None, None] * speeds
        far = line[:, 1] - supports.ground.heights(ahead[..., 0], ahead[..., 2])
        for side, mine in enumerate(supports.line_of_foot):
            self.ahead[side] = far[:, mine].min(axis=1)
        return np.asarray(line[:, 1] - np.maximum(*grounds))

    def lay_ground(self, side: int) -> None:
        """Find the slope of the ground under a foot that comes down, and which part of the foot it holds up."""
        supports = self.supports
        places = supports.lead(supports.positions)[supports.of_foot[side]]
        normal = supports.find_normal(places)
        self.marionette.lay_ground(side, rotation.between(_UP, normal))

        def find_levels(at: np.ndarray, origin: np.ndarray | float) -> np.ndarray:
            heights = supports.ground.heights(at[:, 0], at[:, 2])
            return np.asarray(heights + (at - origin)[:, [0, 2]] @ normal[[0, 2]] / normal[1])

        supports.holds[side] = places[int(np.argmax(find_levels(places, 0.0))), [0, 2]]
        # The part of it, from heel to ball, that has ground under it: the rest juts out over an edge.
        heel, ball = places[:2]
        levels = find_levels(heel + _PARTS[:, None] * (ball - heel), heel)
        on = _PARTS[levels > levels.max() - EDGE]
        self.feet.bearing[side] = on[0], on[-1]

    def _find_heights(self, body: Body) -> np.ndarray:
        """Return the height (2,) m of the ground at the balls of both feet: where they stand, or will."""
        spots, supports = self.feet.spot.copy(), self.supports
        for side, (_, _, foot) in enumerate(self.feet.legs):
            if not self.feet.stands[side]:
                spots[side] = body.p[foot]
        found = supports.ground.heights(spots[:, 0], spots[:, 2])
        for side in map(int, np.flatnonzero(self.feet.stands)):
            mine, names = np.flatnonzero(supports.of_foot[side]), supports.supports.names
            ball = next(k for k in mine if names[k].endswith("ball"))
            places = supports.lead(supports.positions)
            found[side] = supports.find_ground(places + (spots[side] - places[ball]))[ball]
        return found

    def _find_edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much feet in the air have to be held back in LOOKS, (2, T) m, and their directions (2, 3).

        A foot that comes to an edge that it cannot be lifted over in time stays before it until it can.
        """
        back, along = np.zeros((2, len(LOOKS))), np.zeros((2, 3))
        if self.flight.is_up or self.ahead.min() > -EDGE:
            return back, along
        supports, way = self.supports, _WAY[:, None]
        for side in np.flatnonzero(~self.marionette.in_contact):
            offset, offset_speed = self.feet.offset[side], self.feet.offset_speed[side]
            places, speeds = (supports.line @ supports.motion)[:, supports.line_of_foot[side]]
            flat = speeds.mean(axis=0) * _LEVEL
            if not np.hypot(flat[0], flat[2]) > _RESTS:
                continue
            along[side] = flat / np.hypot(flat[0], flat[2])
            # The height that it can have by then: y + y' t + a t^2 / 2
            rise = (offset_speed[1] * LOOKS + 0.5 * LIFT * LOOKS**2)[:, None]
            high = places[:, 1] + offset[1] + way * speeds[:, 1] + rise
            x, z = (
                places[:, a] + way * speeds[:, a] + (_APART - _SETBACKS[:, None, None]) * along[side, a]
                for a in (0, 2)
            )  # fmt: skip
            ground, here = supports.ground.heights(x, z), places + offset
            lowest = supports.ground.heights(here[:, 0], here[:, 2]).min()
            is_edge = ground[0] - lowest > 3.0 * EDGE
            is_free = ((ground <= high) | ~is_edge).all(axis=2)
            first = _SETBACKS[np.argmax(is_free, axis=0)]
            back[side] = np.where(is_free.any(axis=0) & (first > 0.0), first, 0.0)
        return back, along

    def _find_footholds(self) -> np.ndarray:
        """Return by how much (2, 3) m feet that come down are to be moved along their length, off an edge.

        Toes that are a little over the next step up are drawn back, and a heel that is still over the last step down is
        pushed ahead: by the smallest distance.
        """
        supports, found = self.supports, np.zeros((2, 3))
        if self.flight.is_up:
            return found
        for side in np.flatnonzero(~self.marionette.in_contact & (self.over < _LANDING)):
            places = supports.positions[supports.of_foot[side]]
            heights = supports.ground.heights(places[:, 0], places[:, 2])
            way = (places[-1] - places[0]) * _LEVEL
            sinks = supports.motion[1][supports.of_foot[side], 1].mean() < 0.0
            falls = self.feet.raised_for[side] > _LANDING_AFTER and sinks
            if not falls or heights.max() - heights.min() < EDGE or not length(way) > _FOOT:
                continue
            way /= length(way)
            x, z = (places[:, a] + NUDGES[:, None] * way[a] for a in (0, 2))
            is_off = supports.ground.heights(x, z).max(axis=1) < heights.max() - EDGE
            if is_off.any():
                by = NUDGES[is_off][int(np.argmin(np.abs(NUDGES[is_off])))]
                found[side] = (by + np.copysign(_BESIDE, by)) * way
        return found
