"""What the joints of a body are asked for, and when that is more than they can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.body.strength import find_strength

if TYPE_CHECKING:
    from poise.stage.actor import Actor

_FIRST = 20  # steps in which a body that was put down settles; its efforts are not told


class Effort:
    """Torques of one actor, beside its strength.

    strength     (J,) N m
    is_strained  whether a kinematic joint was asked for more than that when it was last measured
    """

    def __init__(self, actor: Actor):
        self._actor = actor
        self.strength = find_strength(actor.character)
        self.is_strained = False

    def measure(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque (J, 3) N m at each joint in body axes, and effort (J,): its share of the joint's strength.

        Given joints: by inverse dynamics, from the connectors' accelerations over the last step. Others: what their
        drivers and dampers gave.
        """
        from poise.stage import measure_kernels as kernels

        body, given = self._actor.body, self._actor.given
        j, x = len(body.tree), body.block
        work, torque, effort = np.empty((kernels.WORK, j, 3)), np.empty((j, 3)), np.empty(j)
        hardest = kernels.measure(
            x["parents"], x["masses"], x["centers"], x["inertias"], body.R, body.p, body.om, body.state.w, body.state.v,
            body.w_before, body.v_before, body.dw, given, body.torque, body.damping, body.axial, body.gravity,
            self.strength, body.dt, work, torque, effort,
        )  # fmt: skip
        self.tell(hardest, effort)
        return torque, effort

    def tell(self, hardest: int, efforts: np.ndarray) -> None:
        """The given joint that was asked for most, of all efforts (J,)."""
        self._tell(hardest, float(efforts[hardest]) if self._actor.given[hardest] else 0.0)

    def _tell(self, hardest: int, effort: float) -> None:
        """Tell once when a kinematic joint is asked for more than its strength, and again after it has rested."""
        actor = self._actor
        if effort > 1.0 and not self.is_strained and actor.stage.steps > _FIRST:
            label = actor.character.skeleton.labels[hardest]
            actor.tell("effort", f"{label} is asked for {effort:.2f} of its strength")
        self.is_strained = effort > (0.9 if self.is_strained else 1.0)
