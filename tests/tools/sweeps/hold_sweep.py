"""Boxes on the forearms of bodies that stand within their strength: who holds them, and who gives way.

Judged by statics alone (`oracles.statics`): what the box, half of it on each arm, and the arm's own segments weigh asks
so much torque of elbow and shoulder in the pose that is to be kept; the ratio is that over what their muscles have
there at rest.
"""

from __future__ import annotations

import argparse
import functools
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oracles import statics
from poise import Character, Clip, JointStrength, Pose, Prop, Stage, Strength
from poise.errors import PoiseError
from poise.motion.samples import idle
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.standing import stand_at_ease
from tools.sweeps.abuse_watch import Figure
from tools.sweeps.page import table

SECONDS, BEND = 3.0, 1.45  # s that are watched; rad of the elbows
HELD, WEAK = 0.8, 1.0  # ratio up to which a box is to be held, and above which arms are to give way
SUNK, FAST = 0.12, 0.1  # m, and m/s of the box at the end, of a man of 1.75 m: what is lower or faster is not held
GIVEN = 0.5  # of what wrists sink until shoulders hold the box, by statics: less is not giving way
ARMS = tuple(f"{side}{stem}" for side in ("left", "right") for stem in ("UpperArm", "LowerArm"))
PEOPLE = {
    "child 1.2 m": (1.2, 23.0, {"age": 7.0}),
    "woman 1.62 m": (1.62, 60.0, {"sex": "female", "age": 30}),
    "man 1.75 m": (1.75, 75.0, {}),
    "tall 1.95 m": (1.95, 95.0, {"sex": "male", "age": 25}),
}
MASSES = {
    "child 1.2 m": (0.5, 1.0, 2.0, 4.0),
    "woman 1.62 m": (1.0, 3.0, 6.0, 10.0, 15.0),
    "man 1.75 m": (2.0, 6.0, 10.0, 15.0, 20.0),
    "tall 1.95 m": (2.0, 6.0, 10.0, 15.0, 20.0),
}
# m, of a man of 1.75 m: how far behind the wrists, and how deep and high the box. Deep ones may lean on the chest,
# which then carries some of it.
PLACES = (
    (0.0, 0.1), (0.03, 0.1), (0.05, 0.1), (0.0525, 0.1), (0.055, 0.1), (0.08, 0.1), (0.12, 0.04),
    (0.0, 0.2), (0.03, 0.2), (0.05, 0.2), (0.0525, 0.2), (0.055, 0.2),
)  # fmt: skip
LEANS = 0.2
STRENGTHS = (0.1, 0.29, 0.5, 1.0)
STEPS = (
    ("mujoco", 0.01), ("bullet", 0.005), ("inverse", 1.0 / 60.0), ("mujoco", 0.0025), ("bullet", 0.002),
    ("mujoco", 0.005), ("inverse", 1.0 / 30.0),
)  # fmt: skip
ABOUT = (
    f"A box is laid on the forearms of somebody who stands by `Strength`, elbows bent, and watched for {SECONDS:g} s. "
    "The ratio is the torque that box and arms ask of elbow or shoulder over what muscles have in that pose, by "
    f"statics. Wanted: up to {HELD:g} the box is held, at most {100 * SUNK:g} cm lower at the end (by stature, of "
    f"1.75 m) and at rest; above {WEAK:g} the arms give way: they drop a box that is clear of the chest, or sink by "
    f"{100 * GIVEN:g} % or more of what it takes until shoulders that swing back hold it. `python -m "
    "tools.sweeps.hold_sweep --count 160` names each hold that breaks the rule."
)


@dataclass(frozen=True)
class Cell:
    """One hold: who, kg, how far behind the wrists (m, by stature), share of the arms' strength, engine and step (s),
    and how deep and high the box is (m, by stature).
    """

    who: str
    mass: float
    behind: float
    strength: float
    engine: str = "mujoco"
    dt: float = 0.01
    deep: float = 0.1


@dataclass(frozen=True)
class Hold:
    """What became of it: how far the box has gone (3,) m and how fast it falls (m/s), how far the right wrist has sunk
    (m), how far behind the wrist the box is (m), and the lowest that it ever was (m, beside its start).
    """

    gone: np.ndarray
    speed: float
    sunk: float
    behind: float
    lowest: float
    why: str = ""


@functools.cache
def make(who: str) -> tuple[Character, Pose, Clip, Figure]:
    """Somebody who stands with the forearms held out ahead."""
    stature, mass, more = PEOPLE[who]
    body = Character.human(stature, mass, preset="strength", **more)
    ease = stand_at_ease(body)
    turns = ease.rotations.copy()
    for side in ("left", "right"):
        joint, limits = body.skeleton.index(f"{side}LowerArm"), body.limits[f"{side}LowerArm"]
        axis = rotation.rotate(rotation.conjugate(limits.child_zero), np.array([-1.0, 0.0, 0.0]))  # -x bends an elbow
        turns[joint] = rotation.multiply(turns[joint], rotation.exp(BEND * axis))
    still = idle(body.skeleton, SECONDS + 1.0, 50.0)
    clip = still.replace(
        root=np.repeat(ease.root[None], len(still), axis=0), rotations=np.repeat(turns[None], len(still), axis=0)
    )
    return body, Pose(ease.root, turns), clip, Figure(body)


