"""Layers of a performance: the hands of each layer are filtered, mapped and mixed into a marionette's targets.

Every layer has its own hands, a recording or a live feed, and a mapping. If two layers move the same joint, the later
one replaces the earlier one by the fraction `weight`. [marionette, 4.3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poise.body.roles import SIDES
from poise.errors import InputError, finite_number
from poise.frozen import Portable
from poise.puppetry.hands import HandsSample, HandsSource
from poise.puppetry.mapping import AXES, CHAINS, STEMS, HandMapping, Route
from poise.puppetry.marionette import Marionette
from poise.puppetry.viscosity import Viscosity, check_alpha
from poise.spatial import rotation

_COLUMNS = {"left": 0, "up": 1, "ahead": 2, "grip": 3}  # of the filtered numbers of a hand
STIFFNESS_RANGE = 0.1, 9.0  # of a layer; the larger is also the largest tension of a joint
TARGET_KINDS = {"facing": 1, "carrier": 2}  # `Route.against`: numbers of `kernels.py`
_START = 0.25  # s around the start, in which the first sample of a hand counts from the start on


@dataclass(frozen=True, eq=False)
class PuppetLayer(Portable):
    """One layer of a performance.

    mapping    which joints its hands move
    hands      a recording (`HandsTake`) or a feed (`LiveHands`)
    weight     0 (mute) to 1, relative to the layers below it
    start      s, at which the recording's time is 0
    viscosity  above 0 (honey) to 1 (air); None: the mapping's
    stiffness  of the joints that it moves: 0.1 is slack, 1 the default, 9 tense
    """

    mapping: HandMapping
    hands: HandsSource
    weight: float = 1.0
    start: float = 0.0
    viscosity: float | None = None
    stiffness: float = 1.0

    def __post_init__(self) -> None:
        if not (hasattr(self.hands, "between") and hasattr(self.hands, "neutral")):
            raise InputError(f"the hands of a layer must be a HandsTake or LiveHands; got {type(self.hands).__name__}.")
        if not 0.0 <= finite_number(self.weight, "the weight of a layer") <= 1.0:
            raise InputError(f"the weight of a layer must be from 0 (mute) to 1; got {self.weight:g}.")
        finite_number(self.start, "the start of a layer")
        check_feel(self.viscosity, self.stiffness)

    @property
    def alpha(self) -> float:
        """Viscosity of its hands' filter."""
        return self.mapping.viscosity if self.viscosity is None else self.viscosity


def check_feel(viscosity: float | None, stiffness: float) -> None:
    """Raise InputError if a viscosity or a stiffness is out of range."""
    if viscosity is not None:
        check_alpha(viscosity)
    least, most = STIFFNESS_RANGE
    if not least <= finite_number(stiffness, "the stiffness of a layer") <= most:
        raise InputError(
            f"the stiffness of a layer must be from {least:g} (slack) to {most:g} (tense); got {stiffness:g}."
        )


class _FilteredHand:
    """One hand of a layer behind its filter.

    numbers, orientation  (4,) m, m, m and grip; (4,): filtered, at the time of the last `update`
    """

    def __init__(self, alpha: float):
        self.filter = Viscosity(alpha)
        self.buttons = 0
        self.numbers, self.orientation = np.zeros(4), rotation.identity()

    def add(self, t: float, sample: HandsSample, hand: int, neutral: np.ndarray | None) -> None:
        """Pass a sample of time t (s) to the filter."""
        position = sample.places[hand] if neutral is None else sample.places[hand] - neutral[hand]
        self.filter.feel(t, np.array([*position, float(sample.grips[hand])]), sample.turns[hand])
        self.buttons = int(sample.buttons[hand])

    def update(self, t: float) -> None:
        """Filter up to time t (s)."""
        if self.filter.time is not None:
            self.numbers, turns = self.filter.at(t)
            self.orientation = turns[0]

    def read(self, source: str) -> float:
        """Return one of its numbers, or 1 for a button that is pressed."""
        if source in _COLUMNS:
            return float(self.numbers[_COLUMNS[source]])
        return float(self.buttons >> (int(source.removeprefix("button")) - 1) & 1)


class _Route(NamedTuple):
    """A route of a mapping, resolved on a marionette."""

    route: Route
    hand: int  # 0 left, 1 right
    side: str  # of the joint: "left", "right" or ""
    rows: tuple[int, ...]  # that it moves


