"""Torques of an actor's joints compared with their strength, and the events of an overload (W13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.body.strength.static import static_strength
from poise.stage.take.take import Event

if TYPE_CHECKING:
    from poise.stage.actor import Actor
SETTLING = 0.1  # s after an actor begins, in which its feet settle on the ground: an overload is reported after that


class Effort:
    """Torques of one actor, compared with its strength.

    strength  (J,) N m
    strained  (J,) bool, kinematic joints whose overload was reported and lasts: above 1, until it is below 0.9
    began     (1,) s, when the actor was put down
    loads     data of the kernel `measure`
    """

    def __init__(self, actor: Actor):
        from poise.stage.monitor.kernels import JointLoads

        self._actor = actor
        self.strength = static_strength(actor.character)
        self.strained = np.zeros(len(self.strength), bool)
        self.began = np.zeros(1)
        self.loads = JointLoads(
            joints=len(self.strength), given=actor.given, strength=self.strength, strained=self.strained
        )

    def begin(self, t: float) -> None:
        """Start at time t (s), when the actor is put down."""
        self.began[:] = t
        self.strained[:] = False

    def measure(self) -> tuple[np.ndarray, np.ndarray]:
        """Like `compute`, and report overloads that begin or end."""
        torque, effort, changed = self._compute()
        if changed:
            self.report(effort)
        return torque, effort

    def compute(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the torque (J, 3) N m at each joint in body axes, and the effort (J,): torque over strength.

        Given joints: by inverse dynamics, from the connectors' accelerations over the last step. Others: the torque of
        their drivers and dampers.
        """
        return self._compute()[:2]

    def _compute(self) -> tuple[np.ndarray, np.ndarray, int]:
        from poise.stage.monitor.kernels import measure_at

        changed = measure_at(self._actor.body.block.address, self.loads.address)
        return self.loads.torque.copy(), self.loads.effort.copy(), changed

    def watch(self) -> None:
        """Measure the present step and report, leaving the body as it is: for an actor that no take records."""
        actor, body = self._actor, self._actor.body
        with body.preserved():
            actor.show(actor.stage.time)
            _, effort, changed = self._compute()
        if changed:
            self.report(effort)

    def report(self, effort: np.ndarray) -> None:
        """Report every kinematic joint whose overload begins or ends, given all efforts (J,)."""
        from poise.stage.monitor.kernels import is_over

        actor, t = self._actor, self._actor.stage.time
        if t < self.began[0] + SETTLING - 1e-9:
            return
        over = np.array([is_over(*each) for each in zip(effort, actor.given, self.strained, strict=True)])
        changed = np.flatnonzero(over != self.strained)
        self.strained[:] = over  # before a listener acts on it
        for i in changed:
            joint, value = actor.character.skeleton.labels[i], float(effort[i])
            kind = "effort" if over[i] else "effort-ended"
            words = f"{joint}: torque is {value:.2f} of its strength" + ("" if over[i] else " again")
            actor.report_event(Event(t, actor.name, kind, words, joint, effort=value))
