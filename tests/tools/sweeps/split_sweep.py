"""Splits at random: any joints loose, tracked or strong between any that are animated, on both engines.

Every run has a number of its own and can be made alone:

    cd tests && python -m tools.sweeps.split_sweep 17

A body conducts; then some of its joints, alternating as it comes, are handed to physics, and it is pushed. What is
watched is what nobody would believe: a limb that is faster than a whip, joints that whirl, a state that is not finite.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise import Balance, Free, Kinematic, Loose, Stage, Strength, Track, gestures
from poise.errors import InputError, SolveError
from poise.stage.actor import Actor
from tools.sweeps.abuse_sweep import BODIES, get_body, get_figure
from tools.sweeps.page import table

RUNS = 200
SECONDS = 0.8  # watched, after the split
# A limb of a body of 1.75 m that is let go, drops and is stopped by its range is at 4 m/s at the most in MuJoCo.
MOST_SPEED = 9.0  # m/s of a limb, about the centre of mass, of a body of 1.75 m
MOST_TURN = 80.0  # rad/s of a segment that has a hundredth of the mass


@dataclass
class Run:
    """One split. turn: rad/s, speed: m/s, at most; why: what went wrong"""

    number: int
    told: str
    engine: str
    turn: float = 0.0
    speed: float = 0.0
    why: str = ""


def draw_driver(rng: np.random.Generator) -> Any:
    """Somebody who moves joints by torques."""
    gesture = gestures.conduct(float(rng.uniform(60.0, 140.0)), 3, "both")
    choices: list[Callable[[], Any]] = [
        lambda: Loose(0.3, 0.3), lambda: Loose(0.0, 0.1), lambda: Loose(5.0, 1.0), lambda: Track(gesture),
        lambda: Track(gesture, 400.0, law="paper"), lambda: Strength(gesture),
    ]  # fmt: skip
    return choices[int(rng.integers(len(choices)))]()


def draw_joints(rng: np.random.Generator, actor: Actor) -> list[str]:
    """Some joints of the upper body: an arm, what hangs from a joint, or any."""
    skeleton = actor.character.skeleton
    names = [skeleton.names[i] for i in range(1, len(skeleton)) if not _is_of_legs(skeleton, i)]
    kind = rng.integers(3)
    if kind == 0:
        side = str(rng.choice(["left", "right"]))
        found = [skeleton.find_role(side + stem) for stem in ("UpperArm", "LowerArm", "Hand")]
        return [skeleton.names[i] for i in found if i is not None]
    if kind == 1:
        top = skeleton.names.index(str(rng.choice(names)))
        return [skeleton.names[i] for i in skeleton.descendants(top)]
    count = int(rng.integers(1, min(9, len(names))))
    return [str(each) for each in rng.choice(names, count, replace=False)]


def _is_of_legs(skeleton: Any, joint: int) -> bool:
    tops = [skeleton.find_role(side + "UpperLeg") for side in ("left", "right")]
    return any(top is not None and joint in skeleton.descendants(top) for top in tops)


def run(number: int) -> Run:
    """Make one, watched."""
    rng = np.random.default_rng([number, 12])
    name = list(BODIES)[number % len(BODIES)]
    engine = "bullet" if number % 2 else "mujoco"
    dt = float(rng.choice([0.001, 0.002, 0.005, 0.0075, 0.01]))
    stage = Stage(engine, dt)
    actor = stage.add(get_body(name), "actor")
    found = Run(number, "", engine)
    words = [name, f"{1000 * dt:g} ms"]
    try:
        if rng.random() < 0.7:
            actor.drive("legs", Balance())
            words.append("balance")
        else:
            actor.drive("legs", Loose(3.0, 1.0))
            actor.drive("root", Free())
        actor.drive("upperBody", Kinematic(gestures.conduct(float(rng.uniform(60.0, 140.0)), 3, "both")))
        stage.advance(round(0.2 / dt))
        for _ in range(int(rng.integers(1, 4))):
            joints, driver = draw_joints(rng, actor), draw_driver(rng)
            words.append(f"{type(driver).__name__} {', '.join(joints)[:120]}")
            try:
                actor.drive(joints, driver)
            except InputError as error:
                words.append(f"(refused: {str(error)[:60]})")
        impulse = 0.1 * actor.character.mass * rng.normal(size=3)
        actor.push("spine", tuple(impulse / 0.05), 0.05)
        _watch(found, stage, actor, name)
    except InputError as error:
        if isinstance(error, SolveError):
            found.why = f"broke: {str(error)[:80]}"
        else:
            words.append(f"refused when built: {str(error)[:80]}")
    found.told = "; ".join(words)
    return found


def _watch(found: Run, stage: Stage, actor: Actor, name: str) -> None:
    figure, dt = get_figure(name), stage.dt
    counts = figure.masses > 1e-4 * figure.mass
    heavy = figure.masses > 1e-2 * figure.mass
    size = math.sqrt(figure.length / 1.75)
    for _ in range(round(SECONDS / dt / 3)):
        stage.advance(2)
        before = figure.place(actor.pose())[1]
        stage.advance(1)
        speeds = (figure.place(actor.pose())[1] - before) / dt
        off = np.linalg.norm(speeds - figure.masses @ speeds / figure.mass, axis=1)
        found.speed = max(found.speed, float(off[counts].max()) / size)
        found.turn = max(found.turn, float(np.linalg.norm(actor.body.state.w, axis=1)[heavy].max()) * size)
    if found.speed > MOST_SPEED:
        found.why = f"a limb at {found.speed * size:.0f} m/s"
    elif found.turn > MOST_TURN:
        found.why = f"a segment at {found.turn / size:.0f} rad/s"


def sweep(workers: int = 2, runs: int = RUNS) -> tuple[str, int]:
    """The section, and how many runs failed."""
    with ProcessPoolExecutor(workers) as pool:
        found = list(pool.map(run, range(runs), chunksize=4))
    rows = []
    for engine in ("mujoco", "bullet"):
        own = [each for each in found if each.engine == engine]
        refused = sum("refused when built" in each.told for each in own)
        speeds, turns = (np.array([getattr(each, what) for each in own]) for what in ("speed", "turn"))
        rows.append((
            engine, str(len(own)), str(refused), f"{np.median(speeds):.1f}, {speeds.max():.1f}",
            f"{np.median(turns):.0f}, {turns.max():.0f}", str(sum(bool(each.why) for each in own)),
        ))  # fmt: skip
    text = (
        f"{runs} runs, ten bodies of 0.5 to 2.5 m, steps of 1 to 10 ms: somebody conducts on legs that balance or are"
        " loose; then one to three sets of joints of the upper body, alternating as it comes, go to `Loose`, `Track` or"
        " `Strength`, and the spine is pushed by 0.1 N s a kilogram. A run fails where it breaks, where a limb is"
        f" faster than {MOST_SPEED:g} m/s about the centre of mass or a segment turns at more than {MOST_TURN:g} rad/s"
        " (of a body of 1.75 m; others by the root of their length). Speeds are the median and the most."
    )
    head = ("engine", "runs", "refused", "limbs, m/s", "turns, rad/s", "failed")
    failed = "\n".join(f"- {each.number}: {each.engine}, {each.told}: {each.why}" for each in found if each.why)
    return f"{text}\n\n{table(head, rows)}\n\n{failed}", sum(bool(each.why) for each in found)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        print(run(int(word)))
