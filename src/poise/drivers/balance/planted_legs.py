"""What legs on planted feet do under hips that move as planned, and the torques which that takes of itself.

Hips that go somewhere take the legs along. Each leg has six freedoms (three at the hip, one at the knee, two at the
ankle) and a foot that stays where it is has six conditions, so that the whole leg follows from the hips. What its
masses then ask of its joints, and what the joints' damping takes away, is known before anything is simulated:

    tau_j = sum over thigh and shank below j of  (x - p_j) x m x'' + (I w)'   +   d_j (w_child - w_parent)

A foot that carries much is held by friction whatever its leg does. One that carries little is dragged along by it,
unless this is fed forward.
"""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

RATE = 40.0  # Hz: legs are looked at this often at most; what is planned is slower than 4 Hz
_ROUNDS = 12
_SOFT = 1e-6  # of the squared size of a leg: lets a knee that is straight stay straight
_LONGEST_TURN = 0.3  # rad a round


def find_leg_torques(
    body: Body, legs: np.ndarray, places: np.ndarray, turns: np.ndarray, rate: float, damping: np.ndarray
) -> np.ndarray:
    """(F, 2, 3, 3) N m, world axes, at hip, knee and ankle of both legs.

    legs     (2, 3) joints;  damping (J,) N m s/rad
    places   (F, 3) m, of the hips, turns (F, 4) their orientations, at `rate` frames a second
    """
    from scipy.interpolate import CubicSpline

    every = max(1, int(rate / RATE))
    picked = np.unique(np.append(np.arange(0, len(places), every), len(places) - 1))
    if len(picked) < 5:
        return np.zeros((len(places), 2, 3, 3))
    times = picked / rate
    hips = int(body.tree.parents[legs[0, 0]])
    found = [_leg_torques(body, leg, hips, places[picked], turns[picked], times, damping) for leg in legs]
    spline = CubicSpline(times, np.stack(found, axis=1))
    return np.asarray(spline(np.arange(len(places)) / rate))


def _leg_torques(
    body: Body,
    leg: np.ndarray,
    hips: int,
    places: np.ndarray,
    turns: np.ndarray,
    times: np.ndarray,
    damping: np.ndarray,
) -> np.ndarray:
    """(F, 3, 3) of one leg."""
    sockets, thighs, shanks = _bend(body, leg, hips, places, rotation.to_matrix(turns))
    shin = body.R[leg[0]].T @ (body.p[leg[1]] - body.p[leg[0]])
    knees = sockets + thighs @ shin
    pelvis_spin = _spin(turns, times)
    spins = [_spin(rotation.make_continuous(rotation.from_matrix(R)), times) for R in (thighs, shanks)]
    torque = np.zeros((len(times), 3, 3))
    bottom = int(leg[2])
    for k, (R, at, spin) in enumerate(((thighs, sockets, spins[0]), (shanks, knees, spins[1]))):
        piece = _find_piece(body, int(leg[k]), int(leg[k + 1]))
        place = at + R @ piece.center
        pull = piece.mass * _rate(_rate(place, times), times)
        turning = _rate(np.einsum("fij,jk,flk,fl->fi", R, piece.inertia, R, spin), times)
        for j, joint in enumerate((sockets, knees)[: k + 1]):
            torque[:, j] += np.cross(place - joint, pull) + turning
    torque[:, 0] += damping[leg[0]] * (spins[0] - pelvis_spin)
    torque[:, 1] += damping[leg[1]] * (spins[1] - spins[0])
    torque[:, 2] -= damping[bottom] * spins[1]
    return torque


