"""The strings of a marionette: layers of hands, through something viscous, to the targets of its joints.

Every layer has hands of its own, a recording or a live feed, and a mapping. Layers are laid over one another in their
order: where two move the same joint, the later one has it by its `weight`. [marionette, 4.3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.roles import SIDES
from poise.errors import InputError, finite_number
from poise.frozen import Portable
from poise.puppetry.hands import HandsSource
from poise.puppetry.mapping import AXES, CHAINS, STEMS, HandMapping, Route
from poise.puppetry.marionette import Marionette
from poise.puppetry.viscosity import Viscosity, check_alpha
from poise.spatial import rotation

_PLACES = {"left": 0, "up": 1, "ahead": 2, "grip": 3}
LEAST_STIFF, TENSEST = 0.1, 9.0
_PRIMES = 0.25  # s: hands that are first seen within it are taken to have been there from the start


@dataclass(frozen=True, eq=False)
class PuppetLayer(Portable):
    """One layer of a performance.

    mapping    what its hands mean
    hands      a recording (`HandsTake`) or a feed (`LiveHands`)
    weight     0 (mute) to 1 (whole), against the layers below it
    start      s, at which the recording's time is 0
    viscosity  above 0 (honey) to 1 (air); None: as the mapping has it
    stiffness  of the joints that it moves: 0.1 is slack, 1 usual, 9 tense
    """

    mapping: HandMapping
    hands: HandsSource
    weight: float = 1.0
    start: float = 0.0
    viscosity: float | None = None
    stiffness: float = 1.0

    def __post_init__(self) -> None:
        if not (hasattr(self.hands, "between") and hasattr(self.hands, "neutral")):
            raise InputError(
                f"a layer is played by hands, a HandsTake or LiveHands; given {type(self.hands).__name__}."
            )
        if not 0.0 <= finite_number(self.weight, "the weight of a layer") <= 1.0:
            raise InputError(f"the weight of a layer is from 0 (mute) to 1 (whole); {self.weight:g} given.")
        finite_number(self.start, "the start of a layer")
        check_feel(self.viscosity, self.stiffness)

    @property
    def alpha(self) -> float:
        """The viscosity that its hands are felt through."""
        return self.mapping.viscosity if self.viscosity is None else self.viscosity


def check_feel(viscosity: float | None, stiffness: float) -> None:
    """Refuse a viscosity or a stiffness that no layer has."""
    if viscosity is not None:
        check_alpha(viscosity)
    if not LEAST_STIFF <= finite_number(stiffness, "the stiffness of a layer") <= TENSEST:
        raise InputError(
            f"the stiffness of a layer is from {LEAST_STIFF:g} (slack) to {TENSEST:g} (tense); {stiffness:g} given."
        )


class _Felt:
    """One hand of a layer, as it is felt."""

    def __init__(self, alpha: float):
        self.filter = Viscosity(alpha)
        self.buttons = 0
        self.tell = np.zeros(4), rotation.identity()

    def feel(self, t: float, place: np.ndarray, turn: np.ndarray, grip: float, buttons: int) -> None:
        self.filter.feel(t, np.array([*place, grip]), turn)
        self.buttons = buttons

    def at(self, t: float) -> None:
        if self.filter.time is not None:
            numbers, turns = self.filter.at(t)
            self.tell = numbers, turns[0]

    def read(self, source: str) -> float:
        """One number of it."""
        if source in _PLACES:
            return float(self.tell[0][_PLACES[source]])
        return float(self.buttons >> (int(source.removeprefix("button")) - 1) & 1)


class Strings:
    """Layers at work on one marionette.

    heading  rad, which way it was turned to so far
    lost     samples that could not be used
    """

    def __init__(self, body: Marionette, layers: Sequence[PuppetLayer], heading: float = 0.0):
        self.body, self.layers, self.heading = body, tuple(layers), heading
        self._heard = [-np.inf] * len(self.layers)  # s of each layer's clock: the last sample that came
        self._felt = [(_Felt(layer.alpha), _Felt(layer.alpha)) for layer in layers]
        self._routes = [self._compile(layer.mapping) for layer in layers]
        self._moved = [sorted({i for *_, rows in routes for i in rows}) for routes in self._routes]

    def adjust(self, layers: Sequence[PuppetLayer]) -> None:
        """Have the same layers with other weights, viscosities and stiffnesses from now on."""
        same = [(layer.mapping.routes, layer.hands) for layer in layers]
        if same != [(layer.mapping.routes, layer.hands) for layer in self.layers]:
            raise InputError("other layers than those that are played: only their weights and feel can be changed.")
        self.layers = tuple(layers)
        for layer, hands in zip(self.layers, self._felt, strict=True):
            for hand in hands:
                hand.filter.alpha = layer.alpha

    @property
    def lost(self) -> int:
        """Samples that could not be used: not seen, not finite, out of order."""
        return sum(hand.filter.ignored for pair in self._felt for hand in pair)

    def _compile(self, mapping: HandMapping) -> list[tuple[Route, int, str, tuple[int, ...]]]:
        """Routes with the number of a hand, the side, and the rows that they move; without those that move nothing."""
        found, labels = [], self.body.labels
        for route in mapping.routes:
            sides = SIDES if route.joint in STEMS else ("",)
            for side in sides:
                name = side + route.joint
                hand = SIDES.index(side or ("left" if route.hand == "each" else route.hand))
                if route.joint in ("heading", "tension"):
                    rows: tuple[int, ...] = ()
                elif route.joint == "hips":
                    rows = (0,)
                else:
                    rows = tuple(labels.index(each) for each in CHAINS.get(name, (name,)) if each in labels)
                    if not rows:
                        continue
                own = side or next((each for each in SIDES if name.startswith(each)), "")
                found.append((route, hand, own, rows))
        return found

    def prime(self, t: float) -> None:
        """Have hands that are first seen shortly after time t be there already."""
        for number, (layer, hands) in enumerate(zip(self.layers, self._felt, strict=True)):
            self._heard[number] = t - layer.start - _PRIMES  # of what was before, the last quarter of a second
            first = next(iter(layer.hands.between(self._heard[number], t - layer.start + _PRIMES)), None)
            neutral = layer.hands.neutral
            if first is not None and first.time > t - layer.start:
                for k, hand in enumerate(hands):
                    place = first.places[k] if neutral is None else first.places[k] - neutral[k]
                    hand.feel(t - layer.start, place, first.turns[k], float(first.grips[k]), int(first.buttons[k]))

    def pull(self, t: float, dt: float) -> None:
        """Set the targets of the marionette at time t (s), dt seconds after the last time."""
        body = self.body
        body.target[:], body.sort[:], body.tension[:] = 0.0, 0, 1.0
        turned = 0.0
        for k, (layer, hands, routes) in enumerate(zip(self.layers, self._felt, self._routes, strict=True)):
            self._feel(k, layer, hands, t)
            if layer.weight > 0.0 and any(hand.filter.time is not None for hand in hands):
                for route, hand, side, rows in routes:
                    turned += self._route(route, hands[hand], side, rows, layer.weight)
                if layer.stiffness != 1.0:
                    tense = body.tension[self._moved[k]] * (1.0 + layer.weight * (layer.stiffness - 1.0))
                    body.tension[self._moved[k]] = np.minimum(tense, TENSEST)
        self.heading += turned * dt
        body.target[0, 1] += self.heading

    def weaken(self, share: float) -> None:
        """Have what hands pull to be a share of it, 0 to 1: at 0 they do nothing, but for where it is turned to."""
        body = self.body
        heading = body.target[0, 1]
        body.target *= share
        body.target[0, 1] = self.heading + share * (heading - self.heading)
        pulled = body.sort > 0
        body.aim[pulled] = rotation.exp(share * rotation.log(body.aim[pulled]))

    def _feel(self, number: int, layer: PuppetLayer, hands: tuple[_Felt, _Felt], t: float) -> None:
        # What came since: live hands are heard late, after frames of their time were made.
        for sample in layer.hands.between(self._heard[number], t - layer.start):
            self._heard[number] = sample.time
            neutral = layer.hands.neutral
            for k, hand in enumerate(hands):
                place = sample.places[k] if neutral is None else sample.places[k] - neutral[k]
                hand.feel(sample.time, place, sample.turns[k], float(sample.grips[k]), int(sample.buttons[k]))
        for hand in hands:
            hand.at(t - layer.start)

    def _route(self, route: Route, hand: _Felt, side: str, rows: tuple[int, ...], weight: float) -> float:
        """Do what a route says; rad/s that it turns the heading by."""
        body = self.body
        if route.source == "turn":
            self._turn(route, hand, rows, weight)
            return 0.0
        x = hand.read(route.source)
        x -= min(max(x, -route.rest), route.rest)
        value = route.at + route.gain * x
        if route.joint == "heading":
            return weight * value
        if route.joint == "tension":
            chosen = [i for i, label in enumerate(body.labels) if label.endswith(route.axis)]
            for i in chosen:
                body.tension[i] += weight * (min(max(value, 0.0), TENSEST) - body.tension[i])
            return 0.0
        axis, value = AXES[route.axis], route.sign(side) * value / len(rows)
        for i in rows:
            body.target[i, axis] += weight * (value - body.target[i, axis])
        return 0.0

    def _turn(self, route: Route, hand: _Felt, rows: tuple[int, ...], weight: float) -> None:
        """Bones turned as the hand is: all of it, or some of it, each its part."""
        body, turn = self.body, hand.tell[1]
        whole = rotation.log(turn) * route.gain * weight / len(rows)
        if rows == (0,):
            body.target[0] += whole
            return
        part = turn if route.gain == 1.0 and weight == 1.0 and len(rows) == 1 else rotation.exp(whole)
        for i in rows:
            body.sort[i] = 1 if route.against == "facing" else 2
            body.aim[i] = part

    def save(self) -> dict[str, Any]:
        """All that changes, as plain data."""
        hands = []
        for pair in self._felt:
            for hand in pair:
                f = hand.filter
                hands.append(
                    {"time": f.time, "numbers": f.numbers.copy(), "turns": f.turns.copy(), "told": f._numbers.copy(),
                     "turned": f._turns.copy(), "ignored": f.ignored, "buttons": hand.buttons}
                )  # fmt: skip
        return {"heard": list(self._heard), "heading": self.heading, "hands": hands}

    def restore(self, saved: dict[str, Any]) -> None:
        """Be again what was saved."""
        self._heard, self.heading = list(saved["heard"]), saved["heading"]
        for hand, kept in zip((hand for pair in self._felt for hand in pair), saved["hands"], strict=True):
            f = hand.filter
            f.time, f.ignored, hand.buttons = kept["time"], kept["ignored"], kept["buttons"]
            f.numbers, f.turns = kept["numbers"].copy(), kept["turns"].reshape(-1, 4).copy()
            f._numbers, f._turns = kept["told"].copy(), kept["turned"].reshape(-1, 4).copy()
