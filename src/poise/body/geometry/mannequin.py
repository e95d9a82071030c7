"""A body for any skeleton: one rounded, closed mesh per segment, as wide as the person's mass asks for.

Each segment is a loft (`loft.py`) of cross-sections (`mannequin_sections.py`) along its bone. Neighbours share the
cross-section at their joint and reach past it with a dome, so that a bent joint shows a ball, not a gap. The trunk is
one shape, cut at all its joints. One girth factor is solved so that the body as seen, every overlap counted once,
holds its mass at `BODY_DENSITY` (a few percent off: what overlaps is estimated segment by segment).

Joints without a part to play (fingers, twists, doubles at the same place) carry no mesh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.body.geometry import mannequin_sections as table
from poise.body.geometry.loft import (
    DOME_RINGS,
    Sections,
    add_domes,
    interpolate,
    loft,
    section_angles,
    stack_volume,
    straight_sections,
    tube_sections,
)
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import compute_volume
from poise.body.geometry.rest_frame import RestFrame, unit
from poise.body.geometry.soles import BREADTH, SHORTEST, Sole, build_footing, find_crease, find_soles
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton, remembered
from poise.errors import InputError
from poise.spatial import rotation

BODY_DENSITY = 1010.0  # kg/m3: a body about floats with its lungs half full
_GIRTHS = (0.6, 1.9)  # beyond these the proportions no longer look like a body
# How far a piece of the trunk follows it past its cuts, as shares of its length, and factors on its widths there: just
# below the neighbour's surface, so that no seam shows.
_LAP, _LAP_WIDTH = np.array([0.012, 0.035]), np.array([0.994, 0.945])
_FLATTEST = 0.03  # of the stature, that an ankle is drawn above the sole at least: joints of some recordings are lower
# Of the superellipse below where a foot is broadest: all but a rectangle, so that a sole is flat up to its edges.
_SOLE_POWER = 40.0
_FINGER_ROLES = ("Middle", "Index", "Ring", "Little")


def build_mannequin(skeleton: Skeleton, mass: float) -> dict[str, Mesh]:
    """Meshes by joint name, each in its joint's own frame (axes as at rest, origin at the joint), in metres.

    skeleton  with `roles`; one without `hips` gets plain spindles along its bones
    mass      kg: what makes the figure thin or fat
    """
    if not (np.isfinite(mass) and mass > 0.0):
        raise InputError(f"a body's mass must be above 0 kg; given {mass:g}.")
    if skeleton.find_role("hips") is None:
        pieces = _fit_girth(lambda girth: _spindles(skeleton, girth), mass)
    else:
        frame = RestFrame(skeleton)
        pieces = _fit_girth(lambda girth: _Sculptor(frame, girth).sculpt(), mass)
    places = skeleton.rest_positions()
    return {skeleton.names[i]: pieces[i].mesh.moved(np.eye(3), -places[i]) for i in sorted(pieces)}


@remembered
def build_mannequin_feet(skeleton: Skeleton) -> tuple[dict[int, Mesh], dict[int, Mesh]]:
    """Meshes of the left and of the right foot by joint, as `build_mannequin` draws them on a body of any mass."""
    sculptor, places = _Sculptor(RestFrame(skeleton), 1.0), skeleton.rest_positions()
    left, right = (
        {
            skeleton.index(role): piece.mesh.moved(np.eye(3), -places[skeleton.index(role)])
            for role, piece in sculptor.sculpt_foot(side, sign).items()
        }
        for side, sign in (("left", 1.0), ("right", -1.0))
    )
    return left, right


@dataclass(frozen=True, eq=False)
class _Piece:
    """A segment's mesh in the world at rest, and what it adds (m3) to the body outside of its neighbours."""

    mesh: Mesh
    volume: float

    @staticmethod
    def of(mesh: Mesh, seen: float) -> _Piece:
        """A mesh of which a share `seen` lies outside of its neighbours."""
        return _Piece(mesh, seen * compute_volume(mesh))


_Pieces = dict[int, _Piece]


