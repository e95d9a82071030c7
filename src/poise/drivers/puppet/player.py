"""A puppet of one actor: frames of poses, made a little ahead of what is shown. See `puppet.py`.

A frame is made on a body of its own: strings are pulled, joints swing, the root hangs from the foot that carries
(`drivers/root/anchored.py`), and feet that are down are held (`feet.py`). What the stage is given lies between frames,
smooth to the acceleration.
"""

from __future__ import annotations

import copy
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.roles import SIDES
from poise.drivers.body import Body
from poise.drivers.driver import BodyModel, MotionPlayer, Player
from poise.drivers.puppet.feet import LOOKS, RISES, PlantedFeet
from poise.drivers.puppet.flight import PuppetFlight
from poise.drivers.puppet.get_up import GetUpBlend
from poise.drivers.root.anchor import GIVEN, MovingBody
from poise.drivers.root.anchored import Anchored, AnchoredPlayer, _moving, ask_height
from poise.drivers.transition.transition import Transition
from poise.drivers.walk.body import find_heading_of
from poise.errors import InputError
from poise.motion.motion import Pose
from poise.puppetry.layers import LayerMixer
from poise.puppetry.marionette import Marionette
from poise.puppetry.springs import SPRINGS
from poise.spatial import rotation
from poise.spatial.rotation import length, lengths

if TYPE_CHECKING:
    from poise.drivers.puppet.puppet import Puppet
FRAME = 1.0 / 120.0  # s
_AHEAD, _BEHIND = 2, 6
_NEAR, _OFF = 0.006, 0.03  # m over the ground: a foot that is nearer comes to be down, one that is farther goes up
_OUT_OF_REACH = 0.15  # of the leg, that one which does not carry may be beyond its reach
_REALLY = 0.02  # m over the ground, of a foot that comes to be down beside an edge, as it is led
_LED, _CLOSE = 0.1, 0.03  # m, by which a foot that does not carry is led at most, and when it comes down
_SLOW = 0.25  # m/s: one that comes down faster than that slides on until it carries
# What another foot must be lower by than the one that carries, to carry: m, of one that stands, and of one that is in
# the air; and m for each m/s that they go along the ground.
_OTHER, _SLIDES, _OTHER_UP, _SWEEPS = 0.006, 0.05, 0.02, 0.12
_STRAINS = 0.6  # m, that one which carries counts as higher by, for each m that it is led
_SOON, _NEARLY = 0.15, 0.003  # s and m, of [anchored, 8]
_UNDER = 0.4  # m, that one of two that stand counts as higher by, for each m that it is farther from under the hips
_DEEP, _NEVER = 0.02, 10.0  # m: so deep is no contact; more than any height
_EDGE = 0.02  # m, that an edge stands out at least
_GOES_ON = 0.12  # s, in which a foot that looks ahead takes itself to slow down
_BACKS = np.concatenate([[0.0], np.arange(1, 16) * 0.02])  # m, that a foot is held back by before an edge
_APART = 0.015  # m, that it stays before it
_NUDGES = np.arange(-30, 31) * 0.002  # m, along its length, by which a foot is brought off an edge
_BESIDE = 0.008  # m, that it is beside it then
_COMES_DOWN, _IS_UP = 0.08, 0.15  # m over the ground, of a foot that comes down, and s that it has been up for
_PARTS = np.linspace(0.0, 1.0, 33)  # from heel to ball
_LINE = 4  # points of a sole from one support to the next
_CREEPS = 0.05  # m/s, below which a foot goes nowhere
_STARTS = 3.0  # s, that joints get to come to rest in the first pose
_TAKE_OVER, _GRIPS = 0.6, 0.15  # s, until strings are tight, and until feet that are down are held
_COMES = 0.8  # s, until hands mean all that they do to who was drawn up
MOST_STANCES = 10_000
UP = np.array([0.0, 1.0, 0.0])


