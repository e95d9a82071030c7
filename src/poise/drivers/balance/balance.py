"""Balance: legs that keep a body on its feet, whatever the rest of it does (W7).

To the description of Wooten and Hodgins' controller in the mix paper, section 3.4: the centre of mass, position *and*
velocity, is brought to a target over the support at a hip height, by torques at hips, knees and ankles. Built the other
way round from theirs, so that nothing has to be tuned. What is wanted is said of the body as a whole:

    F = m (-w k (c - c*) - (w + k) c' - g)   the ground's force: the capture point c + c'/w returns to the target c*
    F_y                                      from the hips' height, a spring and a damper
    M = I (a_r e - b_r omega)                its moment about the centre of mass: e turns the hips to their orientation

with w = sqrt(g / h) and k = w / 2 times the stiffness. People keep their centre of mass still while their arms move,
and so move hips and head against the arms: the arms' shift of the centre of mass is made up for by the rest of the
body, as it arises. The pelvis leans with it (`counter_lean`, `drivers/counterpoise/kernels.py`).

`hold` is how much of F is so. The rest of it holds the hips p instead, which then go along with the arms:

    F = m (-a (p + d - c*) - b p' - g)
    d' = (c - p - d) / T                     d: from the hips to the centre of mass, averaged over the last T

What lasts longer than T (an arm held out, a load) is made up for under that law too. Where the capture point has gone
further than arms take it, all of F is by the first law.

The ground can give such a force only through the soles, so the pressure centre s of M = (s - c) x F is clamped to their
hull, and F with it: whatever can be recovered without a step, up to the capture point at the edge (an impulse of
m w d), is. The corners of the soles share F as evenly as they can without pulling, friction included, and the legs hand
those forces on: the torques that hold them in equilibrium with the leg's own weight. No foot is ever asked for a
pressure outside its sole, so feet stay flat; no inverse of a Jacobian is taken, so a straight knee is no special case.

Where nothing is wrong the pressure centre keeps further in, to where both feet carry a part of the load and no sole is
pressed near its edge: a foot that carries next to nothing is dragged along by its leg. What then cannot be had is taken
from F, so that hips give way to the arms instead of tilting. It may go out as far as a fall is caught from. Who is
asked for more than that, as of late, is damped critically and bends his knees by some 20 degrees: a leg that is
straight cannot follow hips that turn, and takes its foot along.

Everything is in units of the body's own mass, inertia and w (the scaling of Hodgins and Pollard 1997, time as the root
of length), so one stiffness does for a child and a giant. What the arms do is not fed forward: it disturbs, and sways.

When the centre of mass is past saving, the legs give up and go limp, and so does all that does not keep on: `fell` is
then a matter of time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing, leg_length
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.compiled.law import Block, Law
from poise.drivers.balance import settings as record
from poise.drivers.balance.reference import BalanceReference, build_following
from poise.drivers.balance.support_polygon import find_outline
from poise.drivers.body import Body
from poise.drivers.checks import check_idle
from poise.drivers.counterpoise.lean import PELVIS, find_shift_of
from poise.drivers.driver import TORQUE, WRITE, BodyModel, Claim, Driver, Player, Status
from poise.drivers.loose import loose
from poise.engines.scene import BALL, HINGES, Joint
from poise.errors import InputError, check_range, finite_number
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.world.foot_boxes import find_corners, find_soles_of

LEG = ("UpperLeg", "LowerLeg", "Foot")
# In units of w = sqrt(g / h): how fast the hips' place, tilt and height are corrected.
SWAY, TILT, RISE = 4.5, 2.5, 4.0
# Of the spring at the hips: at 0.35 arms that beat at 0.7 to 3 Hz sway the centre of mass more than still hips would.
SWAY_DAMPING, TILT_DAMPING = 0.35, 0.4
# Both of these where a clip is followed: it says how the hips move, and a swing of their own only adds to it.
STEADY = 1.0
LATELY = 0.5  # s, T above
CATCH = 0.5  # k / w above
EDGE = 0.08  # of the support, from its edge inwards, is never used: a corner that carries everything would tip
EDGE_FOLLOWING = 0.2  # the same where a clip is followed: what it asks for is never that far out
# N m s/rad of hip, knee and ankle, as a share of m h^2 w: calms the legs' own swinging, a tenth of critical
CALM = (0.010, 0.006, 0.0015)
# The centre of mass this far outside the support, as a share of its height, is past saving.
LOST = 0.06
# Of the legs' length: how far hips sink under lively arms, for knees that bend by 20 degrees and more.
SINK = 0.02
# The spring's own frequency (1/s), and its damper's rate, times the step: A = 0.42^2 and B = 0.45 below. A point mass
# whose spring and damper are a step late, v' = v - A x - B v, x' = x + v', is stable while A + 2 B < 4. Legs are not
# massless, contacts give way (5 to 10 ms) and trunks bend, which takes most of that: bodies of 0.5 to 2.5 m conducted
# for 4 s at steps of 1 to 10 ms, and all stood up to these two; from 0.7 and 0.55 on some swung up. Measured, not
# derived.
STIFFEST, HARDEST = 0.42, 0.45
# The rate of the damper of tilting hips times the step, at most. It is sized for the inertia of the whole body and
# acts a step late on the hips; where joints of the trunk are springs, the hips turn alone and are far lighter (0.02 of
# 7 kg m2 in a recorded body), and a damper that is too hard swings them up. Five recorded bodies at steps of 2.5, 5 and
# 8 ms stood up to 0.06, and some fell from 0.07 on. Measured, not derived.
HARDEST_LEAN = 0.05
# Of feet that are fixed, which can pull: pushes from all sides are caught up to 0.02, and none from 0.1 on.
LOST_PINNED = 0.2
# The arrays that are all of a player's state, and of what it found out when it began.
_NUMBERS = (
    "inertia",
    "gains",
    "firm",
    "yielding",
    "damping",
    "swing",
    "aim",
    "habit",
    "told",
    "anchors",
    "ridden",
    "fading",
    "handed",
)
# What softens in a blow: see `Balance.give`.
_SPRINGS = [record.SWAY, record.LEAN, record.CATCH]
_DAMPERS = [record.SWAY_DAMPING, record.LEAN_DAMPING, record.CATCH_DAMPING, record.SWAY_STEADY, record.LEAN_STEADY]
_STILL = 1e-3  # rad/s about an axis that a hinge does not have, up to which the joint is built as a hinge


@checked
@dataclass(frozen=True, eq=False)
class Balance(Driver):
    """Keeps the body over its feet.

    stiffness  multiplies the spring at the hips: 0.3 is soft and sways widely, 3 stiff; one number for every body. What
               a step is too long for is refused: more than 35 at 5 ms and 8 at 10 ms for an adult
    height     m, of the hips over the ground; None: as they are when it begins, or as the clip has them
    target     (2,) m, x and z of the centre of mass; None: where it is when it begins, if well inside the support, or
               as the clip has it
    follow     a clip whose hips' height and orientation and whose centre of mass's place it follows, as far as the feet
               allow, with the feet where they are when it begins; None: it holds its stance. It takes the place of
               height and target
    friction   of the soles that it counts on, at most; the ground's own if that is less
    pinned     whether the feet are fixed to the ground
    follow_start  s of the stage's clock at which the clip's own time is 0
    damping    of the hips' springs, as a share of critical: 0.35 lets arms sway the body, with 1 lively recordings
               stand; None: 0.35 to 0.4, or 1 where a clip is followed. That of tilting hips is at most what the step
               allows: 0.6 at 5 ms for an adult
    give       fraction of its stiffness that it loses, 0 to 1, while something hits the body and no fall threatens; it
               is back within a second (`drivers/track/kernels.py`)
    hold       how far it keeps the centre of mass still while arms move, 0 to 1: 1 moves the hips against the arms, as
               people do; 0 holds the hips, which go along with the arms
    counter_lean  rad by which the pelvis leans against the arms for each metre by which they shift the body's centre of
               mass, half of it sideways, 0.1 rad at most; people: 1.2. Where a clip is followed, only what it does not
               contain is leaned against: a load, other arms
    """

    stiffness: float = 1.0
    height: float | None = None
    target: tuple[float, float] | None = None
    friction: float = 0.7
    pinned: bool = False
    follow: Clip | None = None
    follow_start: float = 0.0
    damping: float | None = None
    give: float = 0.0
    hold: float = 1.0
    counter_lean: float = PELVIS
    level = TORQUE
    active_after_fall = True  # its legs go limp by themselves

    def __post_init__(self) -> None:
        for what, value, low, most in (
            ("stiffness", self.stiffness, 0.01, 50.0),
            ("damping", self.damping, 0.0, 10.0),
            ("hip height (m)", self.height, 0.01, 10.0),
            ("friction", self.friction, 0.01, 10.0),
            ("beginning (s)", self.follow_start, -1e9, 1e9),
            ("compliance (give)", self.give, 0.0, 1.0),
            ("hold", self.hold, 0.0, 1.0),
            ("counter lean (rad/m)", self.counter_lean, 0.0, 10.0),
        ):
            if value is not None:
                check_range(f"the {what} of a balance", value, low, most)
        if self.follow is not None and not isinstance(self.follow, Clip):
            raise InputError(f"Balance follows a Clip, as of poise.load_clip; given {self.follow!r:.60}.")
        if self.target is not None:
            place = [finite_number(a, "the target of a balance") for a in self.target]
            if len(place) != 2 or max(map(abs, place)) > 1e6:
                raise InputError(f"the target of a balance is x and z in metres; given {self.target}.")
        if self.follow is None:
            check_idle(self, ["follow_start"], "without a clip to follow", "Give follow")
        else:
            check_idle(self, ["height", "target"], "where a clip is followed, which has its own", "Leave out follow")

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """Hips, knees and ankles of both legs; what else a leg has (toes, twist joints) is held."""
        skeleton = character.skeleton
        roles = [side + stem for side in SIDES for stem in LEG]
        missing = [role for role in roles if skeleton.find_role(role) is None]
        if missing:
            raise InputError(
                f"Balance stands on two feet: character '{character.name}' has no {', '.join(missing)}. "
                "Name them with roles, or drive the legs by something else."
            )
        needed = [skeleton.index(role) for role in roles]
        absent = [skeleton.labels[i] for i in needed if i not in joints]
        if absent:
            raise InputError(
                f"Balance needs the whole of both legs; '{part}' lacks {', '.join(absent)}. Drive 'legs' with it."
            )
        below = {i for i in needed for i in skeleton.descendants(i)}
        bridges = find_bridges(skeleton)
        strangers = [skeleton.labels[i] for i in joints if i not in below and i not in bridges]
        if strangers:
            raise InputError(f"Balance drives legs only; it cannot drive {', '.join(strangers)}. Drive 'legs' with it.")
        held = tuple(i for i in sorted(below) if i not in needed)
        feet = tuple(skeleton.index(side + "Foot") for side in SIDES) if self.pinned else ()
        from poise.drivers.counterpoise.counterpoise import answer_with

        trunk = answer_with(self.counter_lean) if self.follow is None else None
        moved = tuple(sorted((*needed, *bridges)))
        return Claim(moved, held, feet, frees_root=True, needs_ground=True, trunk=trunk)

    def build(self, body: Body, joints: np.ndarray, t: float) -> BalancePlayer:
        """See `Driver.build`."""
        return BalancePlayer(self, body, t)


def find_bridges(skeleton: Skeleton) -> tuple[int, ...]:
    """Joints between the root and the hips (a reference above the pelvis, a socket): they are stiff under a balance."""
    above = {i for side in SIDES for i in skeleton.chain(skeleton.index(side + LEG[0]))[:-1]}
    return tuple(sorted(above - {0}))


class BalancePlayer(Player):
    """The legs of one actor. `aim` may be written to while it runs: see `settings.py` for what is where."""

    def __init__(self, driver: Balance, body: Body, t: float):
        from poise.drivers.balance import kernels

        self.driver, self._law = driver, kernels.stand
        self._find_legs(body)
        height = body.c[1] - self.ground
        if height <= 0.0:
            raise InputError("Balance begins with the centre of mass above the ground; this body lies under it.")
        gravity = body.weight_per_mass
        self.omega = math.sqrt(gravity / height)
        gains = self._choose_gains(body, gravity)
        self.gains = np.array([gains[k] for k in range(len(gains))])
        self.firm, self.yielding = self.gains.copy(), np.zeros(2)
        self.needs_contacts = driver.give > 0.0
        self.inertia = np.array(body.inertia())
        self._choose_damping(body, height, gravity)
        self.aim = self._find_aim(body)
        self.way: BalanceReference | None = None
        if driver.follow is not None:
            self.way = build_following(driver.follow, body, self.legs, self.corners, self.ground, self.damping)
        hips = int(body.tree.parents[self.legs[0, 0]])
        self.habit = (body.c - body.p[hips])[[0, 2]].copy()
        self._find_anchors(body)
        self.turns, self.fading, self.handed = np.zeros((2, 3)), np.full(4, -np.inf), np.zeros(20)
        self.handed[:2] = -np.inf, loose.LET_GO
        self.told = np.zeros(record.TOLD)
        self.told[record.MARGIN] = self._find_margin(body)
        self.lost = (LOST_PINNED if driver.pinned else LOST) * height
        self.gone: loose.LoosePlayer | None = None
        self._build_block(body)
        leans = driver.counter_lean > 0.0 or bool(body.lean.any())
        self._shift = find_shift_of(body, driver.follow, driver.follow_start) if leans else None
        if self._shift is not None:
            self.block.set(
                lean_back=kernels.lean_back.address, shift=self._shift.block.address, chest=self._shift.chest,
                counter_lean=driver.counter_lean,
            )  # fmt: skip
            self._fade_in(body, t)

    def _find_legs(self, body: Body) -> None:
        """Find the legs' joints and soles, and what is under them."""
        from poise.drivers.balance.foot_kernels import FLOORS, ask_floors

        skeleton = body.skeleton
        self.legs = np.array([[skeleton.index(side + stem) for stem in LEG] for side in SIDES])
        self.joints = np.sort(self.legs.ravel())
        self.limb = np.full(len(body.tree), -1)
        for side in range(2):
            self.limb[skeleton.descendants(int(self.legs[side, 0]))] = side
        self.corners = np.stack([find_corners(box) for box in build_footing(skeleton)])
        body.update()
        self.floors, self.ridden = body.arena.zeros(2, FLOORS), np.tile(body.floor.record["shift"], (2, 1))
        self.ground = ask_floors(body.floor.record[0], body.R, body.p, self.legs, self.corners, self.floors)

    def _choose_gains(self, body: Body, gravity: float) -> dict[int, float]:
        """Return the numbers of `gains` by where they are; raise InputError where a step is too long for them."""
        driver, w = self.driver, self.omega
        sway = SWAY * w * math.sqrt(driver.stiffness)
        steady = min(STEADY, HARDEST / (2.0 * sway * body.dt))
        given = steady if driver.damping is None and driver.follow is not None else driver.damping
        damping, leaning = (SWAY_DAMPING, TILT_DAMPING) if given is None else (given, given)
        if driver.follow is None and driver.damping is not None:
            leaning = min(leaning, HARDEST_LEAN / (2.0 * TILT * w * body.dt))
        _check_stable(driver, sway, damping, body.dt)
        edge = EDGE if driver.follow is None else EDGE_FOLLOWING
        return {
            record.SWAY: sway**2,
            record.SWAY_DAMPING: 2.0 * damping * sway,
            record.RISE: (RISE * w) ** 2,
            record.RISE_DAMPING: 2.0 * RISE * w,
            record.LEAN: (TILT * w) ** 2,
            record.LEAN_DAMPING: 2.0 * leaning * TILT * w,
            record.FRICTION: min(driver.friction, 0.9 * body.friction),
            record.EDGE: -1.0 if driver.pinned else edge,  # feet that are fixed can pull: twice the support
            record.MASS: body.tree.mass,
            record.GRAVITY: gravity,
            record.HABIT: 1.0 / LATELY,
            record.CATCH: CATCH * driver.stiffness * w * w,
            record.CATCH_DAMPING: (CATCH * driver.stiffness + 1.0) * w,
            record.SWAY_STEADY: 2.0 * (steady if given is None else given) * sway,
            record.LEAN_STEADY: 2.0 * (STEADY if given is None else given) * TILT * w,
            record.SINK: SINK * min(leg_length(body.skeleton, side) for side in SIDES),
            record.HOLD: driver.hold,
        }

    def _choose_damping(self, body: Body, height: float, gravity: float) -> None:
        """Choose the damping of the legs' joints, and of the ankles of feet in the air."""
        from poise.drivers.balance.foot_kernels import LEVEL

        mass = body.tree.mass
        self.damping, self.swing = np.zeros(len(body.tree)), np.zeros(2)
        for side, leg in enumerate(self.legs):
            self.damping[leg] = np.array(CALM) * mass * height**2 * self.omega
            # 0.7 of critical, for a foot off the ground on the spring that levels it
            self.swing[side] = 1.4 * math.sqrt(LEVEL * mass * gravity * _foot_inertia(body, int(leg[2])))

    def _find_anchors(self, body: Body) -> None:
        """Find where feet that are fixed stand."""
        from poise.drivers.balance.foot_kernels import PINNED

        self.anchors = np.zeros((2, 4))
        if self.driver.pinned:
            for side, foot in enumerate(self.legs[:, 2]):
                heading = math.atan2(body.R[foot, 0, 2], body.R[foot, 2, 2])
                x, _, z = body.p[foot] + body.R[foot] @ self.corners[side].mean(axis=0)
                self.anchors[side] = x, z, heading, PINNED

    def _build_block(self, body: Body) -> None:
        """Put what the law reads and writes where the body has the rest of it."""
        from poise.drivers.balance import kernels

        self.aim, self.habit, self.told, self.anchors, self.turns = (
            body.arena.copy(array) for array in (self.aim, self.habit, self.told, self.anchors, self.turns)
        )
        self.work = tuple(body.arena.zeros(*shape) for shape in ((8, 3), (8, 3), (9, 2), (8,), (4, 2)))
        names = ("legs", "limb", "corners", *(set(_NUMBERS) - {"firm", "yielding"}), "turns", "floors")
        work = dict(zip(("spots", "bearing", "hull", "loads", "inner"), self.work, strict=True))
        self.block = Block(
            record.LEGS, body.arena, lost=self.lost, lost_at=-1.0, lean=body.lean, hips=body.taking_part.hips,
            part=body.taking_part.block.address, **work,
            **{name: getattr(self, name) for name in names},
        )  # fmt: skip
        if self.way is not None:
            way = self.way
            self.block.set(
                way_times=way.times, way_aims=way.aims, way_habits=way.habits, way_memory=way.memory,
                way_count=len(way.times), way_columns=way.aims.shape[1], way_start=self.driver.follow_start,
                follow=kernels.follow_clip.address,
            )  # fmt: skip
        if body.floor.ground is not None and body.floor.ground.moves:
            self.block["ride"] = kernels.ride.address

    @property
    def lost_at(self) -> float:
        """s, when the balance was lost; negative: it was not."""
        return float(self.block["lost_at"])

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """Go over from the torques of another balance, which stands, to its own."""
        if starting or not isinstance(previous, BalancePlayer) or previous.lost_at >= 0.0:
            return
        kept, own = (body.torque.copy(), body.damping.copy()), {k: array.copy() for k, array in self.numbers().items()}
        self.write(body, t)
        legs = self.legs.ravel()
        asked = body.torque[legs] - np.einsum("kab,kb->ka", body.R[legs], (body.damping[:, None] * body.state.w)[legs])
        body.torque[:], body.damping[:] = kept
        for name, array in self.numbers().items():
            array[:] = own[name]
        self.handed[0] = t
        self.handed[2:] = (np.einsum("kab,kb->ka", body.R[legs], body.handed[legs]) - asked).ravel()

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`. Where it has given up, the legs are loose."""
        return {WRITE: (self._law, self.block)} if self.gone is None else self.gone.laws()

    def _find_margin(self, body: Body) -> float:
        return find_outline(self._find_soles(body)).find_margin(body.c[0], body.c[2])

    def _find_soles(self, body: Body) -> np.ndarray:
        """(2, 4, 3) m, the soles' corners in the world."""
        return find_soles_of(body.R, body.p, self.legs[:, 2], self.corners)

    def on_mass_changed(self, body: Body) -> None:
        """See `Player.on_mass_changed`."""
        self.gains[record.MASS] = self.firm[record.MASS] = body.tree.mass
        self.inertia[:] = body.inertia()
        if self._shift is not None:
            self._shift.on_mass_changed(body)
            self._fade_in(body, body.time)

    def _fade_in(self, body: Body, t: float) -> None:
        """Have the hips lean as they do now, and go from there to how they are to lean."""
        from poise.drivers.balance.kernels import lean_against

        assert self._shift is not None
        kept = body.lean[:3].copy()
        self.fading[:] = -np.inf, 0.0, 0.0, 0.0
        lean_against(body.block.record[0], self.block.record[0], self._shift.find(body, t))
        self.fading[:] = t, *(body.lean[:3] - kept)
        body.lean[:3], body.lean[3:] = kept, 0.0

    def _find_aim(self, body: Body) -> np.ndarray:

        soles = self._find_soles(body)
        target = self.driver.target
        center = find_outline(soles).shrink(0.5).clamp(body.c[0], body.c[2]) if target is None else target
        hips = int(body.tree.parents[self.legs[0, 0]])
        part = body.taking_part.hips[0]
        height = body.p[hips, 1] - part[0] - self.ground if self.driver.height is None else self.driver.height
        aim = np.zeros(record.AIMS)
        upright = rotation.multiply(rotation.exp(-body.lean[:3] - part[1:]), body.world_turn(hips))
        aim[: record.CENTER_SPEED] = center[0], center[1], self.ground + height, *upright
        aim[record.HOME : record.LEG_TORQUE] = soles[..., [0, 2]].ravel()
        return aim

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`. A balance that follows a clip may go down on its knees, so more than its soles can touch.

        Knees are hinges and ankles have two axes, unless they turn about others right now; hips are balls.
        """
        joints = {joint: Joint(HINGES) for joint in find_bridges(body.skeleton)}
        for leg in self.legs:
            for joint, count in ((int(leg[1]), 1), (int(leg[2]), 2)):
                joints[joint] = _hinge(body, joint, count)
        return BodyModel(joints, requires_hinges=True, soles_only=self.gone is None and self.way is None)

    def on_contacts(self, body: Body, force: np.ndarray) -> None:
        """See `Player.on_contacts`: springs and dampers soften in a blow, unless a fall would have to be caught."""
        from poise.drivers.balance.kernels import ALARM
        from poise.drivers.track.kernels import soften
        from poise.drivers.track.track import HEAVY

        late, soft = self.yielding
        weight = HEAVY * self.gains[record.MASS] * self.gains[record.GRAVITY]
        self.yielding[:] = soften(float(np.linalg.norm(force)) / weight, late, soft, body.dt)
        height = max(body.c[1] - self.ground, 1e-3)
        speed = (body.dc[[0, 2]] - self.aim[record.CENTER_SPEED : record.CENTER_SPEED + 2]) / self.omega
        gone = float(np.linalg.norm(body.c[[0, 2]] + speed - self.aim[: record.HEIGHT])) / height
        calm = min(max((ALARM[1] - gone) / (ALARM[1] - ALARM[0]), 0.0), 1.0)
        ease = 1.0 - self.driver.give * calm * self.yielding[1]
        self.gains[_SPRINGS] = ease * self.firm[_SPRINGS]
        self.gains[_DAMPERS] = math.sqrt(ease) * self.firm[_DAMPERS]

    def handle_request(self, body: Body, t: float) -> bool:
        """The balance was lost: from now on the legs are limp, and all of the body may touch the ground."""
        if self.gone is not None or self.lost_at < 0.0:
            return False
        body.emit("lost-balance", "lost balance")
        self.gone = self._let_go(body, self.lost_at)
        return True

    def _let_go(self, body: Body, t: float) -> loose.LoosePlayer:
        at = self.joints
        # what the legs do now dies away: they do not give in at once
        body.handed[at] = np.einsum("kab,ka->kb", body.R[at], body.torque[at])
        body.handed[at] -= body.damping[at, None] * body.state.w[at]
        gone = loose.TONE.build(body, at, t)
        body.handed[at] = 0.0
        return gone

    def status(self, body: Body, t: float) -> Status:
        """See `Player.status`: the posture that it aims at is that of the clip, if it follows one."""
        upright, sunk = None, 0.0
        if self.way is not None:
            at = t - self.driver.follow_start
            upright = float(self.way.wanted_up(at) @ rotation.rotate(body.state.q[0], self.way.own_up))
            sunk = min(self.way.sinking(at), 0.0)
        stands = self.gone is None
        return Status(stands, not stands, self._find_soles(body), self.margin, upright, sunk)

    @property
    def margin(self) -> float:
        """m, of the centre of mass inside the support."""
        return float(self.told[record.MARGIN])

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        found = {name: getattr(self, name) for name in _NUMBERS}
        way = () if self.way is None else ("aims", "habits", "height", "own_up", "memory")
        return found | {f"way_{name}": getattr(self.way, name) for name in way}

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        gone = None if self.gone is None else self.gone.save()
        return {**super().save(), "lost": float(self.block["lost"]), "lost_at": self.lost_at, "gone": gone}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        super().restore(saved)
        self.block.set(lost=saved["lost"], lost_at=saved["lost_at"])
        self.gone = None
        if saved["gone"] is not None:
            k = len(self.joints)
            self.gone = loose.LoosePlayer(self.joints, np.zeros(k), np.zeros(k), np.zeros((k, 4)))
            self.gone.restore(saved["gone"])


def _check_stable(driver: Balance, sway: float, damping: float, dt: float) -> None:
    """Raise InputError where a step is too long for the hips' spring: it is explicit, and would swing up."""
    softer = min(1.0, STIFFEST / (sway * dt)) ** 2
    if softer < 1.0:
        most, longest = _floor(driver.stiffness * softer), _floor(1000.0 * STIFFEST / sway)
        raise InputError(
            f"a balance with a stiffness of {driver.stiffness:g} swings up at steps of {1000.0 * dt:g} ms on this "
            f"body. Take at most {most}, or steps of at most {longest} ms."
        )
    hardest = HARDEST / (2.0 * sway * dt)
    if damping > hardest:
        raise InputError(
            f"a balance with a damping of {damping:g} swings up at steps of {1000.0 * dt:g} ms on this body. Take at "
            f"most {_floor(hardest)}, or steps of at most {_floor(1000.0 * dt * hardest / damping)} ms."
        )