class LayerMixer:
    """Mixes the hands of layers into the targets of one marionette.

    heading  rad, accumulated facing direction
    """

    def __init__(self, body: Marionette, layers: Sequence[PuppetLayer], heading: float = 0.0):
        self.body, self.layers, self.heading = body, tuple(layers), heading
        self._read_until = [-np.inf] * len(self.layers)  # s of each layer's clock: time of its last sample
        self._hands = [(_FilteredHand(layer.alpha), _FilteredHand(layer.alpha)) for layer in layers]
        self._routes = [self._resolve(layer.mapping) for layer in layers]
        self._moved = [sorted({i for route in routes for i in route.rows}) for routes in self._routes]

    def adjust(self, layers: Sequence[PuppetLayer]) -> None:
        """Change weights, viscosities and stiffnesses of the layers."""
        same = [(layer.mapping.routes, layer.hands) for layer in layers]
        if same != [(layer.mapping.routes, layer.hands) for layer in self.layers]:
            raise InputError("the layers must be those that are played: only their weight and feel can be changed.")
        self.layers = tuple(layers)
        for layer, hands in zip(self.layers, self._hands, strict=True):
            for hand in hands:
                hand.filter.alpha = layer.alpha

    @property
    def lost(self) -> int:
        """Number of samples that were not used: hand not seen, not finite, or out of order."""
        return sum(hand.filter.ignored for pair in self._hands for hand in pair)

    def _resolve(self, mapping: HandMapping) -> list[_Route]:
        """Return the routes of a mapping with hand, side and rows, without those that move nothing."""
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
                found.append(_Route(route, hand, own, rows))
        return found

    def start_at(self, t: float) -> None:
        """Begin at time t (s): hands that are first seen shortly after it count from then on."""
        for number, (layer, hands) in enumerate(zip(self.layers, self._hands, strict=True)):
            self._read_until[number] = t - layer.start - _START
            first = next(iter(layer.hands.between(self._read_until[number], t - layer.start + _START)), None)
            if first is not None and first.time > t - layer.start:
                for k, hand in enumerate(hands):
                    hand.add(t - layer.start, first, k, layer.hands.neutral)

    def update_targets(self, t: float, dt: float) -> None:
        """Write the targets of the marionette at time t (s), dt seconds after the last time."""
        body = self.body
        body.target[:], body.target_kind[:], body.tension[:] = 0.0, 0, 1.0
        turned = 0.0
        for k, (layer, hands, routes) in enumerate(zip(self.layers, self._hands, self._routes, strict=True)):
            self._read(k, t)
            if layer.weight > 0.0 and any(hand.filter.time is not None for hand in hands):
                for route in routes:
                    turned += self._apply(route, hands[route.hand], layer.weight)
                if layer.stiffness != 1.0:
                    tense = body.tension[self._moved[k]] * (1.0 + layer.weight * (layer.stiffness - 1.0))
                    body.tension[self._moved[k]] = np.minimum(tense, STIFFNESS_RANGE[1])
        self.heading += turned * dt
        body.target[0, 1] += self.heading

    def scale_targets(self, fraction: float) -> None:
        """Scale what hands move by a fraction, 0 to 1; the accumulated heading stays."""
        body = self.body
        heading = body.target[0, 1]
        body.target *= fraction
        body.target[0, 1] = self.heading + fraction * (heading - self.heading)
        oriented = body.target_kind > 0
        body.target_orientation[oriented] = rotation.exp(fraction * rotation.log(body.target_orientation[oriented]))

    def _read(self, number: int, t: float) -> None:
        """Filter a layer's samples up to time t. Live samples may arrive after the frames of their time were made."""
        layer, hands = self.layers[number], self._hands[number]
        for sample in layer.hands.between(self._read_until[number], t - layer.start):
            self._read_until[number] = sample.time
            for k, hand in enumerate(hands):
                hand.add(sample.time, sample, k, layer.hands.neutral)
        for hand in hands:
            hand.update(t - layer.start)

    def _apply(self, resolved: _Route, hand: _FilteredHand, weight: float) -> float:
        """Apply a route to the targets; return the rate (rad/s) by which it changes the heading."""
        body, (route, _, side, rows) = self.body, resolved
        if route.source == "turn":
            self._orient(resolved, hand, weight)
            return 0.0
        x = hand.read(route.source)
        x -= min(max(x, -route.rest), route.rest)
        value = route.at + route.gain * x
        if route.joint == "heading":
            return weight * value
        if route.joint == "tension":
            chosen = [i for i, label in enumerate(body.labels) if label.endswith(route.axis)]
            for i in chosen:
                body.tension[i] += weight * (min(max(value, 0.0), STIFFNESS_RANGE[1]) - body.tension[i])
            return 0.0
        axis, value = AXES[route.axis], route.sign(side) * value / len(rows)
        for i in rows:
            body.target[i, axis] += weight * (value - body.target[i, axis])
        return 0.0

    def _orient(self, resolved: _Route, hand: _FilteredHand, weight: float) -> None:
        """Turn joints as the hand is turned, by the route's gain, in equal parts."""
        body, (route, _, _, rows) = self.body, resolved
        whole = rotation.log(hand.orientation) * route.gain * weight / len(rows)
        if rows == (0,):
            body.target[0] += whole
            return
        is_direct = route.gain == 1.0 and weight == 1.0 and len(rows) == 1
        part = hand.orientation if is_direct else rotation.exp(whole)
        for i in rows:
            body.target_kind[i] = TARGET_KINDS[route.against]
            body.target_orientation[i] = part

    def save(self) -> dict[str, Any]:
        """Return its state as plain data."""
        hands = [{**hand.filter.save(), "buttons": hand.buttons} for pair in self._hands for hand in pair]
        return {"heard": list(self._read_until), "heading": self.heading, "hands": hands}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore what `save` returned."""
        self._read_until, self.heading = list(saved["heard"]), saved["heading"]
        for hand, state in zip((hand for pair in self._hands for hand in pair), saved["hands"], strict=True):
            hand.filter.restore(state)
            hand.buttons = state["buttons"]