class StandingPlayer(AnchoredPlayer):
    """A root that hangs from a sole and is turned by the hands; it changes feet when the other one is clearly down.

    mine  (2, P) which supports are of each foot
    led   (2, 3) m, along the ground, by which each foot is led from where strings have it
    slope (2, 4) how the ground under each foot is turned
    between (S, P) shares of supports in the points of lines from one to the next;  ours (2, S): of which foot
    planted (2,) whether each foot stands, and `real` (P, 3) m, where its supports are then;  holds (2, 2) m, x and z of
            the point of the ground that holds it up
    strain (2,) m, how far each is led while both stand: who is farther carries less
    held_back (2,) feet in the air that are kept from where strings have them: those do not stand there
    stays m, that the other foot has to be lower by, too: no other one carries while it is taken over
    """

    def __init__(self, driver: Anchored, body: Body, t: float):
        super().__init__(driver, body, t)
        self.mine = np.array([[name.startswith(side) for name in self.names] for side in SIDES])
        self.led, self.stays, self.held_back = np.zeros((2, 3)), 0.0, np.zeros(2, np.bool_)
        self.strain, self.slope, self.planted = np.zeros(2), rotation.identity((2,)), np.zeros(2, np.bool_)
        self.real = np.zeros((len(self.names), 3))
        self.holds, (self.between, self.ours) = np.zeros((2, 2)), _find_between(self.mine)

    def _score(self, moving: MovingBody, liked: int) -> np.ndarray:
        self.find_points(moving)
        place, speed = self._found
        led = self.where_led(place)
        height = place[:, 1] - self.find_ground(led, self.chosen < 0)
        if self.chosen < 0:
            return height
        # s = h + near (h(t + A) - h)   [anchored, 8], over the ground as it is: what is ahead of a foot is no support
        later = height + _SOON * speed[:, 1]
        near = np.clip(1.0 - (height - height.min()) / _NEARLY, 0.0, 1.0)
        other = self.mine[1 if self.mine[0, self.chosen] else 0]
        slides = lengths(speed[:, [0, 2]])
        stays = self.planted @ self.mine > 0.0
        costs = self.stays + np.where(stays, _OTHER + _SLIDES * slides, _OTHER_UP + _SWEEPS * slides)
        scores = height + near * (later - height) + other * costs
        scores = scores + _STRAINS * self.strain @ self.mine
        if self.planted.all():  # whom hips are over carries, though strings have the other foot lower
            scores = scores - self.find_weights(moving.root) @ self.mine
        # One that swings through a riser is deep in the ground, and does not stand there.
        held = self.held_back @ self.mine > 0.0
        passes = ~stays & (height < -_DEEP) & ((slides > _SLOW) | self.has_edge(led))
        return np.asarray(scores + other * (passes | held) * _NEVER)

    def has_edge(self, places: np.ndarray) -> np.ndarray:
        """(P,) whether there is an edge under the foot of each support at some places."""
        raw = ask_height(self._ground, places[:, 0], places[:, 2])
        return np.asarray(self.mine.T @ (self.mine @ (np.abs(self.find_ground(places) - raw) > 0.5 * _EDGE)) > 0)

    def find_points(self, moving: MovingBody) -> None:
        """Places and velocities (2, P, 3) of the supports, as strings have them: `_found`."""
        from poise.drivers.root import kernels

        kernels.find_points(
            self.anchor.parents, self.anchor.offsets, moving.q, moving.w, moving.root, moving.v, self._at, self._points,
            self._found,
        )  # fmt: skip

    def find_ground(self, places: np.ndarray, whole: bool = False) -> np.ndarray:
        """(P,) m, how high the ground is for supports at some places: a foot across an edge lies on what is higher.

        With n the normal of what the foot lies on, the ground under its point i holds up its point k as a plane does,
        at  y_ik = g_i - n_xz (p_k - p_i) / n_y.
        """
        ground = ask_height(self._ground, places[:, 0], places[:, 2])
        for side, mine in enumerate(self.mine):
            flat, g = places[mine][:, [0, 2]], ground[mine]
            if self.planted[side]:  # what came to hold it up does so still
                at, normal = self.holds[side], rotation.rotate(self.slope[side], UP)
                g = float(ask_height(self._ground, at[:1], at[1:])[0])
                ground[mine] = g - (flat - at) @ normal[[0, 2]] / normal[1]
            elif g.max() - g.min() > _EDGE:
                normal = self.find_normal(places[mine])
                # Its ends do not count: one that is over an edge by no more is brought off it as it comes down.
                ends = flat.copy()
                way = ends[-1] - ends[0]
                way *= 0.0 if whole else min(_NUDGES[-1] / max(length(way), 1e-9), 0.25)
                ends[0], ends[-1] = ends[0] + way, ends[-1] - way
                inner = ask_height(self._ground, ends[:, 0], ends[:, 1])
                y = (inner - (flat[:, None] - ends) @ normal[[0, 2]] / normal[1]).max(axis=1)
                ground[mine] = np.where(np.abs(y - g) > _EDGE, y, g)
        return ground

    def find_normal(self, places: np.ndarray) -> np.ndarray:
        """(3,) of the ground under a foot: at all its points the least steep, an edge beside it is no slope."""
        return max((self._normal(place) for place in places), key=lambda normal: float(normal[1]))

    def _ground_at(self, x: float, z: float) -> float:
        """See `AnchoredPlayer`: for the foot that carries, with that support at x and z."""
        if not 0 <= self.chosen < len(self.names):
            return super()._ground_at(x, z)
        places = self._found[0]
        moved = places + (np.array([x, 0.0, z]) - places[self.chosen])
        return float(self.find_ground(moved, not self.planted.any())[self.chosen])

    def where_led(self, places: np.ndarray) -> np.ndarray:
        """(P, 3) m, where supports that strings have at some places are along the ground: those that stand, stay."""
        stand = (self.planted @ self.mine > 0.0)[:, None]
        return np.where(stand, self.real, places + self.mine.T @ self.led)

    def find_weights(self, root: np.ndarray) -> np.ndarray:
        """(2,) m, that each foot counts as lower by, since hips are over it rather than over the other."""
        far = np.zeros(2)
        for side, mine in enumerate(self.mine):
            points = self._found[0][mine][:, [0, 2]]
            start, way = points[0], points[-1] - points[0]
            along = np.clip((root[[0, 2]] - start) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
            far[side] = length(root[[0, 2]] - start - along * way)
        return np.asarray(_UNDER * np.maximum(far[::-1] - far, 0.0))


def _find_between(mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See `StandingPlayer.between`."""
    rows: list[np.ndarray] = []
    sides: list[int] = []
    for side, each in enumerate(mine):
        points = np.eye(len(each))[each]
        for start, end in pairwise(points):
            rows += [start + u * (end - start) for u in np.arange(_LINE) / _LINE]
        rows.append(points[-1])
        sides += [side] * (len(rows) - len(sides))
    return np.array(rows), np.arange(2)[:, None] == np.array(sides)


class Standing(Anchored):
    """See `StandingPlayer`."""

    @property
    def turned(self) -> str:
        """See `Anchored.turned`."""
        return GIVEN


class PuppetPlayer(MotionPlayer):
    """A puppet of one actor.

    puppet, mixer    its joints, and the layers that write their targets
    stand, feet      what it hangs from, and where its feet stand
    air              where it goes while nothing carries it;  drawn: how it is drawn up from the floor; None: it is not
    stances          [side, from, to] s: when feet came down, and went up; the last MOST_STANCES of them
    frames, roots    (N, J, 4) rotations, (N, 3) m, of frames number `first` on, since `begun` (s)
    """

    moves_root = True

    def __init__(self, driver: Puppet, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, joints
        character = body.character
        if body.gravity[1] > 0.0:
            raise InputError(
                f"Puppet's limbs hang in gravity, and this stage's, {body.gravity.round(3).tolist()} m/s2, points up. "
                "Give the stage one that points down: Stage(gravity=(0, -9.81, 0))."
            )
        self.puppet = Marionette(character, driver.springs or SPRINGS, float(-body.gravity[1]))
        self.mixer = LayerMixer(self.puppet, driver.layers)
        self.own = Body(character)
        self.own.dt, self.own.gravity, self.own.floor = FRAME, body.gravity, copy.copy(body.floor)
        self.stand = StandingPlayer(Standing(settle=driver.settle), self.own, t)
        self.stand.slope = self.puppet.slope
        self.feet = PlantedFeet(character, self.puppet)
        self.air = PuppetFlight(character, body.gravity)
        count = _BEHIND + _AHEAD + 4 + math.ceil(2.0 * body.dt / FRAME)
        self.frames, self.roots = rotation.identity((count, len(body.skeleton))), np.zeros((count, 3))
        self.first, self.made, self.begun, self._decided = -1, 0, t, 0
        self._rest = rotation.identity((len(body.skeleton),))
        self._last = rotation.identity((len(body.skeleton),))  # rotations of the last frame, as strings have them
        self._over_ground = np.zeros(2)  # m, of the lowest point of each foot, as strings have it
        self._over_ahead = np.zeros((2, len(LOOKS)))  # m, the same over what it comes to
        self._over: Transition | None = None
        self._seen = Body(character)
        self.drawn: GetUpBlend | None = None
        self._up = -math.inf  # s, when it had been drawn up
        self._quiet = -math.inf  # s, until which feet that are down are no stances: it is still taken over
        self.stances: list[list[float]] = []

    @property
    def support(self) -> str | None:
        """The point that carries: "left heel", "right ball", ..."""
        return self.stand.support

    @property
    def horizon(self) -> float:
        """s of the stage's clock, of the next frame that it will make: hands of that time are heard in it."""
        return self.begun + (self.first + self.made) * FRAME

    def newest(self) -> Pose | None:
        """The newest frame that it made, some frames before the stage shows it; None while it takes over."""
        if self._over is not None and self.horizon < float(np.sum(self._over.span)):
            return None
        return Pose(self.roots[self.made - 1].copy(), self.frames[self.made - 1].copy())

    def find_pose(self, t: float) -> Pose:
        """Where it is at time t (s of the stage's clock), up to the newest frame; while it takes over, too."""
        at = min(max((t - self.begun) / FRAME - self.first, 0.0), self.made - 1.0)
        k = min(math.floor(at), self.made - 2)
        turn = rotation.log(rotation.multiply(rotation.conjugate(self.frames[k]), self.frames[k + 1]))
        body = self._seen
        body.state.q[:] = rotation.multiply(self.frames[k], rotation.exp((at - k) * turn))
        body.state.root[:] = self.roots[k] + (at - k) * (self.roots[k + 1] - self.roots[k])
        if self._over is not None:
            self._over.add(body, t)
        return Pose(body.state.root.copy(), body.state.q.copy())

    # It begins.

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: in the pose that the hands have, or from the body's on."""
        self.begun, self._decided, self.first, self.made = t, 0, -1, 0
        body.update()
        self.drawn = None if starting else GetUpBlend.find(body, self.own, FRAME)
        if self.drawn is not None:
            self.drawn.begin(body.state, t, self._find_rest(body.state.q))
            self._make(body, t)
            return
        self._hang(body, t, starting)
        self._make(body, t)
        if starting:
            self._write(body, t)
            for array in (body.state.v, body.a):
                array[:] = 0.0
            body.state.w[self.joints] = body.dw[self.joints] = 0.0
            return
        kept, dw, a = body.state.copy(), body.dw.copy(), body.a.copy()
        self._write(body, t)  # what is still of nothing adds nothing
        there, turning, pulling = body.state.copy(), body.dw.copy(), body.a.copy()
        body.put(kept)
        body.dw[:], body.a[:] = dw, a
        assert self._over is not None
        at = self.joints
        self._over.measure(
            body, there.q[at], there.w[at], turning[at], there.root, there.v, pulling, t, _TAKE_OVER
        )  # fmt: skip
        self._wait_until(float(np.sum(self._over.span)))

    def _hang(self, body: Body, t: float, starting: bool) -> None:
        """Hang a body that is up to date from its strings: at rest in the pose that the hands have, or as it is."""
        self.mixer.heading = find_heading_of(body)
        own = self.own
        own.put(body.state)
        if starting:
            self._settle(t)
        else:
            self.mixer.start_at(t)
            self._rest[:] = body.state.q
            self.puppet.put(body.state.q, body.state.w)
            self._over = Transition(body.arena, self.joints, t, moves_root=True)
            self.puppet.step(1e-9)
        self._pose(own.state.q)
        self._last[:] = own.state.q
        own.state.w[:], own.dw[:], own.state.v[:], own.a[:] = 0.0, 0.0, 0.0, 0.0
        if not starting:
            own.state.w[:], own.state.v[:] = body.state.w, body.state.v
        self.stand.begin(own, t, starting)
        self.air.forget()
        self._look_down()
        self.feet.begin(self._over_ground)
        for side in np.flatnonzero(self.puppet.in_contact):
            self._lay_ground(int(side))
        self.stances = [[float(side), t, math.inf] for side in range(2) if self.puppet.in_contact[side]]

    def _wait_until(self, t: float) -> None:
        """Have no foot that is down be a stance before time t."""
        self._quiet = t
        for each in self.stances:
            each[1] = max(each[1], t)

    def _settle(self, t: float) -> None:
        """Be at rest, both feet down: in the pose that the hands have at time t, or that nobody's have.

        Who was drawn up comes to what hands mean from there.
        """
        self.mixer.start_at(t)
        self.mixer.update_targets(t, 0.0)
        if self.drawn is not None:
            self.mixer.scale_targets(0.0)
        _come_to_rest(self.puppet)

    def _find_rest(self, rotations: np.ndarray) -> np.ndarray:
        """(J, 4) the pose that it stands in under hands that do nothing; what has no string is as in `rotations`."""
        puppet = Marionette(self.own.character, self.driver.springs or SPRINGS, self.puppet.gravity)
        _come_to_rest(puppet)
        found = rotations.copy()
        puppet.pose(found)
        return found

    # Frames.

    def _make(self, body: Body, t: float) -> None:
        """Make frames as far as the next two steps go."""
        last = math.floor((t + 1.6 * body.dt - self.begun) / FRAME + 1e-6) + _AHEAD
        while self.first + self.made <= last:
            number = self.first + self.made
            if self.made == len(self.frames):
                for array in (self.frames, self.roots):
                    array[:-1] = array[1:].copy()
                self.first, self.made = self.first + 1, self.made - 1
            if self.drawn is not None and not self.drawn.is_up:
                self._draw_up(number)
                continue
            u = min(max(number * FRAME / _GRIPS, 0.0), 1.0) if self._over is not None else 1.0
            self.feet.grip = u * u * (3.0 - 2.0 * u)
            self.stand.stays = _NEVER if u < 1.0 else 0.0
            if number >= 0:
                self._move(self.begun + number * FRAME)
            else:
                self._hold_feet()
            shown = self.own.state
            if self.drawn is not None:
                shown = self.drawn.follow(self.own.state, self.begun + number * FRAME)
                if self.drawn.is_over:
                    self.drawn = None
            self.frames[self.made], self.roots[self.made] = shown.q, shown.root
            self.made += 1

    def _hold_feet(self) -> None:
        """Hold the feet that are down of a body that begins."""
        over, ahead, edges = self._over_ground, self._over_ahead, self._look_for_edges()
        self.feet.step(self.own, FRAME, self._find_heights(), over, ahead, *edges, np.zeros((2, 3)))
        self._remember()

    def _draw_up(self, number: int) -> None:
        """A frame of who is drawn up from the floor; in the last one strings have it."""
        assert self.drawn is not None
        state = self.drawn.step(number)
        self.frames[self.made], self.roots[self.made] = state.q, state.root
        self.made += 1
        if self.drawn.is_up:
            t = self._up = self.begun + number * FRAME
            self._hang(self.drawn.body, t, starting=True)
            self.feet.grip, self.stand.stays = 1.0, 0.0
            self._hold_feet()
            self._move(t)
            self.drawn.meet(self.own.state, self.joints, t, _TAKE_OVER)
            self._wait_until(t + 2.0 * _TAKE_OVER)

    def _pose(self, q: np.ndarray) -> None:
        q[:] = self._rest
        self.puppet.pose(q)

    def _move(self, t: float) -> None:
        """One frame of its own body, at time t."""
        own, puppet = self.own, self.puppet
        self.mixer.update_targets(t, FRAME)
        if t < self._up + _COMES:  # hands come to mean something
            u = (t - self._up) / _COMES
            self.mixer.scale_targets(u * u * (3.0 - 2.0 * u))
        if t < self.begun + _TAKE_OVER and self._over is not None:  # strings draw tight
            u = (t - self.begun) / _TAKE_OVER
            puppet.tension *= max(u * u * (3.0 - 2.0 * u), 0.03) ** 2
        puppet.step(FRAME)
        self._pose(own.state.q)
        # Rates are differences, and those of rates are noise: a support takes over with its velocity alone.
        own.state.w[:] = rotation.log(rotation.multiply(rotation.conjugate(self._last), own.state.q)) / FRAME
        self._last[:] = own.state.q
        stood = self.feet.stands.copy()
        if self.air.is_up:
            self._fly(t)
        else:
            self.stand.led[:] = self.feet.off[:, 0] * (1.0, 0.0, 1.0)
            self.stand.strain[:] = lengths(self.stand.led) if self.feet.stands.all() else 0.0
            self.stand.held_back[:] = self.feet.is_held_back
            self.stand.write(own, t)
            self._look_down()
        # feet that nothing is under are led over nothing
        nothing = np.inf if self.air.is_up else 0.0
        over, ahead = self._over_ground + nothing, self._over_ahead + nothing
        edges = self._look_for_edges()
        self.feet.step(own, FRAME, self._find_heights(), over, ahead, *edges, self._look_for_footholds())
        self._remember()
        if self.air.is_up:
            pulled = own.state.root.copy()
            self.air.place(own)  # legs that were led have moved it
            self.air.shift[:] = own.state.root - pulled
        else:
            own.update()
            # one that comes up out of the ground, since a foot is on a step, is not thrown
            if self._over_ground.min() > -_DEEP and self.air.lets_go(own, FRAME):
                self._leave()
            else:
                self.air.see(own)
        self._note(stood, t)

    def _remember(self) -> None:
        """Know where feet stand in the frame that was made."""
        stand = self.stand
        stand.find_points(_moving(self.own))
        stand.real[:], stand.planted[:] = stand._found[0], self.feet.stands

    def _note(self, stood: np.ndarray, t: float) -> None:
        """Remember when feet came down, and went up."""
        for side in range(2):
            if self.feet.stands[side] and not stood[side]:
                self.stances = [*self.stances[-MOST_STANCES:], [float(side), max(t, self._quiet), math.inf]]
            elif stood[side] and not self.feet.stands[side]:
                for each in reversed(self.stances):
                    if each[0] == side:
                        each[2] = t
                        break

    def _leave(self) -> None:
        """Be in the air in the frame that was made."""
        self.puppet.in_contact[:] = self.feet.stands[:] = False
        self.feet.off[:, :, 1] += self.feet.sunk  # what legs were too short by is where the centre of mass is now
        self.feet.sunk[:] = 0.0
        self.air.shift[:] = 0.0
        self.air.advance(FRAME)
        self.air.place(self.own)

    def _fly(self, t: float) -> None:
        """A frame in the air; where a foot comes to the ground it carries again."""
        own, before = self.own, self.own.state.root.copy()
        self.air.advance(FRAME)
        self.air.place(own)
        self._look_down()
        if (self.air.velocity[1] < 0.0 and self._over_ground.min() <= 0.0) or self.air.is_over(FRAME):
            own.state.root += self.air.shift  # as it was shown, and from there on
            own.state.v[:], own.a[:] = (own.state.root - before) / FRAME, 0.0
            self.air.land()
            self.stand.begin(own, t, starting=False)
            self._look_down()
            self.puppet.in_contact |= self._over_ground < _OFF

    def _find_heights(self) -> np.ndarray:
        """(2,) m, of the ground at the balls of both feet: where they stand, or will."""
        spots, stand = self.feet.spot.copy(), self.stand
        for side, (_, _, foot) in enumerate(self.feet.legs):
            if not self.feet.stands[side]:
                spots[side] = self.own.p[foot]
        found = ask_height(stand._ground, spots[:, 0], spots[:, 2])
        for side in map(int, np.flatnonzero(self.feet.stands)):
            ball = next(k for k in np.flatnonzero(stand.mine[side]) if stand.names[k].endswith("ball"))
            places = stand.where_led(stand._found[0])
            found[side] = stand.find_ground(places + (spots[side] - places[ball]))[ball]
        return found

    def _lay_ground(self, side: int) -> None:
        """See how the ground lies under a foot that comes down, and what of it holds it up."""
        stand = self.stand
        places = stand.where_led(stand._found[0])[stand.mine[side]]
        normal = stand.find_normal(places)
        self.puppet.lay_ground(side, rotation.between(UP, normal))
        level = ask_height(stand._ground, places[:, 0], places[:, 2]) + places[:, [0, 2]] @ normal[[0, 2]] / normal[1]
        stand.holds[side] = places[int(np.argmax(level)), [0, 2]]
        # Which part of it, from heel to ball, has ground under it: the rest juts out over an edge.
        heel, ball = places[:2]
        line = heel + _PARTS[:, None] * (ball - heel)
        heights = ask_height(stand._ground, line[:, 0], line[:, 2])
        heights = heights + (line - heel)[:, [0, 2]] @ normal[[0, 2]] / normal[1]
        on = _PARTS[heights > heights.max() - _EDGE]
        self.feet.bears[side] = on[0], on[-1]

    def _look_down(self) -> None:
        """See which feet are down, as strings have them, and how the ground lies under them."""
        stand, state = self.stand, self.own.state
        stand.find_points(_moving(self.own))
        stand.led[:] = self.feet.off[:, 0] * (1.0, 0.0, 1.0)
        places = stand._found[0]
        led = stand.where_led(places)
        under, below = stand.find_ground(led), ask_height(stand._ground, places[:, 0], places[:, 2])
        over = places[:, 1] - under
        is_inside = (below - under > _EDGE) & (places[:, 1] < below - _DEEP)  # a riser that it stands before
        # One in the air is lifted over what is below its strings, too: it comes back to them.
        line, speeds = stand.between @ stand._found
        grounds = [ask_height(stand._ground, at[:, 0], at[:, 2]) for at in (line, stand.between @ led)]
        clear = line[:, 1] - np.maximum(*grounds)
        ahead = line + _GOES_ON * (1.0 - np.exp(-LOOKS / _GOES_ON))[:, None, None] * speeds
        far = line[:, 1] - ask_height(stand._ground, ahead[..., 0], ahead[..., 2])
        weights, has_edge = stand.find_weights(state.root), stand.has_edge(led)
        for side, mine in enumerate(stand.mine):
            carries = not self.air.is_up and 0 <= stand.chosen < len(mine) and bool(mine[stand.chosen])
            was = bool(self.puppet.in_contact[side])
            lowest = np.flatnonzero(mine)[int(np.argmin(over[mine]))]
            self._over_ground[side] = over[lowest] if was else clear[stand.ours[side]].min()
            self._over_ahead[side] = far[:, stand.ours[side]].min(axis=1)
            slow = float(np.hypot(*stand._found[1][lowest, [0, 2]])) < _SLOW
            away = length(stand.led[side])
            # one that is led too far away makes a step, but for one whose strings are in a riser
            stays = over[lowest] < _OFF + weights[side] and (away < _LED or is_inside[mine].any())
            stays = stays and self.feet.lacks[side] < _OUT_OF_REACH
            is_there = over[lowest] + self.feet.off[side, 0, 1] < _REALLY or not has_edge[lowest]
            lands = over[lowest] < _NEAR and is_there and slow and away < _CLOSE
            self.puppet.in_contact[side] = carries or (not self.air.is_up and (stays if was else lands))
            if self.puppet.in_contact[side] and not was:
                self._lay_ground(side)

    def _look_for_edges(self) -> tuple[np.ndarray, np.ndarray]:
        """(2, T) m, by which feet in the air have to be held back in LOOKS, and (2, 3) along which way they go.

        A foot comes to an edge that it cannot be lifted over in time: it stays before it until it can.
        """
        back, along = np.zeros((2, len(LOOKS))), np.zeros((2, 3))
        if self.air.is_up or self._over_ahead.min() > -_EDGE:
            return back, along
        stand, gone = self.stand, _GOES_ON * (1.0 - np.exp(-LOOKS / _GOES_ON))[:, None]
        for side in np.flatnonzero(~self.puppet.in_contact):
            off = self.feet.off[side]
            places, speeds = (stand.between @ stand._found)[:, stand.ours[side]]
            flat = speeds.mean(axis=0) * (1.0, 0.0, 1.0)
            if not np.hypot(flat[0], flat[2]) > _CREEPS:
                continue
            along[side] = flat / np.hypot(flat[0], flat[2])
            # as high as it can be by then: y + y' t + a t^2 / 2
            high = (
                places[:, 1] + off[0, 1] + gone * speeds[:, 1] + (off[1, 1] * LOOKS + 0.5 * RISES * LOOKS**2)[:, None]
            )
            x, z = (
                places[:, a] + gone * speeds[:, a] + (_APART - _BACKS[:, None, None]) * along[side, a] for a in (0, 2)
            )
            ground, here = ask_height(stand._ground, x, z), places + off[0]
            is_edge = ground[0] - ask_height(stand._ground, here[:, 0], here[:, 2]).min() > 3.0 * _EDGE
            is_free = ((ground <= high) | ~is_edge).all(axis=2)
            first = _BACKS[np.argmax(is_free, axis=0)]
            back[side] = np.where(is_free.any(axis=0) & (first > 0.0), first, 0.0)
        return back, along

    def _look_for_footholds(self) -> np.ndarray:
        """(2, 3) m, by which feet that come down are to be moved along their length, off an edge that they would be on.

        Toes that are a little over the next step up are drawn back, and a heel that is still over the last one down is
        pushed ahead: as little as that takes.
        """
        stand, found = self.stand, np.zeros((2, 3))
        if self.air.is_up:
            return found
        for side in np.flatnonzero(~self.puppet.in_contact & (self._over_ground < _COMES_DOWN)):
            places = stand._found[0][stand.mine[side]]
            heights = ask_height(stand._ground, places[:, 0], places[:, 2])
            way = (places[-1] - places[0]) * (1.0, 0.0, 1.0)
            falls = self.feet.left[side, 1] > _IS_UP and stand._found[1][stand.mine[side], 1].mean() < 0.0
            if not falls or heights.max() - heights.min() < _EDGE or not length(way) > 0.05:
                continue
            way /= length(way)
            x, z = (places[:, a] + _NUDGES[:, None] * way[a] for a in (0, 2))
            is_off = ask_height(stand._ground, x, z).max(axis=1) < heights.max() - _EDGE
            if is_off.any():
                by = _NUDGES[is_off][int(np.argmin(np.abs(_NUDGES[is_off])))]
                found[side] = (by + np.copysign(_BESIDE, by)) * way
        return found

    # The step.

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`."""
        return BodyModel(bends_toes=True)

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`. It decides once per step, in its middle: poses at other times change nothing."""
        self._write(body, t)
        middles = (t - self.begun) / body.dt + 0.5 + 1e-6
        if middles >= self._decided + 1:
            self._decided = math.floor(middles)
            self._make(body, t)

    def _write(self, body: Body, t: float) -> None:
        """Rotations of its joints, the root's place, and their rates."""
        from poise.drivers.kinematic.frame_kernels import place_at, write_turns

        tau = t - self.begun
        number = min(max(math.floor(tau / FRAME), self.first + 1), self.first + self.made - 3)
        u = min(max(tau / FRAME - number, 0.0), 1.0)
        k, state, place = number - self.first, body.state, np.empty((3, 3))
        write_turns(self.frames, k, u, FRAME, 1.0, 0.0, self.joints, state.q, state.w, body.dw)
        place_at(self.roots[k - 1 : k + 3], u, FRAME, 1.0, 0.0, place)
        state.root[:], state.v[:], body.a[:] = place
        if self._over is not None:
            self._over.add(body, t)

    # Its state.

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        own = self.own
        return {
            "frames": self.frames, "roots": self.roots, "rest": self._rest, "last": self._last,
            "own_q": own.state.q, "own_w": own.state.w, "own_dw": own.dw, "own_root": own.state.root,
            "own_v": own.state.v, "own_a": own.a, **self.puppet.numbers(), **self.feet.numbers(),
            **self.air.numbers(), "real": self.stand.real, "planted": self.stand.planted,
            "holds": self.stand.holds,
        }  # fmt: skip

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        over = None if self._over is None else {name: array.copy() for name, array in self._over.numbers().items()}
        return {
            **super().save(), "strings": self.mixer.save(), "over": over, "begun": self.begun,
            "counts": [self.first, self.made, self._decided], "stand": self.stand.save(),
            "drawn": None if self.drawn is None else self.drawn.save(), "up": self._up,
        }  # fmt: skip

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        self.mixer.restore(saved["strings"])
        self.begun = saved["begun"]
        self.first, self.made, self._decided = map(int, saved["counts"])
        self.stand.restore(saved["stand"])
        drawn, self._up = saved.get("drawn"), saved.get("up", -math.inf)
        self.drawn = None if drawn is None else GetUpBlend.load(drawn, self.own, FRAME, self.joints)
        if saved["over"] is None:
            self._over = None
            return
        self._over = self._over or Transition(self.own.arena, self.joints, moves_root=True)
        for name, array in self._over.numbers().items():
            array[...] = saved["over"][name]


def _come_to_rest(puppet: Marionette) -> None:
    """Have a marionette be at rest where its strings pull it, both feet down."""
    puppet.angles[0, 1] = puppet.target[0, 1]
    puppet.in_contact[:] = True
    for _ in range(round(_STARTS / FRAME)):
        puppet.step(FRAME)
    puppet.speeds[:] = 0.0
