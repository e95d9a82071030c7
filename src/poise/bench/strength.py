"""A step of the strength paper's controller: accelerations within torque ranges, with goals, beside DAQP.

A human of 39 freedoms stands on one foot in random poses, at random speeds. Goals are the other foot (6 rows), the
centre of mass (3) and a hand (3), each a level of its own.

    step      torques in range, all three levels, then the joints' own tracking
    limits    torques in range and the joints' own tracking: no goals
    driver    steps of `Strength`, accelerations and pushes at once: a weak body stands and swings its arms with a load

DAQP (Arnstroem, Bemporad and Axehill 2022) is called from Python with arrays that are ready for it:

    daqp           its hierarchical form, level by level: the same step. It has no damping
    daqp_weighted  one QP, levels by weights of 1e6, 1e4 and 100 times that of the joints: another, softer step
    daqp_limits    one QP: the same as `limits`
    daqp_driver    one QP: the same as `driver`

and its own C times beside. Ratios are Poise over DAQP within a round: below 1, Poise is faster. Times are those of the
processor, which others on the machine do not change.

The problems are steps of a standing body: inertia, bias, ranges, desired accelerations, and goals.

The left foot stands; the root follows from it: u = T x, with x the accelerations of the joints' own axes. Then
H = T^T H_free T and b = T^T (gravity and speed). Goals are the right foot at rest (6 rows), the centre of mass (3) and
the right hand (3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import poise
from poise import rotation
from poise.bench.harness import Timings, measure
from poise.body.strength.static import static_strength
from poise.drivers.strength.problem import Problem
from poise.dynamics.kinematics import WorldPose, compute_joint_space_inertia, compute_world_pose
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.qp.limited import DAMPING
from poise.dynamics.qp.problem import (
    QpProblem,
    QpSolution,
    QpWorkspace,
    make_problem,
    make_solution,
    make_workspace,
)
from poise.dynamics.tree import Tree, TreeState, build_tree

WEIGHTS = (1e6, 1e4, 1e2)
SHARES = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)  # of a static strength: fewer and more joints at their bounds


class Prepared(NamedTuple):
    """A step as the kernel takes it."""

    problem: QpProblem
    work: QpWorkspace
    solution: QpSolution


def run(count: int = 40, rounds: int = 11) -> dict[str, Any]:
    """Microseconds a step, with goals and without, and how they grow with the joints that are limited.

    count   poses that a timing goes through
    rounds  how often each is timed
    """
    steps, problems = draw_steps(count), draw_problems(count)
    contenders, times = {}, CTimes()
    contenders["driver"] = solve_all(prepare_problems(problems), is_weighted=True)
    for name, has_goals in (("step", True), ("limits", False)):
        contenders[name] = solve_all(prepare_all(steps, has_goals))
    peers = build_peers(steps, problems, times)
    timings = measure({**contenders, **peers}, rounds, clock=process_time)

    def us(name: str) -> float | None:
        return 1e6 * timings.median(name) / count if name in timings.rounds else None

    def ratio(name: str, to: str) -> float | None:
        return timings.ratio(name, to) if to in timings.rounds else None

    own = us("step")
    assert own is not None
    return {
        "freedoms": len(steps[0].b),
        "goal_rows": sum(len(y) for _, y in steps[0].goals),
        "us_per_step": own,
        "steps_per_s": 1e6 / own,
        "daqp_us_per_step": us("daqp"),
        "daqp_ratio": ratio("step", "daqp"),
        "daqp_c_us_per_step": times.us("daqp"),
        "daqp_weighted_us_per_step": us("daqp_weighted"),
        "daqp_weighted_ratio": ratio("step", "daqp_weighted"),
        "limits_us": us("limits"),
        "daqp_limits_us": us("daqp_limits"),
        "daqp_limits_ratio": ratio("limits", "daqp_limits"),
        "daqp_limits_c_us": times.us("daqp_limits"),
        "limits_difference": compare_limits(steps) if peers else None,
        "driver_unknowns": len(problems[0].target),
        "driver_us": us("driver"),
        "daqp_driver_us": us("daqp_driver"),
        "daqp_driver_ratio": ratio("driver", "daqp_driver"),
        "driver_difference": compare_driver(problems) if peers else None,
        **time_driver(),
        "spread": max(timings.spread(name) for name in contenders),
        "growth": [measure_growth(share, count, max(1, rounds // 3)) for share in SHARES],
    }


def draw_steps(count: int, share: float = 0.5) -> list[Step]:
    """Poses of one body."""
    rng, body = np.random.default_rng(0), poise.Character.human(1.75, 75.0, preset="strength")
    return [draw_step(body, rng, share) for _ in range(count)]


def prepare_all(steps: list[Step], has_goals: bool) -> list[Prepared]:
    """Return a problem for each step, with one workspace for all."""
    n, m = len(steps[0].b), sum(len(y) for _, y in steps[0].goals) if has_goals else 0
    work, prepared = make_workspace(n, n, m), []
    for step in steps:
        goals = step.goals if has_goals else ()
        A = np.concatenate([np.zeros((0, n)), *(A for A, _ in goals)])
        y = np.concatenate([np.zeros(0), *(y for _, y in goals)])
        level = np.repeat(np.arange(len(goals)), [len(y) for _, y in goals]).astype(np.int64)
        bounds = step.H, step.b, step.low, step.high
        problem = make_problem(bounds, step.target, np.ones(n), (A, y, level), DAMPING)
        prepared.append(Prepared(problem, work, make_solution(n, n, m)))
    return prepared


def solve_all(prepared: list[Prepared], is_weighted: bool = False) -> Callable[[], object]:
    """Return a function that solves the problems one after the other."""
    from poise.dynamics.qp.priority_kernels import solve_prioritized, solve_weighted

    solve = solve_weighted if is_weighted else solve_prioritized
    return lambda: [solve(*each) for each in prepared]


def play_driver(engine: str = "mujoco", dt: float = 0.005) -> tuple[Any, Any]:
    """A stage, and an actor whose weak arms swing a load."""
    from poise.body.strength.joint_strength import JointStrength
    from poise.drivers.strength.strength import Strength
    from poise.motion import gestures
    from poise.stage.stage import Stage
    from poise.world.forces import Load

    stage, body = Stage(engine, dt), poise.Character.human(1.75, 75.0, preset="strength")
    actor = stage.add(body, loads=(Load("rightHand", 4.0),))
    actor.drive("body", Strength(gestures.arm_swing(0.5), JointStrength.weak(body)))
    return stage, actor


def draw_problems(count: int) -> list[Problem]:
    """What the driver solves, one in five steps."""
    stage, actor = play_driver()
    problems = []
    for _ in range(count):
        stage.advance(5)
        problems.append(actor.player("body").problem)
    return problems


def prepare_problems(problems: list[Problem]) -> list[Prepared]:
    """Return the driver's problems as the kernel takes them."""
    prepared = []
    for each in problems:
        n, m = len(each.target), len(each.y)
        bounds, goals = (each.H, each.b, each.low, each.high), (each.A, each.y, np.zeros(m, np.int64))
        problem = make_problem(bounds, each.target, each.weights, goals, 1.0)
        prepared.append(Prepared(problem, make_workspace(n, n, m), make_solution(n, n, m)))
    return prepared


