"""The path of the centre of mass that gravity and the ground allow, nearest to the one that was recorded.

What is known of forces without a force plate:
  flight    where nothing touches, the centre of mass falls at g;
  push      the ground pushes and never pulls;
  friction  it holds a foot with at most MU times its push.

A recorded centre of mass breaks these rules, since bodies are not made of rigid segments and markers sit on skin: in a
run with force plates it goes 13 % too far up and down, which no filter can see, and each flight shows it (10.7 instead
of 9.8 m/s2). So three things are found from the flights, and none from a plate:

    T      the smoothing that brings the flights, if they are not told to, nearest to free fall (`spatial/spline.py`)
    gain   how much of the vertical swing there really is: the one with which a path that keeps the rules fits best
    c(t)   the smooth path that keeps the rules and lies nearest to the recorded one

Where there is no flight and no pull nothing is known, and the recorded path stays as it is. It also stays where its
flights do not fall at anything like g: a drawn jump, or a wrong frame rate, is not a capture's error.

A body's motion keeps the laws of flight and ground by moving and turning as a whole.

The centre of mass follows a path that keeps them (`center_path.py`). Likewise nothing can turn a body that flies: its
angular momentum L about the centre of mass stays. L is fitted in the same way, as the rate of a path whose acceleration
is the moment M = dL/dt, which is zero in flight. What has to be added is a motion of the whole body as if it were one
rigid piece, which changes no joint's angle:

    da      = a_path - a                    m/s2, of the centre of mass
    dalpha  = I_c^-1 (M_path - M)           rad/s2, I_c: inertia about the centre of mass, locked in its pose
    a_root  + da + dalpha x (root - c)      the net force is then m (a_path - g), the net moment M_path, exactly
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from poise.dynamics.ground_reaction import root_wrench
from poise.dynamics.kinematics import compute_composites, compute_momentum, compute_world_pose
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState
from poise.motion.parts import find_runs
from poise.spatial import rotation
from poise.spatial.spline import FallingFit, Path

MU = 1.0  # rubber on a dry floor; force plates under runs and cuts seldom show more
_G = float(np.linalg.norm(GRAVITY))
_PERIODS = tuple(np.geomspace(0.04, 0.32, 13))  # s, the smoothings that are tried: 25 to 3 Hz
_AS_GOOD = 1.02  # the least smoothing within this of the best
_GAINS = (0.75, 1.2)  # within these the true swing is sought
_TREND = 2.0  # s: slower changes of height are no swing
_FEWEST_FRAMES = 8
# In g: flights that fall slower or faster on the average are not a capture's. Runs here fall at 0.8 to 1.1.
_GRAVITYS = (0.7, 1.4)
_NEAR = (0.35, 0.7)  # s from a flight: pushes off and landings are within the first
_JUDGED = 0.1  # s, the smoothing at which that is judged
_PULL = 0.02  # of g
_FEWEST_FLIGHT = 3  # frames, without which there is nothing to choose by
_TRIES = 12  # rounds in which frames that pull or slip are held to the rule
_SLACK = 0.01  # m/s2
_PUSHED = 0.4  # of g; 0.3 to 0.5 do alike


@dataclass(frozen=True, eq=False)
class CenterPath:
    """The path of a centre of mass that keeps the rules.

    place, acceleration  (F, 3) m, m/s2
    moved                (F, 3) m, from the recorded place
    hz                   1 / T around flights, where the smoothing halves a motion
    periods              (F,) s, T at every frame: longer where nothing flies for a while
    gain                 of the vertical swing, 1 as recorded
    flight               (F,) where it falls freely: what was given, less the frames in which the ground clearly pushes
    reason               a sentence
    """

    place: np.ndarray
    acceleration: np.ndarray
    moved: np.ndarray
    hz: float
    periods: np.ndarray
    gain: float
    flight: np.ndarray
    reason: str


def find_center_path(center: np.ndarray, rate: float, flight: np.ndarray, cutoff: float) -> CenterPath | None:
    """The path nearest to `center` (F, 3) m, at `rate` Hz, that falls freely in `flight` (F,) and is pushed elsewhere.

    cutoff  Hz, how to smooth where nothing flies for a while, or too few frames do to tell
    None where there is no flight and the path, smoothed so, keeps the rules; and where its flights are not gravity's.
    """
    if len(center) < _FEWEST_FRAMES or 2.0 / rate > _PERIODS[-1]:
        return None
    if flight.sum() < _FEWEST_FLIGHT:
        fit = FallingFit(len(center), rate, min(1.0 / cutoff, _PERIODS[-1]))
        if _keeps_rules(_fit_freely(fit, center)):
            return None
        path = keep_rules(fit, center, flight)
        return _tell(path, center, np.full(len(center), 1.0 / cutoff), 1.0, flight, "and no ground pulls")
    fits = {period: FallingFit(len(center), rate, period) for period in _PERIODS if period > 2.0 / rate}
    judged = fits[min(fits, key=lambda period: abs(period - _JUDGED))]
    sure = _trim(judged, center, flight)
    if not _GRAVITYS[0] < -_fit_freely(judged, center)[sure, 1].mean() / _G < _GRAVITYS[1]:
        return None
    swing = _find_swing(center, 1.0 / rate)
    gain = 1.0
    for _ in range(2):  # each choice sharpens the other
        period = _choose_period(fits, _scaled(center, swing, gain), flight)
        gain = _choose_gain(fits[period], center, swing, flight)
        flight = _trim(fits[period], _scaled(center, swing, gain), flight)
    calm = find_calm(flight, rate)
    lasts = np.exp((1.0 - calm) * np.log(period) + calm * np.log(max(period, min(1.0 / cutoff, _PERIODS[-1]))))
    path = keep_rules(FallingFit(len(center), rate, lasts), _scaled(center, swing, gain), flight)
    said = f"which brings the flights nearest to free fall, with {100 * gain:.0f} % of the recorded swing"
    return _tell(path, center, lasts, gain, flight, said)


def _tell(
    path: Path, center: np.ndarray, periods: np.ndarray, gain: float, flight: np.ndarray, said: str
) -> CenterPath:
    """A fitted path beside the recorded one, center (F, 3)."""
    moved, hz = path.place - center, 1.0 / float(periods.min())
    most = 1e3 * float(np.linalg.norm(moved, axis=1).max())
    reason = f"{hz:.1f} Hz, {said}; the centre of mass was moved by up to {most:.0f} mm."
    return CenterPath(path.place, path.acceleration, moved, hz, periods, gain, flight, reason)


def _fit_freely(fit: FallingFit, x: np.ndarray) -> np.ndarray:
    """(F, 3) m/s2, the acceleration of x smoothed, without any rule."""
    return fit.fit(x, np.zeros((len(x), 3), bool), np.zeros((len(x), 3))).acceleration


def _keeps_rules(acceleration: np.ndarray) -> bool:
    """Whether the ground only pushes; a little pull is a filter's."""
    return bool((acceleration[:, 1] - GRAVITY[1]).min() > -_PULL * _G)


