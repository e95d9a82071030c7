"""A clip changed as little as needed so that it balances.   [balance, K4b]

What must be over the support:
  com   the centre of mass, at every frame that something is down: clips that stand. Slow ones, and poses.
  zmp   the zero-moment point, on the average over some seconds: clips that step or fly, whose centre of mass is
        rightly outside for moments. Recordings have it outside by up to `TOLERANCE` by themselves, since feet are found
        from motion alone; more is a lean. Where the clip is off its feet (it lies, sits, falls) nothing is changed.

How far it is outside says where the centre of mass goes. That is widened and smoothed in time, so that a correction
comes and goes softly, and each frame is solved for it from the recorded pose on. Feet that are down stay to the last,
feet in the air as near as they can. What else is kept is a choice:
  pose   the joints' angles: the body goes back over its feet as it is, mostly about its ankles
  hands  the places of hands and head: hips and legs go where they must
What changed at each joint is smoothed once more, and what stands is put back. Frames that need nothing, and are not
near to any that do, stay as they were; a clip without any is given back as it is.

What a clip stands on at each frame, seen from above, is soles that are down, or parts of them, knees and hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import leg_length
from poise.body.roles import SIDES, TRUNK_ROLES
from poise.drivers.balance.support_polygon import find_outline
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import InputError, unknown_name
from poise.ik.goals import Goal, OrientationGoal, PositionGoal
from poise.ik.pose_solver import PoseSolver
from poise.ik.support_polygon import find_edges
from poise.jobs.balance.job import AUTO, COM, HANDS, KEEPS, POSE, RULES, ZMP
from poise.jobs.shared.simulation import cut_character
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import Contacts, find_contacts
from poise.motion.contacts.points import foot_points
from poise.motion.contacts.stepping import find_steps
from poise.motion.parts import find_runs
from poise.motion.root import root_at_hips
from poise.spatial import rotation
from poise.spatial.filter import blur, widen
from poise.world.foot_boxes import find_drawn_soles

TOLERANCE = 0.12  # m: a mean zero-moment point that is outside by less is a recording's own
_MEAN, _SHORTEST = 3.0, 2.0  # s, over which it is taken; shorter clips are not judged by it
# Of the legs' length: a mean that is farther outside, and a centre of mass that is lower, is no lean: it lies or falls
_OFF, _LOW = 0.5, 0.6
_SOFTLY = 0.25  # s, in which a correction comes and goes
_JOINTS = 0.12  # s, over which what changed at the joints is smoothed
_REST = 1 / 3  # of the tolerance: where a lean is corrected, it is down to this
_HANDS, _SWING = 0.003, 1.0  # weights of hands and head, and of feet in the air
_UPPER = 4.0  # how much harder than legs trunk and arms are turned: they keep their pose, and go along
_ROUNDS, _LAST_ROUNDS = 40, 60
_EXACT, _FOUND = 1e-6, 1e-4  # m
_PUSHES = 0.5  # of the weight: where the ground pushes less, nothing is said of the zero-moment point


@dataclass(frozen=True, eq=False)
class Balanced:
    """A clip that balances.

    clip       the clip itself where nothing was to be done
    by         `com` or `zmp`
    shift      (F, 2) m, x and z, that the centre of mass was to go by
    changed    (F,) frames that are not as they were
    before     (F,) m, how far the centre of mass was inside the support; NaN where nothing is down
    after      (F,) m, how far it is now
    support    F outlines (N, 2) m
    center     (F, 3) m, now
    contacts   what is down
    notes      a sentence each
    """

    clip: Clip
    by: str
    shift: np.ndarray
    changed: np.ndarray
    before: np.ndarray
    after: np.ndarray
    support: list[np.ndarray]
    center: np.ndarray
    contacts: Contacts
    notes: tuple[str, ...] = ()


def balance_clip(
    clip: Clip,
    character: Character,
    by: str = AUTO,
    margin: float = 0.01,
    keep: str = POSE,
    progress: Callable[[str], None] = lambda _: None,
) -> Balanced:
    """Balance a clip.

    character  a body on the clip's own skeleton
    by         what must be over the support: `auto`, `com` or `zmp`
    margin     m from the edge of the support, that the centre of mass comes in by where it was outside
    keep       what stays as it was: the `pose`, or the places of `hands` and head
    """
    if by not in RULES:
        raise unknown_name("rule", by, RULES)
    if keep not in KEEPS:
        raise unknown_name("what is kept,", keep, KEEPS)
    rooting = root_at_hips(clip)
    found = _balance(rooting.body, cut_character(character, rooting.body.skeleton), by, margin, keep, progress)
    if not found.changed.any():
        result = clip
    elif rooting.body is clip:
        result = found.clip
    else:
        restored = rooting.restore(found.clip, range(len(rooting.joints)))
        result = _keep(clip, restored, found.changed)
    notes = (*found.notes, *rooting.describe_stretch()) if found.changed.any() else found.notes
    return Balanced(
        result, found.by, found.shift, found.changed, found.before, found.after, found.support, found.center,
        found.contacts, notes,
    )  # fmt: skip


def _balance(
    clip: Clip, character: Character, by: str, margin: float, keep: str, progress: Callable[[str], None]
) -> Balanced:
    _check_feet(clip)
    contacts = find_contacts(clip)
    points, tree = find_support_points(clip, contacts), build_tree(character)
    center = compute_center_of_mass(tree, *clip.poses)
    before, notes = measure_margins(points, center), list[str]()
    if by == AUTO:
        by = ZMP if len(clip) > 2 and (find_steps(clip) or contacts.flight.any()) else COM
        why = "it steps or flies" if by == ZMP else "it stands"
        what = "its zero-moment point counts" if by == ZMP else "its centre of mass counts"
        notes.append(f"{why}: {what}.")
    if by == COM:
        need = _find_needed(points, center, before, margin)
        shift = _soften(clip.times, need)
    else:
        shift, said = _find_lean(clip, character, points, center)
        notes += said
    changed = np.linalg.norm(shift, axis=1) > 0.0
    if not changed.any():
        notes.append("nothing was to be done.")
        return Balanced(clip, by, shift, changed, before, before, points, center, contacts, tuple(notes))
    solver = _Solver(clip, character, contacts, points, center, keep)
    progress(f"balancing {int(changed.sum())} frames")
    roots, turns = solver.find(shift, changed)
    roots, turns, changed = _smooth(clip, roots, turns, changed)
    roots, turns = solver.put_back(roots, turns, shift, changed, by)
    result = _keep(clip, Clip(clip.skeleton, clip.times, roots, turns, clip.name), changed)
    center = compute_center_of_mass(tree, *result.poses)
    return Balanced(
        result, by, shift, changed, before, measure_margins(points, center), points, center, contacts, tuple(notes)
    )


def measure_margins(points: list[np.ndarray], center: np.ndarray) -> np.ndarray:
    """(F,) m, how far centres of mass (F, 3) are inside what carries; NaN where nothing does."""
    out = np.full(len(center), np.nan)
    for f, (corners, spot) in enumerate(zip(points, center, strict=True)):
        if len(corners):
            out[f] = find_outline(_lift(corners)).find_margin(spot[0], spot[2])
    return out


def _lift(points: np.ndarray) -> np.ndarray:
    """Points (N, 2) on the ground as (N, 3)."""
    return np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])


def _find_needed(points: list[np.ndarray], center: np.ndarray, before: np.ndarray, margin: float) -> np.ndarray:
    """(F, 2) m, that each centre of mass which is outside must go by to be inside by a margin."""
    need = np.zeros((len(center), 2))
    for f in np.flatnonzero(before < 0.0):
        need[f] = _pull_in(points[f], center[f, [0, 2]], margin) - center[f, [0, 2]]
    return need


def _pull_in(points: np.ndarray, place: np.ndarray, margin: float) -> np.ndarray:
    """(2,) m, the nearest place to one (2,) inside the outline of points (N, 2), by a margin or as far as it goes."""
    edges = find_edges(points, margin)
    at = place.copy()
    for _ in range(200):  # from edge to edge: the outline is convex
        over = edges[:, :2] @ at - edges[:, 2]
        worst = int(np.argmax(over))
        if over[worst] <= 1e-12:
            break
        at = at - over[worst] * edges[worst, :2]
    return np.asarray(at)


def _soften(times: np.ndarray, need: np.ndarray) -> np.ndarray:
    """(F, 2) m: as needed (F, 2) at least, and soft in time. Each way by itself, so that no peak is cut."""
    if len(times) < 2:
        return need
    half = max(round(_SOFTLY / float(np.median(np.diff(times)))), 1)
    out = np.zeros_like(need)
    for axis in range(2):
        for sign in (1.0, -1.0):
            wide = widen(np.maximum(sign * need[:, axis], 0.0), half)
            out[:, axis] += sign * blur(wide, half)
    return out


def _find_lean(
    clip: Clip, character: Character, points: list[np.ndarray], center: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """(F, 2) m, that a motion is to be shifted by, from the mean of how far its zero-moment point is outside."""
    if clip.duration < _SHORTEST:
        return np.zeros((len(clip), 2)), [
            f"it moves, and lasts {clip.duration:.1f} s: too short to tell a lean from a start or a stop."
        ]
    mean, leg = find_mean_lean(clip, character, points, center), leg_length(clip.skeleton, "left")
    size, said = np.linalg.norm(mean, axis=1), []
    on_feet = (size <= _OFF * leg) & (center[:, 1] - find_contacts(clip).ground_height > _LOW * leg)
    half = max(int(0.5 * _MEAN * clip.fps), 1)
    if not on_feet.all():
        said.append("it is off its feet, lying, sitting or falling, for a while: nothing is changed near to that.")
        on_feet = widen((~on_feet).astype(float), half) == 0.0
    leans = np.zeros(len(clip), bool)
    for first, last in find_runs((size > _REST * TOLERANCE) & on_feet):
        leans[first : last + 1] = size[first : last + 1].max() > TOLERANCE
    gate = blur(widen(leans.astype(float), half), half)
    return np.where(on_feet[:, None], mean, 0.0) * gate[:, None], said


def find_mean_lean(clip: Clip, character: Character, points: list[np.ndarray], center: np.ndarray) -> np.ndarray:
    """(F, 2) m, the way from a zero-moment point that is outside to the support, on the average over some seconds."""
    from poise.motion.forces.forces import compute_forces

    if len(clip) < 8:
        raise InputError(f"a zero-moment point needs at least 8 frames; the clip has {len(clip)}. Balance it by com.")
    reaction = compute_forces(clip, character).reaction
    pressure, weight = reaction.pressure[:, [0, 2]], 9.81 * character.mass
    known = np.isfinite(pressure).all(axis=1) & (reaction.force[:, 1] > _PUSHES * weight)
    need = np.zeros((len(clip), 2))
    for f in np.flatnonzero(known):
        if len(points[f]):
            # an acceleration that would take it farther than this is no recording's
            spot = np.clip(pressure[f], center[f, [0, 2]] - 0.5, center[f, [0, 2]] + 0.5)
            need[f] = _pull_in(points[f], spot, 0.0) - spot
        else:
            known[f] = False
    half = max(int(0.5 * _MEAN * clip.fps), 1)
    share = blur(known.astype(float), half)
    return np.asarray(blur(need, half) / np.maximum(share, 0.2)[:, None])


class _Solver:
    """Poses of a clip, solved for another place of the centre of mass."""

    def __init__(
        self, clip: Clip, character: Character, contacts: Contacts, points: list[np.ndarray], center: np.ndarray,
        keep: str,
    ):  # fmt: skip
        self.clip, self.character, self.contacts = clip, character, contacts
        self.points, self.center = points, center
        self.positions, self.turns = clip.world
        skeleton = clip.skeleton
        upper = [*TRUNK_ROLES, "neck", "head"]
        upper += [side + stem for side in SIDES for stem in ("Shoulder", "UpperArm", "LowerArm", "Hand")]
        hard = {role: _UPPER for role in upper if (skeleton.find_role(role) or 0) > 0}
        self._posers = {held: PoseSolver(character, held, hard, 0.0) for held in (None, "leftFoot", "rightFoot")}
        ends = ("leftHand", "rightHand", "head") if keep == HANDS else ()
        self._ends = [role for role in ends if (skeleton.find_role(role) or 0) > 0]

    def find(self, shift: np.ndarray, changed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Roots (F, 3) and rotations (F, J, 4) with the centre of mass shifted by (F, 2) m."""
        roots, turns = self.clip.root.copy(), self.clip.rotations.copy()
        for f in np.flatnonzero(changed).tolist():
            held, goals = self._stand(f)
            goals += [PositionGoal(role, self._place(f, role), weight=_HANDS) for role in self._ends]
            x, z = self.center[f, [0, 2]] + shift[f]
            posed = self._posers[held].solve(
                goals, roots[f], turns[f], center=(float(x), None, float(z)), enough=_FOUND, rounds=_ROUNDS
            )
            roots[f], turns[f] = posed.root, posed.rotations
        return roots, turns

    def put_back(
        self, roots: np.ndarray, turns: np.ndarray, shift: np.ndarray, changed: np.ndarray, by: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses with what stands where it was, and the centre of mass inside, or shifted as asked."""
        for f in np.flatnonzero(changed).tolist():
            held, goals = self._stand(f)
            root, rotations = roots[f], turns[f]
            if held is not None:
                root, rotations = self._hang_on(f, held, rotations)
            center: tuple[float | None, float | None, float | None] = (None, None, None)
            support = self.points[f] if by == COM and len(self.points[f]) else None
            if by == ZMP:
                x, z = self.center[f, [0, 2]] + shift[f]
                center = (float(x), None, float(z))
            posed = self._posers[held].solve(
                goals, root, rotations, support, 1e-4, center=center, enough=_EXACT, rounds=_LAST_ROUNDS
            )
            roots[f], turns[f] = posed.root, posed.rotations
        return roots, turns

    def _stand(self, f: int) -> tuple[str | None, list[Goal]]:
        """The foot that is held, and goals for the other."""
        down = self.contacts.foot[f]
        held = next((side for side, is_down in zip(SIDES, down, strict=True) if is_down), None)
        goals: list[Goal] = []
        for side, is_down in zip(SIDES, down, strict=True):
            name = side + "Foot"
            if side == held:
                continue
            turn, first = self.turns[f, self.clip.skeleton.index(name)].tolist(), bool(is_down)
            goals.append(PositionGoal(name, self._place(f, name), weight=_SWING, first=first))
            goals.append(OrientationGoal(name, turn, weight=_SWING, first=first))
        return (None if held is None else held + "Foot"), goals

    def _place(self, f: int, role: str) -> list[float]:
        return [float(x) for x in self.positions[f, self.clip.skeleton.index(role)]]

    def _hang_on(self, f: int, held: str, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pose with the held foot where the clip has it."""
        skeleton, i = self.clip.skeleton, self.clip.skeleton.index(held)
        loose = rotations.copy()
        loose[0] = rotation.identity()
        places, world = skeleton.pose(np.zeros(3), loose)
        loose[0] = rotation.multiply(self.turns[f, i], rotation.conjugate(world[i]))
        return self.positions[f, i] - rotation.rotate(loose[0], places[i]), loose


def _smooth(
    clip: Clip, roots: np.ndarray, turns: np.ndarray, changed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses whose changes from a clip's are smooth in time; and which frames are changed now."""
    if len(clip) < 3:
        return roots, turns, changed
    half = max(round(_JOINTS * clip.fps), 1)
    turned = blur(rotation.log(rotation.multiply(rotation.conjugate(clip.rotations), turns)), half)
    moved = blur(roots - clip.root, half)
    wide = widen(changed.astype(float), half) > 0.0
    return clip.root + moved, rotation.multiply(clip.rotations, rotation.exp(turned)), wide


def _keep(clip: Clip, result: Clip, changed: np.ndarray) -> Clip:
    """A result, with the frames that did not change as they were, to the last bit."""
    root, rotations = result.root.copy(), result.rotations.copy()
    root[~changed], rotations[~changed] = clip.root[~changed], clip.rotations[~changed]
    shifts = result.shifts
    if shifts is not None and clip.shifts is not None:
        shifts = shifts.copy()
        shifts[~changed] = clip.shifts[~changed]
    return clip.replace(root=root, rotations=rotations, shifts=shifts)


def _check_feet(clip: Clip) -> None:
    for side in SIDES:
        if clip.skeleton.find_role(side + "Foot") is None:
            raise InputError("only a body with two feet is balanced; give their joints with roles.")


_HEEL = 0.4  # of the way from heel to ball, that a heel by itself carries on
_PAD = 0.03  # m, about a knee or a wrist


def find_support_points(clip: Clip, contacts: Contacts) -> list[np.ndarray]:
    """Points (N, 2) m, x and z, that carry at each frame; none where nothing is down."""
    parts = foot_points(clip)
    positions, _ = clip.world
    found: list[list[np.ndarray]] = [[] for _ in range(len(clip))]
    for side, name in enumerate(SIDES):
        soles = find_drawn_soles(clip.skeleton)[side].pick_flat().place(*clip.world)[..., [0, 2]]
        heel, ball = (parts[:, side, k][:, [0, 2]] for k in range(2))
        ahead = (ball - heel) / np.maximum(np.linalg.norm(ball - heel, axis=1, keepdims=True), 1e-9)
        along = np.sum((soles - heel[:, None]) * ahead[:, None], axis=-1)
        reach = np.sum((ball - heel) * ahead, axis=-1)
        for f in np.flatnonzero(contacts.foot[:, side]):
            part = np.ones(soles.shape[1], bool)
            if not contacts.toe[f, side]:
                part = along[f] <= max(_HEEL * reach[f], along[f].min())
            elif not contacts.heel[f, side]:
                part = along[f] >= min(reach[f], along[f].max())
            found[f].append(soles[f, part])
        for kind, role in (("knee", "LowerLeg"), ("hand", "Hand")):
            down, joint = getattr(contacts, kind), clip.skeleton.find_role(name + role)
            if joint is None or not len(down):
                continue
            for f in np.flatnonzero(down[:, side]):
                found[f].append(positions[f, joint][[0, 2]] + _PAD * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]))
    return [np.concatenate(points) if points else np.zeros((0, 2)) for points in found]
