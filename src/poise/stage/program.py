"""An actor as a row of addresses that compiled code can run: see `program_kernels.py`.

Only what is common is compiled: exact coupling, kinematic parts, a balance, springs, pushes, MuJoCo. Whatever else an
actor has (a driver of your own, a prop that carries it) runs by the readable path of
`actor.py`, with the same laws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.drivers.kinematic import KinematicPlayer
from poise.drivers.loose import LoosePlayer
from poise.drivers.root import FreePlayer
from poise.engines.mujoco import MujocoSimulation
from poise.spatial.arena import Arena

if TYPE_CHECKING:
    from poise.engines.engine import Simulation
    from poise.stage.actor import Actor


class Program:
    """One actor's row, and everything that must stay where it is in memory for as long as the row is used."""

    def __init__(self, actor: Actor, simulation: MujocoSimulation, body: int):
        from poise.stage import program_kernels as at

        self.actor, self.simulation = actor, simulation
        self._at = at
        self._keep: list[Any] = []
        self._arena = Arena(1200 * (len(actor.rig.tree) + 8))
        self.row = np.zeros(at.ADDRESSES, np.int64)
        self.numbers = self._arena.zeros(at.NUMBER_COUNT)
        self.sizes = self._arena.zeros(at.SIZE_COUNT, dtype=np.int64)
        self._fill_rig()
        self._fill_balance()
        self._fill_engine(body)
        self.refresh()

    def refresh(self) -> None:
        """Look again at what may be another array than before: tracks, springs and pushes."""
        at, actor = self._at, self.actor
        self._tables: list[Any] = []
        parts, springs = [], []
        for player in actor.players:
            if isinstance(player, KinematicPlayer):
                parts.append(self._part_row(player))
            elif isinstance(player, LoosePlayer):
                springs.append(self._spring_row(player))
        self._set_table(at.PARTS, np.array(parts, np.int64).reshape(-1, at.PART_COLUMNS))
        self._set_table(at.SPRINGS, np.array(springs, np.int64).reshape(-1, at.SPRING_COLUMNS))
        self._set_table(at.PUSHES, actor.list_pushes())
        self.sizes[[at.PART_COUNT, at.SPRING_COUNT, at.PUSH_COUNT]] = len(parts), len(springs), len(actor.pushes)
        self.numbers[at.GAIN] = actor.stage.gain
        self.set_clock(actor.stage.steps)

    def set_clock(self, steps: int) -> None:
        """Say how many steps the stage has made."""
        self.numbers[self._at.STEPS] = steps

    def stand_again(self) -> None:
        """Forget that the balance was lost."""
        self.numbers[self._at.LOST_AT] = -1.0

    @property
    def lost_at(self) -> float:
        """s, when the balance was lost; negative if it was not."""
        return float(self.numbers[self._at.LOST_AT])

    def _fix(self, place: int, array: np.ndarray) -> None:
        """Set what does not change for as long as the program is used: a copy, next to the others in memory."""
        self._set(place, self._arena.copy(np.ascontiguousarray(array)))

    def _set(self, place: int, array: np.ndarray, keep: list[Any] | None = None) -> None:
        if not array.flags.c_contiguous:
            raise TypeError("a program needs arrays whose numbers lie next to one another in memory.")
        (self._keep if keep is None else keep).append(array)
        self.row[place] = array.ctypes.data

    def _set_table(self, place: int, table: np.ndarray) -> None:
        self._set(place, table if table.size else np.zeros(1, table.dtype), self._tables)

    def _fill_rig(self) -> None:
        at, actor, rig = self._at, self.actor, self.actor.rig
        tree, state = rig.tree, rig.state
        for place, array in {
            at.PARENTS: tree.parents, at.OFFSETS: tree.offsets, at.MASSES: tree.masses, at.CENTERS: tree.centers,
            at.INERTIAS: tree.inertias, at.ACCELERATING: actor.accelerating, at.TOUCHED: actor.touched,
        }.items():  # fmt: skip
            self._fix(place, array)
        for place, array in {
            at.ROOT: state.root, at.Q: state.q, at.V: state.v, at.W: state.w,
            at.DW: rig.dw, at.A: rig.a, at.R_: rig.R, at.P_: rig.p, at.OM: rig.om, at.VEL: rig.v, at.C_: rig.c,
            at.DC: rig.dc, at.TORQUE: rig.torque, at.DAMPING: rig.damping, at.WRENCH: rig.wrench, at.F_: rig.f,
            at.N_: rig.n, at.WORK: actor.work,
            at.COUPLING: actor.coupling, at.W_BEFORE: actor.w_before, at.V_BEFORE: actor.v_before,
            at.NUMBERS: self.numbers, at.SIZES: self.sizes, at.FLOOR: rig.floor.record,
        }.items():  # fmt: skip
            self._set(place, array)
        self.sizes[at.JOINTS] = len(tree)
        numbers = {at.DT: rig.dt, at.GAIN: actor.stage.gain, at.ORIGIN: 0.0, at.LOST_AT: -1.0}
        for place, number in numbers.items():
            self.numbers[place] = number

    def _fill_engine(self, body: int) -> None:
        at, simulation = self._at, self.simulation
        layout, model, data, away = simulation.layouts[body], simulation.model, simulation.data, simulation.away
        for place, array in {
            at.KIND: layout.kind, at.QADR: layout.qadr, at.VADR: layout.vadr, at.COUNT: layout.count,
            at.AXES: layout.axes, at.BUILT: layout.built, at.GIVEN: layout.given, at.GIVEN_BODIES: layout.given_bodies,
        }.items():  # fmt: skip
            self._fix(place, array)
        for place, array in {
            at.QPOS: data.qpos, at.QVEL: data.qvel, at.QFRC: data.qfrc_applied, at.WARM: data.qacc_warmstart,
            at.DOF_DAMPING: model.dof_damping, at.BODY_QUAT: model.body_quat, at.BEFORE: away.before,
            at.AFTER: away.after, at.AHEAD: away.steps,
        }.items():  # fmt: skip
            self._set(place, array)
        self.sizes[[at.GIVEN_COUNT, at.QPOS_SIZE, at.QVEL_SIZE]] = len(layout.given), model.nq, model.nv
        self.sizes[at.BODY_COUNT] = model.nbody
        self.row[[at.MODEL, at.DATA, at.STEP]] = simulation.addresses()
        self._keep += [model, data, self.actor.rig.floor]

    def _fill_balance(self) -> None:
        at, balance = self._at, self.actor.balance
        if balance is None:
            self._set(at.LEGS, np.zeros((2, 3), np.int64))
            self._set(at.CORNERS, np.zeros((2, 4, 3)))
            return
        self.sizes[[at.IS_BALANCED, at.HOLDS]] = 1, 1
        self.numbers[at.LOST] = np.inf if balance.driver.pinned else balance.lost
        for place, array in {
            at.LEGS: balance.legs, at.LIMB: balance.limb, at.CORNERS: balance.corners, at.INERTIA: balance.inertia,
            at.GAINS: balance.gains, at.LEG_DAMPING: balance.damping, at.SWING: balance.swing,
        }.items():  # fmt: skip
            self._fix(place, array)
        for place, array in {
            at.AIM: balance.aim, at.HABIT: balance.habit, at.TOLD: balance.told, at.ANCHORS: balance.anchors,
            at.TURNS: balance.turns, at.SPOTS: balance.work[0], at.BEARING: balance.work[1], at.HULL: balance.work[2],
            at.LOADS: balance.work[3], at.FLOORS: balance.floors,
        }.items():  # fmt: skip
            self._set(place, array)
        if balance.way is not None:
            way = balance.way
            self.sizes[[at.WAY_COUNT, at.WAY_COLUMNS]] = way.aims.shape
            self.numbers[at.WAY_START] = balance.driver.follow_start
            self._set(at.WAY_TIMES, way.times)
            self._set(at.WAY_AIMS, way.aims)
            self._set(at.WAY_HABITS, way.habits)
            self._set(at.WAY_MEMORY, way.memory)

    def _part_row(self, player: KinematicPlayer) -> list[int]:
        track, old = player.track, player.old
        arrays = [
            player.joints, len(player.joints), player.part, track.knots, len(track.knots), track.turns, track.rates,
            player.clock, old.knots, len(old.knots), old.turns, player.old_clock, player.offset, player.q, player.w,
            player.dw,
        ]  # fmt: skip
        return self._addresses(arrays)

    def _spring_row(self, player: LoosePlayer) -> list[int]:
        arrays = [
            player.joints,
            len(player.joints),
            player.stiffness,
            player.damping,
            player.aim,
            player.lead,
            player.fade,
        ]
        return self._addresses(arrays)

    def _addresses(self, arrays: list[Any]) -> list[int]:
        self._tables += [array for array in arrays if isinstance(array, np.ndarray)]
        return [array.ctypes.data if isinstance(array, np.ndarray) else int(array) for array in arrays]


def can_compile(actor: Actor, simulation: Simulation) -> bool:
    """Whether all that an actor has is among what programs know."""
    stage, balance = actor.stage, actor.balance
    if stage.ground is not None and stage.ground.moves:
        return False
    if not isinstance(simulation, MujocoSimulation) or stage.couple != "exact" or actor.carrier is not None:
        return False
    if bool(actor.given[0]) or any(prop.inertia is not None for prop in stage.props.values()):
        return False
    if balance is not None and balance.gone is not None:
        return False
    known = (KinematicPlayer, LoosePlayer, FreePlayer)
    return all(isinstance(player, known) or player is balance for player in actor.players)