@dataclass(frozen=True, eq=False)
class _Footprint:
    """A sole at rest.

    sole         (3,) m, straight under the ankle;  drop: m from there to the ankle
    up, forward  (3,) unit
    back, crease, front  m ahead of the ankle: its heel's edge, where the toes bend, its tip;  half: m, half its breadth
    has_toes     whether its toes are a segment of their own
    """

    sole: np.ndarray
    up: np.ndarray
    forward: np.ndarray
    drop: float
    back: float
    crease: float
    front: float
    half: float
    has_toes: bool


def _fit_girth(sculpt: Callable[[float], _Pieces], mass: float) -> _Pieces:
    """The segments that hold `mass`, or those of the nearest girth that still looks like a body."""
    girth = 1.0
    for _ in range(12):
        pieces = sculpt(girth)
        held = BODY_DENSITY * sum(piece.volume for piece in pieces.values())
        if not pieces or abs(held / mass - 1.0) < 1e-3:
            break
        # Volume grows about with the square of the girth: each step takes off most of what is missing.
        better = float(np.clip(girth * (mass / held) ** 0.5, *_GIRTHS))
        if better == girth:
            break
        girth = better
    return pieces


def _spindles(skeleton: Skeleton, girth: float) -> _Pieces:
    """A body of unknown kind: a spindle along every bone and end site that has a length."""
    places = skeleton.rest_positions()
    size = float(np.ptp(places, axis=0).max()) or 1.0
    pieces: _Pieces = {}
    for joint in range(len(skeleton)):
        ends = [places[child] for child in skeleton.children(joint)]
        if skeleton.has_tip[joint]:
            ends.append(places[joint] + skeleton.tips[joint])
        bones = [end - places[joint] for end in ends if np.linalg.norm(end - places[joint]) > 0.01 * size]
        shapes = []
        for bone in bones:
            length = float(np.linalg.norm(bone))
            radius = girth * np.interp([0.0, 0.25, 0.6, 1.0], [0, 0.3, 1], [0.11, 0.16, 0.09]) * min(length, 0.4 * size)
            axes = _turned(np.array([0.0, 1.0, 0.0]), bone, np.eye(3)[[0, 2, 1]])
            extents = np.repeat(radius[:, None], 4, axis=1)
            along = straight_sections(np.array([0.0, 0.25, 0.6, 1.0]) * length, extents, 2.0, places[joint], axes)
            shapes.append(loft(add_domes(along, radius[0], radius[-1]), sides=12))
        if shapes:
            pieces[joint] = _Piece.of(Mesh.joined(shapes), 0.85)
    return pieces