def time_driver(steps: int = 100) -> dict[str, float]:
    """Microseconds of a whole step of a stage with the driver, all of it, by the processor's time."""
    found = {}
    for engine, dt in (("inverse", 1.0 / 30.0), ("mujoco", 0.005)):
        stage, _ = play_driver(engine, dt)
        stage.advance(10)
        begin = process_time()
        stage.advance(steps)
        found[f"{engine}_step_us"] = 1e6 * (process_time() - begin) / steps
    return found


class CTimes:
    """Seconds that DAQP says it took itself, setting up and solving, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def note(self, name: str, info: dict[str, Any]) -> None:
        """One call's times."""
        self.seconds.setdefault(name, []).append(info["setup_time"] + info["solve_time"])

    def us(self, name: str) -> float | None:
        """The median, in microseconds; None where it was never called."""
        return 1e6 * float(np.median(self.seconds[name])) if name in self.seconds else None


def build_peers(steps: list[Step], problems: list[Problem], times: CTimes) -> dict[str, Callable[[], object]]:
    """DAQP on the same steps, and on the driver's; none where it is not installed."""
    try:
        import daqp
    except ImportError:
        return {}

    def call(name: str, problems: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> Callable[[], object]:
        def solve() -> None:
            for args, options in problems:
                times.note(name, daqp.solve(*args, **options)[3])

        return solve

    return {
        "daqp": call("daqp", [as_hierarchy(step) for step in steps]),
        "daqp_weighted": call("daqp_weighted", [(as_weighted(step), {}) for step in steps]),
        "daqp_limits": call("daqp_limits", [(as_limits(step), {}) for step in steps]),
        "daqp_driver": call("daqp_driver", [(as_driver(problem), {}) for problem in problems]),
    }


def as_limits(step: Step) -> tuple[Any, ...]:
    """0.5 x^T x - x0^T x within the ranges."""
    n = len(step.b)
    return np.eye(n), -step.target, step.H, step.high - step.b, step.low - step.b, np.zeros(n, np.int32)


def as_driver(problem: Problem) -> tuple[Any, ...]:
    """What the driver solves as one QP."""
    weights = problem.weights / problem.weights.mean()
    P = np.diag(weights) + problem.A.T @ problem.A
    f = -weights * problem.target - problem.A.T @ problem.y
    bound = problem.high - problem.b
    bound[np.isinf(bound)] = 1e30
    return P, f, problem.H, bound, problem.low - problem.b, np.zeros(len(bound), np.int32)


def compare_driver(problems: list[Problem]) -> float:
    """The largest difference of the two answers, over the largest acceleration."""
    import daqp

    worst = 0.0
    for problem, each in zip(problems, prepare_problems(problems), strict=True):
        solve_all([each], is_weighted=True)()
        theirs = daqp.solve(*as_driver(problem), primal_tol=1e-10)[0]
        worst = max(worst, float(np.abs(each.solution.x - theirs).max() / np.abs(theirs).max()))
    return worst


def as_weighted(step: Step) -> tuple[Any, ...]:
    """The same with goals as springs."""
    P, f = np.eye(len(step.b)), -step.target.copy()
    for weight, (A, y) in zip(WEIGHTS, step.goals, strict=True):
        P += weight * A.T @ A
        f -= weight * A.T @ y
    return P, f, *as_limits(step)[2:]


def as_hierarchy(step: Step) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Levels: ranges, each level of goals, and the joints."""
    n = len(step.b)
    rows = [step.H, *(A for A, _ in step.goals), np.eye(n)]
    aims = [*(y for _, y in step.goals), step.target]
    A, upper = np.concatenate(rows), np.concatenate([step.high - step.b, *aims])
    lower = np.concatenate([step.low - step.b, *aims])
    breaks = np.cumsum([len(each) for each in rows]).astype(np.int32)
    return (None, None, A, upper, lower, np.zeros(len(upper), np.int32)), {"break_points": breaks}


def compare_limits(steps: list[Step]) -> float:
    """The largest difference of the two answers without goals, over the largest acceleration."""
    import daqp

    worst = 0.0
    for step, each in zip(steps, prepare_all(steps, False), strict=True):
        solve_all([each])()
        theirs = daqp.solve(*as_limits(step), primal_tol=1e-10)[0]
        worst = max(worst, float(np.abs(each.solution.x - theirs).max() / np.abs(theirs).max()))
    return worst


def measure_growth(share: float, count: int, rounds: int) -> dict[str, float]:
    """Joints at their bounds and microseconds, for bodies with a share of their strength."""
    steps = draw_steps(count, share)
    found: dict[str, float] = {"strength": share}
    kinds = {"limits": prepare_all(steps, False), "step": prepare_all(steps, True)}
    timings: Timings = measure({name: solve_all(each) for name, each in kinds.items()}, rounds, clock=process_time)
    for name, prepared in kinds.items():
        found[f"{name}_limited_joints"] = float(
            np.mean([np.count_nonzero(each.solution.at_bound) for each in prepared])
        )
        found[f"{name}_us"] = 1e6 * timings.median(name) / count
    return found


Goals = tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass(frozen=True, eq=False)
class Step:
    """One step's problem; see `poise.dynamics.qp.limited`."""

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    target: np.ndarray
    goals: Goals


def draw_step(character: poise.Character, rng: np.random.Generator, share: float = 1.0, bend: float = 0.4) -> Step:
    """A random pose at random speeds.

    share  of a static strength that muscles can give: less has more joints at their bounds
    bend   rad, how far joints are turned
    """
    tree = build_tree(character)
    turns = rotation.exp(rng.normal(scale=bend, size=(len(tree), 3)))
    still = TreeState.at_rest(np.zeros(3), turns)
    speeds = rng.normal(size=(len(tree), 3))
    state = TreeState(still.root, turns, np.zeros(3), speeds, np.zeros(3), np.zeros((len(tree), 3)))
    pose = compute_world_pose(tree, state.root, turns)
    free = compute_joint_space_inertia(tree, state.root, turns)
    forces = compute_inverse_dynamics(tree, state)
    bias = np.concatenate([forces.force, forces.torque.ravel()])
    own = list_axes(character, tree)
    T = stand_on(find_jacobian(tree, pose, tree.names.index("leftFoot")), own)
    strength = np.repeat(share * static_strength(character)[1:], [len(a) for a in _axes(character, tree)[1:]])
    strength = np.where(np.isfinite(strength), strength, 100.0 * share)
    low, high = -strength * rng.uniform(0.4, 1.0, len(strength)), strength * rng.uniform(0.4, 1.0, len(strength))
    foot, hand = (find_jacobian(tree, pose, tree.names.index(name)) @ T for name in ("rightFoot", "rightHand"))
    center = free[:3] @ T / tree.mass
    goals = (
        (foot, np.zeros(6)),
        (center, rng.normal(scale=1.0, size=3)),
        (hand[3:], rng.normal(scale=5.0, size=3)),
    )
    H = T.T @ free @ T
    return Step(0.5 * (H + H.T), T.T @ bias, low, high, rng.normal(scale=5.0, size=len(low)), goals)


def _axes(character: poise.Character, tree: Tree) -> list[np.ndarray]:
    return [np.asarray(character.freedoms.get(name, np.zeros((0, 3)))) for name in tree.names]


def list_axes(character: poise.Character, tree: Tree) -> np.ndarray:
    """(3 + 3 J, n): generalised velocity of a unit turn about each axis of each joint."""
    columns = []
    for i, axes in enumerate(_axes(character, tree)):
        for axis in axes:
            column = np.zeros(tree.size)
            column[3 + 3 * i : 6 + 3 * i] = axis
            columns.append(column)
    return np.array(columns).T


def stand_on(J: np.ndarray, own: np.ndarray) -> np.ndarray:
    """T (3 + 3 J, n): how the body moves with its joints while the segment with the Jacobian J (6, .) stands still."""
    T = own.copy()
    T[:6] = -np.linalg.solve(J[:, :6], J @ own)
    return T


def find_jacobian(tree: Tree, pose: WorldPose, body: int) -> np.ndarray:
    """(6, 3 + 3 J): turning, then moving, of a body's joint in world axes."""
    J = np.zeros((6, tree.size))
    J[3:, :3] = np.eye(3)
    i = body
    while i >= 0:
        turns = pose.turns[i]
        J[:3, 3 + 3 * i : 6 + 3 * i] = turns
        J[3:, 3 + 3 * i : 6 + 3 * i] = np.cross(turns.T, pose.joints[body] - pose.joints[i]).T
        i = int(tree.parents[i])
    return J
