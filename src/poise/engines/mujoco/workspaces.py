"""Workspaces: `MjData` that many bodies take turns at.

Nearly all of a body's `MjData`, some fifty kilobytes, is what a step works out on the way to the next state. With one
for each of hundreds of bodies it has left the processor's caches before it is used again. To a workspace, of which each
thread has one, a body brings only its state, and takes it away again:

    before   qpos, qvel, qacc_warmstart and qfrc_applied as its last step began
    after    qpos, qvel and qacc_warmstart as that step ended

So it gets ahead of its own `MjData`. Before that is read, the last step is made again in it (`catch_up`), to the same
bits: the step is a function of those numbers and of the model, which stays the body's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.engines.engine import Simulation, Workspaces

if TYPE_CHECKING:
    from poise.engines.mujoco.kernels import MujocoState

_MANY = 8  # bodies of a structure, from which on they take turns
# What a workspace is laid out by: all sizes but those of names, and how joints and shapes hang together; not what kind
# of shape each is, nor which pairs do not touch.
_NOT_SIZES = ("nnames", "nnames_map", "npaths", "ntext", "ntextdata", "nbuffer", "nexclude")
_STRUCTURE = (
    "body_parentid", "body_jntnum", "body_geomnum", "jnt_type", "dof_parentid", "geom_bodyid", "eq_type",
)  # fmt: skip


class PendingStep:
    """The state of a body that is ahead of its own `MjData`.

    steps  (1,) made at workspaces since that was current
    """

    def __init__(self, model: Any):
        self.steps = np.zeros(1, np.int64)
        self.before = np.zeros(model.nq + 3 * model.nv)
        self.after = np.zeros(model.nq + 2 * model.nv)

    def catch_up(self, model: Any, data: Any, step: Callable[[], None]) -> None:
        """Make the last step again in the body's own `MjData`."""
        q, v = model.nq, model.nv
        data.time += (int(self.steps[0]) - 1) * model.opt.timestep
        data.qpos, data.qvel = self.before[:q], self.before[q : q + v]
        data.qacc_warmstart, data.qfrc_applied = self.before[q + v : q + 2 * v], self.before[q + 2 * v :]
        step()
        data.qvel = self.after[q : q + v]  # in flight the root's velocity is corrected after the step
        self.steps[0] = 0


class StateWorkspaces(Workspaces):
    """A workspace for each structure of body and each thread."""

    def __init__(self, threads: int):
        self._threads = threads
        self._data: dict[str, list[tuple[Any, MujocoState]]] = {}
        self.addresses = np.zeros((threads, 0), np.int64)

    def set_up(self, simulations: Sequence[Simulation]) -> list[int] | None:
        """See `Workspaces.set_up`: what fewer than some of a structure have is in the caches anyway."""
        import mujoco

        found = [_structure(simulation) for simulation in simulations]
        structures = [structure for structure in found if structure is not None]
        if len(structures) < len(found) or len(found) < _MANY * len(set(structures)):
            return None
        models = dict(zip(structures, (simulation.model for simulation in simulations), strict=True))  # type: ignore[attr-defined]
        self._data = {
            key: self._data.get(key) or [build_state(mujoco.MjData(model)) for _ in range(self._threads)]
            for key, model in models.items()
        }
        rows = [[each[k][1].address for each in self._data.values()] for k in range(self._threads)]
        self.addresses = np.array(rows, np.int64).reshape(self._threads, -1)
        numbers = {key: k for k, key in enumerate(self._data)}
        return [numbers[structure] for structure in structures]

    def bring_back(self, simulations: Sequence[Simulation]) -> None:
        """See `Workspaces.bring_back`."""
        for simulation in simulations:
            _ = simulation.data  # type: ignore[attr-defined]


def _structure(simulation: Simulation) -> str | None:
    """Return the structure of a simulation; None if it cannot use a workspace."""
    return simulation.structure if simulation.can_move else None  # type: ignore[attr-defined]


def build_state(data: Any) -> tuple[Any, MujocoState]:
    """Return an `MjData`, and the layout of the state in it."""
    from poise.engines.mujoco.kernels import MujocoState

    return data, MujocoState(
        nq=len(data.qpos), nv=len(data.qvel), data=int(data._address), qpos=data.qpos, qvel=data.qvel,
        warmstart=data.qacc_warmstart, applied=data.qfrc_applied, constraint=data.qfrc_constraint,
    )  # fmt: skip


def find_structure(model: Any) -> str:
    """Return a text that is equal for models that can be stepped in one another's `MjData`."""
    sizes = [(name, getattr(model, name)) for name in dir(model) if name.startswith("n") and name not in _NOT_SIZES]
    found = hashlib.sha256(repr([size for size in sizes if isinstance(size[1], int)]).encode())
    for name in _STRUCTURE:
        found.update(getattr(model, name).tobytes())
    return found.hexdigest()