def find_calm(flight: np.ndarray, rate: float) -> np.ndarray:
    """(F,) 0 near a flight, 1 well away from it: what is chosen by the flights holds for the pushes around them."""
    frames = np.arange(len(flight))
    at = np.flatnonzero(flight)
    after = np.searchsorted(at, frames)
    since = frames - at[np.maximum(after - 1, 0)]
    until = at[np.minimum(after, len(at) - 1)] - frames
    away = np.minimum(np.abs(since), np.abs(until)) / rate
    u = np.clip((away - _NEAR[0]) / (_NEAR[1] - _NEAR[0]), 0.0, 1.0)
    return np.asarray(u * u * (3.0 - 2.0 * u))


def keep_rules(fit: FallingFit, x: np.ndarray, flight: np.ndarray) -> Path:
    """The path nearest to x (F, 3) that falls in flight, is never pulled, and slips nowhere."""
    free, slips, limited = flight.copy(), np.zeros(len(x), bool), np.zeros_like(x)
    for _ in range(_TRIES):
        known = np.repeat(free[:, None], 3, axis=1)
        wanted = np.tile(GRAVITY, (len(x), 1)).astype(float)
        if slips.any():
            known[slips] |= [True, False, True]
            wanted[slips] = limited[slips]
        path = fit.fit(x, known, wanted)
        force = path.acceleration - GRAVITY
        pulls = (force[:, 1] < -_SLACK) & ~free
        aside = np.linalg.norm(force[:, [0, 2]], axis=1)
        over = (aside > MU * np.maximum(force[:, 1], 0.0) + _SLACK) & ~free & ~pulls
        if not pulls.any() and not over.any():
            break
        free |= pulls
        slips = (slips | over) & ~free
        limited = force * [1.0, 0.0, 1.0] * (MU * np.maximum(force[:, 1], 0.0) / np.maximum(aside, 1e-9))[:, None]
    force = path.acceleration - GRAVITY
    # What is left of a violation after all rounds is cut off.
    force[:, 1] = np.maximum(force[:, 1], 0.0)
    aside = np.linalg.norm(force[:, [0, 2]], axis=1)
    force[:, [0, 2]] *= np.minimum(1.0, MU * force[:, 1] / np.maximum(aside, 1e-12))[:, None]
    force[free] = 0.0
    return Path(path.place, force + GRAVITY, path.misfit, path.penalty)