def _turned(rest: np.ndarray, towards: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Rows of `axes` (3, 3), turned by the shortest rotation that brings `rest` into `towards`."""
    return rotation.rotate(rotation.between(rest, towards), axes)


def _relief(positions: np.ndarray, sides: int, bumps: Sequence[tuple[float, float, float, float, float]]) -> np.ndarray:
    """(N, sides) swelling of sections at `positions` (N,): one bell per bump on each side of the front."""
    from_front = np.abs(np.angle(np.exp(1j * (section_angles(sides) - np.pi / 2))))
    swell = np.ones((len(positions), sides))
    for position, spread, angle, width, height in bumps:
        bell = np.exp(-(((positions - position) / spread) ** 2))[:, None]
        swell += height * bell * np.exp(-(((from_front - np.radians(angle)) / np.radians(width)) ** 2))
    return swell


# Half the distance between the joints of each kind that the trunk's widths were drawn for.
_SHOULDER_SPAN, _HIP_SPAN = 0.104, 0.052


class _Sculptor:
    """Makes the segments of one body at one girth; all meshes in the world at rest."""

    def __init__(self, frame: RestFrame, girth: float):
        self.frame, self.girth = frame, girth
        self.stature = frame.stature

    def sculpt(self) -> _Pieces:
        limbs: dict[str, _Piece] = {}
        for side, sign in (("left", 1.0), ("right", -1.0)):
            limbs |= self._arm(side, sign) | self._leg(side, sign)
        pieces = {self.frame.skeleton.index(role): piece for role, piece in limbs.items()}
        return self._trunk() | self._neck_and_head() | pieces

    def _swollen(self, fat: np.ndarray) -> np.ndarray:
        """Factors on half-widths. A thin body loses no more than about its girth, however fat-prone the section."""
        return np.asarray(self.girth ** (np.minimum(fat, 1.1) if self.girth < 1.0 else fat))

    def _trunk(self) -> _Pieces:
        frame, rows = self.frame, table.TRUNK
        length = float(np.linalg.norm(frame.trunk_line))
        up = frame.trunk_line / length
        left = unit(frame.axes[0] - (frame.axes[0] @ up) * up)
        axes = np.stack([left, np.cross(left, up), up])

        neck = frame.at("neck")
        top = table.NECK_POSITION if neck is None or frame.along(neck) < 1.05 else frame.along(neck)
        stretch = np.clip((top - 1.0) / (table.NECK_POSITION - 1.0), 0.5, 1.6)
        knots = np.where(rows[:, 0] > 1.0, 1.0 + (rows[:, 0] - 1.0) * stretch, rows[:, 0])

        pieces = {}
        cuts = [knots[0], *list(frame.trunk_cuts.values())[1:], knots[-1]]
        for joint, start, end in zip(frame.trunk_cuts, cuts[:-1], cuts[1:], strict=True):
            u, width = _lapped(start, end, start > knots[0], end < knots[-1])
            values = interpolate(knots, rows[:, 1:], u)
            half = values[:, [0, 0, 1, 2]] * self.stature * self._swollen(values[:, [4, 4, 5, 6]]) * width[:, None]
            half[:, :2] *= self._trunk_width(u)[:, None]
            sections = straight_sections(u * length, half, values[:, 3:4], frame.hips, axes)
            domes = [0.25 * min(half[i, 2:]) for i in (0, -1)]
            sides = 26
            swell = _relief(np.pad(u, DOME_RINGS, mode="edge"), sides, table.TRUNK_RELIEF)
            mesh = loft(add_domes(sections, domes[0], domes[1]), sides, swell)
            pieces[joint] = _Piece(mesh, stack_volume(sections[width == 1.0]))
        return pieces

    def _trunk_width(self, u: np.ndarray) -> np.ndarray:
        """(N,) how much wider this skeleton's hips and shoulders are than the drawn ones', blended between them."""
        ratios = []
        for role, drawn in (("UpperLeg", _HIP_SPAN), ("UpperArm", _SHOULDER_SPAN)):
            span = self.frame.half_span(role)
            ratio = 1.0 if span is None else span / (drawn * self.stature)
            ratios.append(np.sqrt(np.clip(ratio, 0.6, 1.6)))
        return np.interp(u, [0.1, 0.8], ratios)

    def _neck_and_head(self) -> _Pieces:
        frame, H = self.frame, self.stature
        head, joint = frame.skeleton.find_role("head"), frame.at("head")
        if head is None or joint is None:
            return {}
        up = frame.axes[1]
        tall = _head_height(H)
        tip = frame.tip("head")
        rise = 0.0 if tip is None else float((tip - joint) @ up)
        # The skull's base, where most rigs turn the head, lies about a third up from the chin.
        crown = joint + up * (rise if 0.5 * tall < rise < 1.3 * tall else 0.72 * tall)
        necks = frame.neck
        base = frame.places[necks[0]] if necks else frame.shoulders + 0.035 * H * up
        collar = max(base @ up, (frame.shoulders + 0.03 * H * up) @ up)
        crown = crown + up * max(0.0, collar + 0.85 * tall - crown @ up)  # a chin must clear the collar
        skull = self._skull(crown - tall * up, tall, joint)
        nape = crown - 0.60 * tall * up + (joint - crown) - ((joint - crown) @ up) * up
        line = nape - base
        if np.linalg.norm(line) < 0.02 * H:
            return {head: skull}

        axes = _turned(up, line, frame.axes[[0, 2, 1]])
        cuts = [float((frame.places[i] - base) @ line / (line @ line)) for i in necks] or [0.0]
        columns = {}
        for i, (start, end) in enumerate(zip(cuts, [*cuts[1:], 2.0], strict=True)):
            if end - start > 0.1:
                span = (-1.0 if i == 0 else start, end)
                seen = (max(start, 0.1), min(end, 0.8))
                columns[necks[i] if necks else head] = self._limb(
                    base, nape, axes, table.NECK, rings=6, domes=(0.35, 0.7), span=span, seen=seen
                )
        if necks:
            return {**columns, head: skull}
        column = columns[head]
        return {head: _Piece(Mesh.joined([skull.mesh, column.mesh]), skull.volume + column.volume)}

    def _skull(self, chin: np.ndarray, tall: float, on: np.ndarray) -> _Piece:
        """The head from the chin's level up, over its joint at `on` (3,)."""
        left, up, front = self.frame.axes
        rows = table.HEAD
        v = np.concatenate(
            [np.linspace(rows[0, 0], 0.62, 14), 1.0 - np.linspace(0.38**0.5, (1.0 - rows[-1, 0]) ** 0.5, 8)[1:] ** 2]
        )
        width, ahead, behind, power = interpolate(rows[:, 0], rows[:, 1:], v).T
        swollen = self._swollen(np.array(0.25))
        middle = (ahead - behind) / 2.0
        half = np.column_stack([width, width, ahead - middle, behind + middle]) * tall * np.sqrt(swollen)
        half[:, :2] *= np.sqrt(swollen)
        origin = chin + ((on - chin) @ front + 0.03 * tall) * front + ((on - chin) @ left) * left
        sections = straight_sections(v * tall, half, power[:, None], origin, np.stack([left, front, up]))
        sections = Sections(
            sections.centers + (middle * tall)[:, None] * front, sections.x_axis, sections.y_axis, half, sections.powers
        )
        sides = 32
        swell = _relief(np.pad(v, DOME_RINGS, mode="edge"), sides, table.HEAD_RELIEF)
        return _Piece.of(loft(add_domes(sections, 0.025 * tall, 0.0005 * tall), sides, swell), 0.97)

    def _limb(
        self,
        start: np.ndarray,
        end: np.ndarray,
        axes: np.ndarray,
        rows: np.ndarray,
        *,
        rings: int = 9,
        domes: tuple[float, float] = (1.0, 1.0),
        sides: int = 14,
        limit: np.ndarray | None = None,
        span: tuple[float, float] = (-1.0, 2.0),
        seen: tuple[float, float] = (0.0, 1.0),
    ) -> _Piece:
        """A segment along a bone from the sections of `rows`.

        axes   (3, 3) rows: the sections' x and y, and the bone's direction
        domes  heights of the ends' domes as shares of their mean half-width
        limit  (2,) m at start and end: the most the half-width towards -x may be
        span   the part of `rows` to take
        seen   the part of the bone where it lies outside of its neighbours
        """
        t = np.linspace(max(rows[0, 0], span[0]), min(rows[-1, 0], span[1]), rings)
        values = interpolate(rows[:, 0], rows[:, 1:], t)
        half = values[:, :4] * self.stature * self._swollen(values[:, 5:6])
        if limit is not None:
            half[:, 1] = np.minimum(half[:, 1], np.maximum(limit[0] + t * (limit[1] - limit[0]), 0.4 * half[:, 1]))
        length = float(np.linalg.norm(end - start))
        sections = straight_sections(t * length, half, values[:, 4:5], start, axes)
        mesh = loft(add_domes(sections, domes[0] * half[0].mean(), domes[1] * half[-1].mean()), sides)
        outside = (t >= seen[0] - 0.5 / rings) & (t <= seen[1] + 0.5 / rings)
        return _Piece(mesh, stack_volume(sections[outside]) if outside.sum() > 1 else 0.0)

    def _find_bone(self, role: str, following: str) -> tuple[np.ndarray, np.ndarray] | None:
        """Where a limb's bone begins and ends: at the next joint, else at its tip; None where it has no length."""
        start, end = self.frame.at(role), self.frame.at(following)
        if start is None:
            return None
        if end is None:
            end = self.frame.tip(role)
        if end is None or np.linalg.norm(end - start) < 0.02 * self.stature:
            return None
        return start, end

    def _arm(self, side: str, sign: float) -> dict[str, _Piece]:
        frame = self.frame
        left, up, front = frame.axes
        outward = sign * left
        t_pose = np.stack([up, front, outward])
        made = {}
        for role, following, rows, seen in (
            ("Shoulder", "UpperArm", table.SHOULDER, (0.75, 1.0)),
            ("UpperArm", "LowerArm", table.UPPER_ARM, (0.0, 1.0)),
            ("LowerArm", "Hand", table.LOWER_ARM, (0.0, 1.0)),
        ):
            bone = self._find_bone(side + role, side + following)
            if bone is None:
                continue
            start, end = bone
            made[side + role] = self._limb(start, end, _turned(outward, end - start, t_pose), rows, seen=seen)
        wrist = frame.at(side + "Hand")
        if wrist is not None:
            made[side + "Hand"] = self._hand(side, sign, wrist, t_pose)
        return made

    def _hand(self, side: str, sign: float, wrist: np.ndarray, t_pose: np.ndarray) -> _Piece:
        """A relaxed hand: palm, four fingers, thumb."""
        frame, H = self.frame, self.stature
        knuckles = [frame.at(f"{side}{finger}Proximal") for finger in _FINGER_ROLES]
        known = [place for place in knuckles if place is not None]
        elbow = frame.at(side + "LowerArm")
        along = t_pose[2]
        for end in (np.mean(known, axis=0) if known else None, frame.tip(side + "Hand")):
            if end is not None and np.linalg.norm(end - wrist) > 0.02 * H:
                along = unit(end - wrist)
                break
        else:
            if elbow is not None and np.linalg.norm(wrist - elbow) > 0.02 * H:
                along = unit(wrist - elbow)
        axes = _turned(t_pose[2], along, t_pose)
        thumb = frame.at(side + "ThumbProximal")
        if thumb is not None:
            aside = thumb - wrist - ((thumb - wrist) @ along) * along
            if np.linalg.norm(aside) > 0.008 * H:
                axes = np.stack([sign * np.cross(unit(aside), along), unit(aside), along])
        long = table.HAND_LENGTH * H
        palm = self._limb(wrist, wrist + long * along, axes, table.PALM, rings=6, domes=(0.8, 0.35), sides=14)
        return _Piece.of(Mesh.joined([palm.mesh, *self._fingers(wrist, axes)]), 0.9)

    def _fingers(self, wrist: np.ndarray, axes: np.ndarray) -> list[Mesh]:
        back, aside, along = axes * self.stature
        thick = float(self._swollen(np.array(0.3)))
        bend = np.linspace(0.0, 1.0, 4)[:, None]
        made = []
        for offset, length, radius, spread in table.FINGERS:
            start = wrist + 0.43 * table.HAND_LENGTH * along + offset * aside - 0.0006 * back
            heading = along + np.tan(np.radians(spread)) * aside
            points = start + length * (bend * heading - 0.30 * bend**2 * back) * np.array([1.0])
            made.append(self._finger(points, radius * thick, aside))
        start = wrist + 0.020 * along + 0.011 * aside - 0.004 * back
        points = start + 0.047 * (bend * (0.80 * along + 0.55 * aside - 0.18 * back) + 0.12 * bend**2 * (along - aside))
        made.append(self._finger(points, 0.0068 * thick, back))
        return made

    def _finger(self, points: np.ndarray, radius: float, x_axis: np.ndarray) -> Mesh:
        radii = radius * self.stature * np.linspace(1.05, 0.82, len(points))
        return loft(add_domes(tube_sections(points, radii, unit(x_axis)), radii[0], radii[-1]), sides=6)

    def _leg(self, side: str, sign: float) -> dict[str, _Piece]:
        frame = self.frame
        left, up, front = frame.axes
        standing = np.stack([sign * left, front, -up])
        made = {}
        for role, following, rows, seen in (
            ("UpperLeg", "LowerLeg", table.UPPER_LEG, (0.12, 1.0)),
            ("LowerLeg", "Foot", table.LOWER_LEG, (0.0, 0.95)),
        ):
            bone = self._find_bone(side + role, side + following)
            if bone is None:
                continue
            start, end = bone
            if role == "LowerLeg" and frame.at(side + "Foot") is not None:
                # Where a foot is drawn thicker than its joint is high, its ankle is drawn above the joint.
                rise = max(0.0, _FLATTEST * self.stature - self._find_drop(side))
                end = end - min(rise / float(np.linalg.norm(end - start)), 0.5) * (end - start)
            # Two thighs may touch but not pass through one another.
            apart = sign * (np.stack([start, end]) - frame.hips) @ left
            domes = (1.5, 1.0) if role == "UpperLeg" else (1.0, 1.0)
            axes = _turned(-up, end - start, standing)
            made[side + role] = self._limb(
                start, end, axes, rows, rings=10, domes=domes, sides=18, limit=0.98 * apart, seen=seen
            )
        if frame.at(side + "Foot") is not None:
            made.update(self.sculpt_foot(side, sign))
        return made

    def sculpt_foot(self, side: str, sign: float) -> dict[str, _Piece]:
        """Foot and toes, lofted from heel to toe on the sole that physics stands on: flat up to its edges."""
        under = self._find_footprint(side)
        tall = max(under.drop, _FLATTEST * self.stature)
        axes = np.stack([sign * np.cross(under.up, under.forward), under.up, under.forward])
        long = under.front - under.back
        corner = table.CORNER * long * (1.0 - np.cos([0.0, 0.25 * np.pi, 0.5 * np.pi]))
        stations = [0.0, table.ANKLE_POSITION, table.BALL_POSITION, 1.0]
        reach = [under.back, 0.0, under.crease, under.front]

        def piece(along: np.ndarray, domes: tuple[float, float]) -> _Piece:
            rows, s = table.FOOT, np.interp(along, reach, stations)
            top, waist, power = interpolate(rows[:, 0], rows[:, 1:], s).T
            top, waist = top * tall, waist * tall
            edge = np.minimum(np.minimum(along - under.back, under.front - along), corner[-1])
            half = under.half - corner[-1] + np.sqrt(np.maximum(corner[-1] ** 2 - (corner[-1] - edge) ** 2, 0.0))
            # The lower corners of a section, which lie on the superellipse's diagonal, are on the edge of the sole.
            half = half * 2.0 ** (1.0 / _SOLE_POWER)
            extents = np.column_stack([half, half, top - waist, waist])
            powers = np.column_stack([power, np.full(len(power), _SOLE_POWER)])
            sections = straight_sections(along, extents, powers, under.sole, axes)
            raised = Sections(
                sections.centers + waist[:, None] * under.up, sections.x_axis, sections.y_axis, extents,
                sections.powers,
            )  # fmt: skip
            return _Piece.of(loft(add_domes(raised, domes[0] * long, domes[1] * long), sides=16), 0.9)

        heel, blunt, tip = table.FOOT_DOMES
        behind, before = under.back + corner, under.front - corner[::-1]
        if not under.has_toes:
            middle = np.linspace(behind[-1], before[0], 12)[1:-1]
            return {side + "Foot": piece(np.concatenate([behind, middle, before]), (heel, tip))}
        return {
            side + "Foot": piece(np.append(behind, np.linspace(behind[-1], under.crease, 9)[1:]), (heel, blunt)),
            side + "Toes": piece(np.append(np.linspace(under.crease, before[0], 5)[:-1], before), (blunt, tip)),
        }

    def _find_footprint(self, side: str) -> _Footprint:
        """Where a foot is drawn: on the box that physics has for it, or on one of usual size."""
        frame, H = self.frame, self.stature
        ankle, ball = frame.at(side + "Foot"), frame.at(side + "Toes")
        assert ankle is not None
        if side in self._soles:
            number, sole, up = SIDES.index(side), self._soles[side], np.array([0.0, 1.0, 0.0])
            box = build_footing(frame.skeleton)[number]
            forward, crease = rotation.to_matrix(box.turn)[:, 2], find_crease(frame.skeleton, sole, box)
            middle, half, long = float(box.center @ forward), float(box.half[0]), 2.0 * float(box.half[2])
            if crease is not None:
                crease += middle
        else:
            up, long = frame.axes[1], SHORTEST * table.FOOT_LENGTH * H
            ahead = _level(ball if ball is not None else frame.tip(side + "Foot"), ankle, up)
            forward = unit(ahead) if np.linalg.norm(ahead) > 0.02 * H else unit(np.cross(frame.axes[0], up))
            middle, half = (0.5 - table.ANKLE_POSITION) * long, 0.5 * BREADTH * long
            to_ball = 0.0 if ball is None else float((ball - ankle) @ forward)
            crease = to_ball if 0.2 * long < to_ball < 0.7 * long else None
        drop, back = self._find_drop(side), middle - 0.5 * long
        has_toes = crease is not None
        if crease is None:
            crease = back + table.BALL_POSITION * long
        return _Footprint(ankle - drop * up, up, forward, drop, back, crease, back + long, half, has_toes)

    @cached_property
    def _soles(self) -> dict[str, Sole]:
        """The soles that physics stands on, by side; none where the skeleton does not stand on two legs at rest."""
        hips, ankles = self.frame.hips, self.frame.middle("Foot")
        if ankles is None or hips[1] - ankles[1] <= 0.5 * np.linalg.norm(hips - ankles):
            return {}
        try:
            return dict(zip(SIDES, find_soles(self.frame.skeleton), strict=True))
        except InputError:
            return {}

    def _find_drop(self, side: str) -> float:
        """m from the ankle's joint down to the sole: to the plane that physics stands on, or an estimate of it."""
        frame, H = self.frame, self.stature
        if side in self._soles:
            return -float(self._soles[side].heel[1])
        ankle, up = frame.at(side + "Foot"), frame.axes[1]
        assert ankle is not None
        if 0.02 * H < ankle[1] < 0.085 * H:  # the skeleton is on the ground at rest
            return float(ankle[1])
        below = [(ankle - p) @ up for p in (frame.at(side + "Toes"), frame.tip(side + "Toes")) if p is not None]
        return float(np.clip(max(below) + 0.010 * H, 0.03 * H, 0.06 * H)) if below else table.ANKLE_HEIGHT * H


def _lapped(start: float, end: float, laps_start: bool, laps_end: bool) -> tuple[np.ndarray, np.ndarray]:
    """Positions (N,) of a trunk piece's sections with what reaches past its cuts, and factors (N,) on their widths."""
    u = np.linspace(start, end, 3 + int(np.ceil((end - start) / 0.07)))
    width = np.ones(len(u))
    if laps_start:
        u, width = np.concatenate([start - _LAP[::-1], u]), np.concatenate([_LAP_WIDTH[::-1], width])
    if laps_end:
        u, width = np.concatenate([u, end + _LAP]), np.concatenate([width, _LAP_WIDTH])
    return u, width


def _head_height(stature: float) -> float:
    """m from chin to crown: 0.13 of an adult's stature (Drillis and Contini 1966), a larger share of a child's.

    A line through 0.228 m at 1.75 m and about 0.205 m at 1.20 m; bodies of other sizes than people's keep a share.
    """
    return float(np.clip(0.154 + 0.0422 * stature, 0.125 * stature, 0.2 * stature))


def _level(point: np.ndarray | None, origin: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(3,) from origin to point without its rise; zero where there is no point."""
    if point is None:
        return np.zeros(3)
    line = point - origin
    return np.asarray(line - (line @ up) * up)
