"""Frames of a puppet, made a little ahead of what is shown. See `puppet.py`.

A frame is made on a separate body: layers write the targets, joints swing (`puppetry/marionette.py`), the root hangs
from the anchored support (`supports.py`, `drivers/root/anchored.py`) or flies (`flight.py`), and feet that are down are
held (`ground_contact.py`, `feet.py`). Between frames, the motion is smooth to the acceleration.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.drivers.body import Body
from poise.drivers.driver import BodyModel, MotionPlayer, Player
from poise.drivers.kinematic.frame_buffer import FrameBuffer
from poise.drivers.puppet.feet import PlantedFeet
from poise.drivers.puppet.flight import PuppetFlight
from poise.drivers.puppet.get_up import GetUpBlend
from poise.drivers.puppet.ground_contact import GroundContact
from poise.drivers.puppet.settings import BLEND, DEEP, FRAME, GRIP, RELEASE
from poise.drivers.puppet.supports import NEVER, PuppetSupports
from poise.drivers.root.anchor import Anchor
from poise.drivers.root.anchored import AnchoredPlayer
from poise.drivers.root.supports import RootPath, SupportGround
from poise.drivers.stateful import Stateful, StepClock
from poise.drivers.transition.transition import Transition
from poise.drivers.walk.body import find_heading_of
from poise.engines.memory import write_over
from poise.motion.motion import Pose
from poise.puppetry.layers import LayerMixer
from poise.puppetry.marionette import Marionette
from poise.puppetry.springs import SPRINGS
from poise.spatial import rotation
from poise.spatial.rotation import lengths

if TYPE_CHECKING:
    from poise.drivers.puppet.puppet import Puppet
_AHEAD = 2  # frames
_STARTS = 3.0  # s, in which joints come to rest in the first pose
_SLACKEST = 0.03  # tension, squared below, of strings as they begin to tighten
_HANDS_RETURN = 0.8  # s, until hands of a puppet that got up have their full effect
_LIMBER = 1e-9  # s, of a step that only finds the pose
MOST_STANCES = 10_000


class PuppetPlayer(Stateful, MotionPlayer):
    """A puppet of one actor.

    marionette, mixer  its joints, and the layers that write their targets
    anchored           the root, with its supports;  contact: of the feet with the ground;  feet: those that are held
    flight             of the centre of mass, while nothing is anchored
    get_up             how it is lifted from the floor; None: it is not
    frames             rotations and root positions since `begun` (s)
    stances            [side, from, to] s: when feet came down, and went up; the last MOST_STANCES of them
    """

    STATE = (
        "marionette", "mixer", "feet", "flight", "supports", "anchored", "frames", "clock", "rest", "last", "begun",
        "lifted_at",
    )  # fmt: skip

    def __init__(self, driver: Puppet, body: Body, joints: np.ndarray, t: float):
        self.driver, self.joints = driver, joints
        character = body.character
        driver.check(body)
        self.marionette = Marionette(character, driver.springs or SPRINGS, float(-body.gravity[1]))
        self.mixer = LayerMixer(self.marionette, driver.layers)
        self.own = Body(character)
        self.own.dt, self.own.gravity, self.own.floor = FRAME, body.gravity, copy.copy(body.floor)
        self.supports = PuppetSupports(character, SupportGround.under(self.own), self.marionette.slope)
        self.anchored = AnchoredPlayer(self.supports, Anchor(), RootPath(None, 0.0), driver.settle, t)
        self.feet = PlantedFeet(character, self.marionette)
        self.flight = PuppetFlight(character, body.gravity)
        self.contact = GroundContact(self.supports, self.marionette, self.feet, self.flight)
        self.frames = FrameBuffer(FRAME, _AHEAD, body.dt, len(body.skeleton), (3,))
        self.begun, self.clock = t, StepClock(t)
        self.rest = rotation.identity((len(body.skeleton),))  # of joints that no string moves
        self.last = rotation.identity((len(body.skeleton),))  # of the last frame, as strings have it
        self.get_up: GetUpBlend | None = None
        self.lifted_at = -math.inf  # s, when it had got up
        self.stances: list[list[float]] = []
        self._stances_from = -math.inf  # s, until which feet that are down are no stances: it still takes over
        self._blend: Transition | None = None
        self._shown = Body(character)

    @property
    def support(self) -> str | None:
        """The anchored support: "left heel", "right ball", ..."""
        return self.anchored.support

    @property
    def horizon(self) -> float:
        """Time (s of the stage's clock) of the next frame that it will make, with the hands of that time."""
        return self.begun + self.frames.next * FRAME

    def newest(self) -> Pose | None:
        """Return the newest frame, made some frames before the stage shows it; None while it takes over."""
        if self._blend is not None and self.horizon < float(np.sum(self._blend.span)):
            return None
        row = self.frames.made - 1
        return Pose(self.frames.others[0][row].copy(), self.frames.rotations[row].copy())

    def find_pose(self, t: float) -> Pose:
        """Return the pose at time t (s of the stage's clock), up to the newest frame; while it takes over, too."""
        frames, (roots,) = self.frames, self.frames.others
        at = min(max((t - self.begun) / FRAME - frames.first, 0.0), frames.made - 1.0)
        k = min(math.floor(at), frames.made - 2)
        first, second = frames.rotations[k], frames.rotations[k + 1]
        turn = rotation.log(rotation.multiply(rotation.conjugate(first), second))
        body = self._shown
        body.state.q[:] = rotation.multiply(first, rotation.exp((at - k) * turn))
        body.state.root[:] = roots[k] + (at - k) * (roots[k + 1] - roots[k])
        if self._blend is not None:
            self._blend.add(body, t)
        return Pose(body.state.root.copy(), body.state.q.copy())

    # The beginning.

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: in the pose that the hands have, or from the body's pose."""
        self.begun = t
        self.clock.restart(t)
        self.frames.clear()
        body.update()
        self.get_up = None if starting else GetUpBlend.find(body, self.own, FRAME)
        if self.get_up is not None:
            self.get_up.begin(body.state, t, self._find_rest(body.state.q))
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
        assert self._blend is not None
        with body.preserved():
            self._write(body, t)  # the blend is still empty
            there, turning, pulling = body.state.copy(), body.dw.copy(), body.a.copy()
        at = self.joints
        self._blend.measure(body, there.q[at], there.w[at], turning[at], there.root, there.v, pulling, t, BLEND)
        self._delay_stances(float(np.sum(self._blend.span)))

    def _hang(self, body: Body, t: float, starting: bool) -> None:
        """Hang a body from its strings: at rest in the pose that the hands have, or as it is."""
        self.mixer.heading = find_heading_of(body)
        own = self.own
        own.put(body.state)
        if starting:
            self._come_to_rest(t)
        else:
            self.mixer.start_at(t)
            self.rest[:] = body.state.q
            self.marionette.put(body.state.q, body.state.w)
            self._blend = Transition(body.arena, self.joints, t, moves_root=True)
            self.marionette.step(_LIMBER)
        self._pose(own.state.q)
        self.last[:] = own.state.q
        own.state.w[:], own.dw[:], own.state.v[:], own.a[:] = 0.0, 0.0, 0.0, 0.0
        if not starting:
            own.state.w[:], own.state.v[:] = body.state.w, body.state.v
        self.anchored.begin(own, t, starting)
        self.flight.reset()
        self.contact.update(own, self.anchored.current)
        self.feet.begin(self.contact.over)
        for side in np.flatnonzero(self.marionette.in_contact):
            self.contact.lay_ground(int(side))
        self.stances = [[float(side), t, math.inf] for side in range(2) if self.marionette.in_contact[side]]

    def _delay_stances(self, t: float) -> None:
        """Count feet that are down as stances from time t on."""
        self._stances_from = t
        for each in self.stances:
            each[1] = max(each[1], t)

    def _come_to_rest(self, t: float) -> None:
        """Bring the joints to rest, both feet down, in the pose that the hands have at time t.

        A puppet that got up is in the pose without hands; they take effect from there.
        """
        self.mixer.start_at(t)
        self.mixer.update_targets(t, 0.0)
        if self.get_up is not None:
            self.mixer.scale_targets(0.0)
        _come_to_rest(self.marionette)

    def _find_rest(self, rotations: np.ndarray) -> np.ndarray:
        """Return the pose (J, 4) in which it stands without hands; joints without strings are as in `rotations`."""
        marionette = Marionette(self.own.character, self.driver.springs or SPRINGS, self.marionette.gravity)
        _come_to_rest(marionette)
        found = rotations.copy()
        marionette.pose(found)
        return found

    def _pose(self, q: np.ndarray) -> None:
        q[:] = self.rest
        self.marionette.pose(q)

    # Frames.

    def _make(self, body: Body, t: float) -> None:
        """Make the frames that the next two steps need."""
        last = self.frames.find_last(t + 1.6 * body.dt - self.begun)
        while self.frames.next <= last:
            number = self.frames.next
            if self.get_up is not None and not self.get_up.is_up:
                self._make_get_up(number)
                continue
            u = min(max(number * FRAME / GRIP, 0.0), 1.0) if self._blend is not None else 1.0
            self.feet.grip = u * u * (3.0 - 2.0 * u)
            self.supports.change_cost = NEVER if u < 1.0 else 0.0
            if number >= 0:
                self._advance(self.begun + number * FRAME)
            else:
                self._hold_feet()
            shown = self.own.state
            if self.get_up is not None:
                shown = self.get_up.follow(self.own.state, self.begun + number * FRAME)
                if self.get_up.is_over:
                    self.get_up = None
            self.frames.add(shown.q, shown.root)

    def _hold_feet(self) -> None:
        """Hold the feet of a body that begins."""
        self.feet.step(self.own, FRAME, self.contact.look_ahead(self.own, finds_footholds=False))
        self.supports.remember(self.own, self.feet.stands)

    def _make_get_up(self, number: int) -> None:
        """Make a frame of a puppet that gets up; in the last one, strings take over."""
        assert self.get_up is not None
        state = self.get_up.step(number)
        self.frames.add(state.q, state.root)
        if self.get_up.is_up:
            t = self.lifted_at = self.begun + number * FRAME
            self._hang(self.get_up.body, t, starting=True)
            self.feet.grip, self.supports.change_cost = 1.0, 0.0
            self._hold_feet()
            self._advance(t)
            self.get_up.meet(self.own.state, self.joints, t, BLEND)
            self._delay_stances(t + 2.0 * BLEND)

    def _advance(self, t: float) -> None:
        """Advance its own body by a frame, to time t."""
        own, feet, flight = self.own, self.feet, self.flight
        self._swing(t)
        stood = feet.stands.copy()
        if flight.is_up:
            self._fly(t)
        else:
            self._stand(t)
        feet.step(own, FRAME, self.contact.look_ahead(own))
        self.supports.remember(own, feet.stands)
        if flight.is_up:
            strung = own.state.root.copy()
            flight.place(own)  # legs that were led have moved the centre of mass
            flight.shift[:] = own.state.root - strung
        else:
            own.update()
            # A body that rises out of the ground, since a foot is on a step, is not thrown.
            if self.contact.over.min() > -DEEP and flight.releases(own, FRAME):
                self._take_off()
            else:
                flight.remember(own)
        self._note_stances(stood, t)

    def _swing(self, t: float) -> None:
        """Advance the marionette by a frame, and write its pose and angular velocities."""
        own, marionette = self.own, self.marionette
        self.mixer.update_targets(t, FRAME)
        if t < self.lifted_at + _HANDS_RETURN:
            u = (t - self.lifted_at) / _HANDS_RETURN
            self.mixer.scale_targets(u * u * (3.0 - 2.0 * u))
        if t < self.begun + BLEND and self._blend is not None:  # strings tighten
            u = (t - self.begun) / BLEND
            marionette.tension *= max(u * u * (3.0 - 2.0 * u), _SLACKEST) ** 2
        marionette.step(FRAME)
        self._pose(own.state.q)
        # Rates are differences, and differences of those are noise: a support is anchored with its velocity alone.
        own.state.w[:] = rotation.log(rotation.multiply(rotation.conjugate(self.last), own.state.q)) / FRAME
        self.last[:] = own.state.q

    def _stand(self, t: float) -> None:
        """Hang the root from its anchored support."""
        feet, supports = self.feet, self.supports
        supports.led[:] = feet.offset * (1.0, 0.0, 1.0)
        supports.strain[:] = lengths(supports.led) if feet.stands.all() else 0.0
        supports.held_back[:] = feet.is_held_back
        self.anchored.write(self.own, t)
        self.contact.update(self.own, self.anchored.current)

    def _take_off(self) -> None:
        """Be in the air in the frame that was made."""
        feet, flight = self.feet, self.flight
        self.marionette.in_contact[:] = feet.stands[:] = False
        feet.offset[:, 1] += feet.sunk  # the centre of mass is now where legs that were too short had lowered it
        feet.offset_speed[:, 1] += feet.sunk_speed
        feet.sunk = feet.sunk_speed = 0.0
        flight.shift[:] = 0.0
        flight.advance(FRAME)
        flight.place(self.own)

    def _fly(self, t: float) -> None:
        """Advance by a frame in the air; a foot that reaches the ground is anchored again."""
        own, before, flight, contact = self.own, self.own.state.root.copy(), self.flight, self.contact
        flight.advance(FRAME)
        flight.place(own)
        contact.update(own, self.anchored.current)
        if (flight.velocity[1] < 0.0 and contact.over.min() <= 0.0) or flight.is_over(FRAME):
            own.state.root += flight.shift  # as it was shown
            own.state.v[:], own.a[:] = (own.state.root - before) / FRAME, 0.0
            flight.reset()
            self.anchored.begin(own, t, starting=False)
            contact.update(own, self.anchored.current)
            self.marionette.in_contact |= contact.over < RELEASE

    def _note_stances(self, stood: np.ndarray, t: float) -> None:
        """Store when feet came down, and went up."""
        for side in range(2):
            if self.feet.stands[side] and not stood[side]:
                stance = [float(side), max(t, self._stances_from), math.inf]
                self.stances = [*self.stances[-MOST_STANCES:], stance]
            elif stood[side] and not self.feet.stands[side]:
                for each in reversed(self.stances):
                    if each[0] == side:
                        each[2] = t
                        break

    # The step.

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`."""
        return BodyModel(bends_toes=True)

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`. It makes frames once per step, in its middle: other times change nothing."""
        self._write(body, t)
        if self.clock.is_due(t, body.dt):
            self._make(body, t)

    def _write(self, body: Body, t: float) -> None:
        """Write rotations of its joints, the root's position, and their rates."""
        from poise.drivers.kinematic.frame_kernels import place_at, write_turns

        frames, (roots,) = self.frames, self.frames.others
        k, u = frames.find(t - self.begun)
        state, place = body.state, np.empty((3, 3))
        write_turns(frames.rotations, k, u, FRAME, 1.0, 0.0, self.joints, state.q, state.w, body.dw)
        place_at(roots[k - 1 : k + 3], u, FRAME, 1.0, 0.0, place)
        state.root[:], state.v[:], body.a[:] = place
        if self._blend is not None:
            self._blend.add(body, t)

    # Its state.

    def _own_arrays(self) -> dict[str, np.ndarray]:
        state = self.own.state
        return {"q": state.q, "w": state.w, "dw": self.own.dw, "root": state.root, "v": state.v, "a": self.own.a}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        return {
            **super().save(),
            "own": {name: array.copy() for name, array in self._own_arrays().items()},
            "blend": None if self._blend is None else self._blend.save(),
            "get_up": None if self.get_up is None else self.get_up.save(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        write_over(self._own_arrays(), saved["own"])
        blend, get_up = saved["blend"], saved["get_up"]
        self.get_up = None if get_up is None else GetUpBlend.load(get_up, self.own, FRAME)
        if blend is None:
            self._blend = None
        elif self._blend is None:
            self._blend = Transition.load(blend, self.own.arena)
        else:
            self._blend.restore(blend)


def _come_to_rest(marionette: Marionette) -> None:
    """Bring a marionette to rest at its targets, both feet down."""
    marionette.angles[0, 1] = marionette.target[0, 1]
    marionette.in_contact[:] = True
    for _ in range(round(_STARTS / FRAME)):
        marionette.step(FRAME)
    marionette.speeds[:] = 0.0