def _choose_period(fits: dict[float, FallingFit], x: np.ndarray, flight: np.ndarray) -> float:
    """The least smoothing that brings the flights about as near to free fall as any, without being told of them.

    Heights alone: what is too smooth lets the push before and after a flight leak into it. Sideways there is little to
    leak, and the smoother the better it would seem.
    """
    errors = {}
    for period, fit in fits.items():
        fall = _fit_freely(fit, x)[flight, 1]
        errors[period] = float(np.sqrt(np.mean((fall - GRAVITY[1]) ** 2)))
    good = _AS_GOOD * min(errors.values())
    return next(period for period, error in errors.items() if error <= good)


def _trim(fit: FallingFit, x: np.ndarray, flight: np.ndarray) -> np.ndarray:
    """(F,) the flights without first and last frames in which the ground clearly pushes: their feet were down already.

    One frame of a hard landing that is taken for flight does more harm than ten of a flight that are not.
    """
    push = _fit_freely(fit, x)[:, 1] - GRAVITY[1]
    sure = push < _PUSHED * _G
    out = flight.copy()
    for first, last in find_runs(flight):
        inside = np.flatnonzero(sure[first : last + 1])
        if len(inside):
            out[first : first + inside[0]] = False
            out[first + inside[-1] + 1 : last + 1] = False
    return out


def _choose_gain(fit: FallingFit, center: np.ndarray, swing: np.ndarray, flight: np.ndarray) -> float:
    """How much of the vertical swing there is: the gain with which a path that falls in flight fits the data best."""
    from scipy.optimize import minimize_scalar

    known = np.repeat(flight[:, None], 3, axis=1)
    wanted = np.tile(GRAVITY, (len(center), 1)).astype(float)

    def cost(gain: float) -> float:
        path = fit.fit(_scaled(center, swing, gain), known, wanted)
        return float(path.misfit[1] / gain**2 + path.penalty[1])

    best = minimize_scalar(cost, bounds=_GAINS, method="bounded", options={"xatol": 2e-3})
    return float(best.x)


def _find_swing(center: np.ndarray, h: float) -> np.ndarray:
    """(F,) m, the height over its slow trend."""
    trend = _smooth(center[:, 1], _TREND / h)
    return np.asarray(center[:, 1] - trend)


def _smooth(y: np.ndarray, frames: float) -> np.ndarray:
    """Whittaker's smoother with a second difference: half its gain at a period of so many frames."""
    from scipy import sparse
    from scipy.linalg import solveh_banded

    n = len(y)
    second = sparse.diags_array(
        [np.ones(n - 2), -2 * np.ones(n - 2), np.ones(n - 2)], offsets=[0, 1, 2], shape=(n - 2, n)
    )
    matrix = (sparse.eye_array(n) + (frames / (2 * np.pi)) ** 4 * (second.T @ second)).tocsr()
    bands = np.zeros((3, n))
    for k in range(3):
        bands[k, : n - k] = matrix.diagonal(-k)
    return np.asarray(solveh_banded(bands, y, lower=True))


def _scaled(center: np.ndarray, swing: np.ndarray, gain: float) -> np.ndarray:
    out = center.copy()
    out[:, 1] -= (1.0 - gain) * swing
    return out


def keep_laws(tree: Tree, state: TreeState, path: CenterPath, rate: float) -> TreeState:
    """The state (F frames at `rate` Hz) with the centre of mass on a path, and turning as its flights allow."""
    force, moment = root_wrench(state, compute_inverse_dynamics(tree, state))
    momentum = compute_momentum(tree, state)
    center = momentum.center
    moment = moment - np.cross(center, force)  # about the centre of mass
    wanted = _fit_moment(momentum.angular, rate, path) if path.flight.any() else moment
    inertia = compute_composites(tree, compute_world_pose(tree, state.root, state.rotations, state.shift))[2][:, 0]
    turn = np.linalg.solve(inertia, (wanted - moment)[..., None])[..., 0]
    shift = path.acceleration - (force / tree.mass + GRAVITY)
    angular = state.angular_acceleration.copy()
    angular[:, 0] += rotation.rotate(rotation.conjugate(state.rotations[:, 0]), turn)
    return dataclasses.replace(
        state,
        root=state.root + path.place - center,
        acceleration=state.acceleration + shift + np.cross(turn, state.root - center),
        angular_acceleration=angular,
    )


def _fit_moment(angular: np.ndarray, rate: float, path: CenterPath) -> np.ndarray:
    """(F, 3) N m, the rate of an angular momentum (F, 3) that does not change in flight."""
    h = 1.0 / rate
    way = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * h * (angular[1:] + angular[:-1]), axis=0)])
    known = np.repeat(path.flight[:, None], 3, axis=1)
    return FallingFit(len(way), rate, path.periods).fit(way, known, np.zeros_like(way)).acceleration