def lay(cell: Cell) -> tuple[Actor, np.ndarray, float]:
    """The actor with a box on its arms; (3,) m, where the box is; and its size beside that of a man of 1.75 m."""
    body, pose, clip, figure = make(cell.who)
    size = PEOPLE[cell.who][0] / 1.75
    wrist = figure.place(pose)[0][body.skeleton.index("rightHand")]
    deep, over = cell.deep, 0.065 if cell.behind <= 0.06 else 0.045
    at = np.array([0.0, wrist[1] + (over + 0.5 * deep) * size, wrist[2] - cell.behind * size])
    stage = Stage(cell.engine, cell.dt)
    stage.add_prop(Prop.box("box", (0.6 * size, deep * size, deep * size), cell.mass, tuple(at)))
    actor = stage.add(body, pose=pose)
    muscles = JointStrength.from_character(body).scaled(dict.fromkeys(ARMS, cell.strength))
    actor.drive("body", Strength(clip, muscles))
    return actor, at, size


def hold(cell: Cell, seconds: float = SECONDS) -> Hold:
    """One hold, watched."""
    body, pose, _, figure = make(cell.who)
    actor, at, _ = lay(cell)
    wrist, lowest, last = body.skeleton.index("rightHand"), 0.0, at
    try:
        for _ in range(round(seconds / cell.dt)):
            last = actor.stage.read_prop("box").position
            actor.stage.step()
            lowest = min(lowest, float(actor.stage.read_prop("box").position[1] - at[1]))
    except PoiseError as error:
        return Hold(np.full(3, np.nan), np.nan, np.nan, np.nan, lowest, str(error)[:100])
    now, hand = actor.stage.read_prop("box").position, figure.place(actor.pose())[0][wrist]
    sunk = figure.place(pose)[0][wrist, 1] - hand[1]
    fell = "" if actor.fallen is None else "falls"
    return Hold(now - at, float(last[1] - now[1]) / cell.dt, float(sunk), float(hand[2] - now[2]), lowest, fell)


@functools.cache
def _find_load(who: str, mass: float, behind: float) -> float:
    body, pose, _, _ = make(who)
    return max(statics.find_ratios(body, pose, mass, behind * PEOPLE[who][0] / 1.75).values())


def find_ratio(cell: Cell) -> float:
    """By statics: the torque that the hold asks of elbow or shoulder, whichever is worse, over what that has."""
    return _find_load(cell.who, cell.mass, cell.behind) / cell.strength


def judge(cell: Cell, found: Hold) -> str:
    """What is wrong with a hold; empty: nothing."""
    ratio, size = find_ratio(cell), PEOPLE[cell.who][0] / 1.75
    is_held = not found.why and found.gone[1] > -SUNK * size and found.speed < FAST
    if ratio <= HELD and not is_held:
        return found.why or "dropped"
    if ratio > WEAK and is_held and cell.deep < LEANS:
        body, pose, _, _ = make(cell.who)
        # where it lies now: it may have slid, or tipped
        if found.sunk < GIVEN * statics.find_sinking(body, pose, cell.mass, found.behind, cell.strength):
            return "held"
    return ""


def list_cells(count: int) -> list[Cell]:
    """So many holds, drawn from every mass, place and strength of every body, engines and steps in turn."""
    every = [
        (who, mass, place, strength)
        for who in PEOPLE
        for mass, place, strength in itertools.product(MASSES[who], PLACES, STRENGTHS)
    ]
    drawn = np.random.default_rng(0).permutation(len(every))[:count].tolist()
    cells = []
    for i, k in enumerate(drawn):
        who, mass, (behind, deep), strength = every[k]
        cells.append(Cell(who, mass, behind, strength, *STEPS[i % len(STEPS)], deep))
    return cells


def run(cells: Sequence[Cell], told: bool = False) -> list[tuple[Cell, Hold, str]]:
    """All holds; with `told` a line is printed of each that is wrong."""
    found = []
    for cell in cells:
        each = hold(cell)
        found.append((cell, each, judge(cell, each)))
        if told and found[-1][2]:
            print(
                f"{found[-1][2]}: {cell}, ratio {find_ratio(cell):.2f}, box {100 * each.gone[1]:.1f} cm (lowest "
                f"{100 * each.lowest:.1f}), wrist {-100 * each.sunk:.1f} cm",
                flush=True,
            )
    return found


def sweep(count: int = 320, told: bool = False) -> tuple[str, int]:
    """The section, and how many holds break the rule."""
    found = run(list_cells(count), told)
    rows = []
    for who, engine in itertools.product(PEOPLE, ("mujoco", "bullet", "inverse")):
        mine = [each for each in found if each[0].who == who and each[0].engine == engine]
        sure = [(cell, each) for cell, each, _ in mine if find_ratio(cell) <= HELD]
        weak = [cell for cell, _, _ in mine if find_ratio(cell) > WEAK and cell.deep < LEANS]
        wrong = Counter(why for _, _, why in mine if why)
        low = [-100.0 * each.lowest for cell, each in sure if not judge(cell, each)]
        rows.append((
            who, engine, len(sure), len(sure) - sum(wrong.values()) + wrong["held"], f"{max(low, default=0.0):.1f}",
            len(weak), len(weak) - wrong["held"], len(mine) - len(sure) - len(weak),
        ))  # fmt: skip
    head = (
        "body", "engine", f"ratio up to {HELD:g}", "held", "box sinks on the way at most, cm", f"above {WEAK:g}",
        "give way", "others",
    )  # fmt: skip
    wrong_all = sum(1 for *_, why in found if why)
    return f"{ABOUT}\n\n{table(head, rows)}\n\n{wrong_all} of {len(found)} holds break the rule.", wrong_all


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Lay boxes on forearms; print who holds them, and who does not.")
    parser.add_argument("--count", type=int, default=320, help="of holds")
    text, _ = sweep(parser.parse_args().count, told=True)
    print(text)