def _floor(value: float) -> str:
    """A positive number in two digits, rounded down."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.floor(value / unit) * unit:g}"


def _foot_inertia(body: Body, foot: int) -> float:
    """kg m2, the largest moment of inertia of a foot, with what hangs from it, about its ankle."""
    total, x = np.zeros((3, 3)), body.tree
    for i in body.skeleton.descendants(foot):
        at = body.p[i] + body.R[i] @ x.centers[i] - body.p[foot]
        total += body.R[i] @ x.inertias[i] @ body.R[i].T + x.masses[i] * (at @ at * np.eye(3) - np.outer(at, at))
    return float(np.linalg.eigvalsh(total)[-1])


def _hinge(body: Body, joint: int, count: int) -> Joint:
    """A joint as one or two hinges at the body's pose; a ball where it turns otherwise or its axes are not known."""
    name = body.skeleton.names[joint]
    axes = body.character.freedoms.get(name)
    if axes is None or len(axes) < count:
        return Joint(BALL)
    axes = np.asarray(axes[:count])
    w = body.state.w[joint]
    if np.linalg.norm(w - axes.T @ (axes @ w)) > _STILL:
        return Joint(BALL)
    limits = body.character.limits.get(name)
    ranges = np.full((count, 2), np.nan)
    if limits is not None and count == 1:
        along = limits.axes @ axes[0]
        k = int(np.argmax(np.abs(along)))
        angles = limits.angles(body.state.q[joint])
        reach = np.sort(np.sign(along[k]) * (np.array([limits.lower[k], limits.upper[k]]) - angles[k]))
        if abs(along[k]) > 0.99 and reach[0] < 0.0 < reach[1]:
            ranges[0] = reach
    return Joint(HINGES, axes, ranges)