def _bend(
    body: Body, leg: np.ndarray, hips: int, places: np.ndarray, turned: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sockets (F, 3) and orientations (F, 3, 3) of thigh and shank for which the foot is where it is now.

    By Newton's method for all frames at once, from the leg as it is now.
    """
    hip, knee, foot = (int(joint) for joint in leg)
    R, p, f = body.R, body.p, len(places)
    now = turned @ R[hips].T  # how far the hips have turned
    sockets = places + now @ (p[hip] - p[hips])
    upper, lower = R[hip].T @ (p[knee] - p[hip]), R[knee].T @ (p[foot] - p[knee])
    size = float(np.linalg.norm(upper) + np.linalg.norm(lower))
    knee_axes, foot_axes = _find_axes(body, knee, 1), _find_axes(body, foot, 2)
    thigh, bent = now @ R[hip], np.zeros(f)
    rolled = np.zeros((f, 2))
    knee_rest, foot_rest = R[hip].T @ R[knee], R[knee].T @ R[foot]
    for _ in range(_ROUNDS):
        shank = thigh @ knee_rest @ _about(knee_axes[0], bent)
        middle = shank @ foot_rest @ _about(foot_axes[0], rolled[:, 0])
        sole = middle @ _about(foot_axes[1], rolled[:, 1])
        knees = sockets + thigh @ upper
        ankles = knees + shank @ lower
        missing = np.concatenate([(p[foot] - ankles) / size, _log(R[foot] @ sole.swapaxes(1, 2))], axis=1)
        axes = [*np.eye(3)[:, None].repeat(f, axis=1), shank @ knee_axes[0]]
        arms = [ankles - sockets] * 3 + [ankles - knees]
        columns = [np.concatenate([np.cross(a, r) / size, a], axis=1) for a, r in zip(axes, arms, strict=True)]
        columns += [
            np.concatenate([np.zeros((f, 3)), turn @ axis], axis=1)
            for turn, axis in ((middle, foot_axes[0]), (sole, foot_axes[1]))
        ]
        J = np.stack(columns, axis=-1)
        square = J.swapaxes(1, 2) @ J + _SOFT * np.eye(6)
        step = np.linalg.solve(square, J.swapaxes(1, 2) @ missing[..., None])[..., 0]
        step *= np.minimum(1.0, _LONGEST_TURN / np.maximum(np.linalg.norm(step, axis=1), 1e-12))[:, None]
        thigh = rotation.to_matrix(rotation.exp(step[:, :3])) @ thigh
        bent, rolled = bent + step[:, 3], rolled + step[:, 4:]
    return sockets, thigh, thigh @ knee_rest @ _about(knee_axes[0], bent)


def _find_axes(body: Body, joint: int, count: int) -> np.ndarray:
    """(count, 3) unit, what a joint turns about, in its own axes: the body's sideways and its forward if not known."""
    known = body.character.freedoms.get(body.skeleton.names[joint])
    if known is not None and len(known) >= count:
        return np.asarray(known[:count], float)
    return np.eye(3)[[0, 2]][:count] @ body.R[joint]


def _find_piece(body: Body, top: int, below: int) -> RigidInertia:
    """All that moves with a joint down to the next, in its frame."""
    rest = set(body.skeleton.descendants(below))
    parts = []
    for i in body.skeleton.descendants(top):
        if i in rest:
            continue
        turn = body.R[top].T @ body.R[i]
        own = body.tree.body(i)
        center = body.R[top].T @ (body.p[i] - body.p[top]) + turn @ own.center
        parts.append(RigidInertia(own.mass, center, turn @ own.inertia @ turn.T))
    return RigidInertia.total(parts)


def _about(axis: np.ndarray, angles: np.ndarray) -> np.ndarray:
    return rotation.to_matrix(rotation.exp(angles[:, None] * axis))


def _log(R: np.ndarray) -> np.ndarray:
    return rotation.log(rotation.from_matrix(R))


def _rate(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    return np.asarray(np.gradient(values, times, axis=0))


def _spin(turns: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(F, 3) rad/s in world axes of orientations (F, 4)."""
    steps = rotation.log(rotation.multiply(turns[1:], rotation.conjugate(turns[:-1]))) / np.diff(times)[:, None]
    return np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])
