"""Falls of bodies that stand within their strength, pushed over in eight directions, by the engine `inverse`.

Measured from poses by `fall_sweep.Watch`, which shares nothing with the engine: the corner of the soles that is
farthest the way of the push is down as long as the body tips, no energy comes out of nothing once it is let go, nothing
is under the floor, and it comes to rest within the ranges of its joints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise import Character, ContactSettings, Stage, Strength
from poise.body.geometry.soles import build_footing
from poise.errors import PoiseError
from poise.motion.samples import idle
from poise.stage.actor import Actor
from poise.world.foot_boxes import find_corners
from tools.sweeps.fall_sweep import MOST_BEYOND, MOST_GROWTH, MOST_UNDER, Watch
from tools.sweeps.page import table

DIRECTIONS, SECONDS, BLOW = 8, 6.0, 1.2  # s in all; N s a kilogram, within 0.3 s
STEPS = (1.0 / 30.0, 1.0 / 120.0)
# Degrees that the centre of mass leans over the ankles, from when to when it counts as tipping; mm, of a corner that is
# down.
TIPS, DOWN = (18.0, 53.0), 10.0
PEOPLE = {
    "man 1.75 m": lambda: Character.human(1.75, 75.0, sex="male", age=25, preset="strength"),
    "child 1.2 m": lambda: Character.human(1.2, 23.0, age=7.0, preset="strength"),
}
ABOUT = (
    f"Bodies that stand by `Strength` in the engine `inverse` are pushed at the chest with {BLOW:g} N s a kilogram, in "
    f"{DIRECTIONS} directions, and watched for {SECONDS:g} s; the worst of all directions. Wanted: each falls the way "
    f"of the push; while it leans by {TIPS[0]:g} to {TIPS[1]:g} degrees the farthest corner of its soles that way is "
    f"within {DOWN:g} mm of the floor; energy, from when muscles let go, never more than {100 * MOST_GROWTH:g} % of "
    f"m g h above what it was before; nothing more than {MOST_UNDER:g} mm under the floor; at rest no joint beyond its "
    f"range by more than {MOST_BEYOND:g} degrees."
)


@dataclass
class Tip:
    """One fall. tips: steps in which it tipped; corner: mm, how high the corner that it turns about was at most; the
    rest as of `fall_sweep.Fall`.
    """

    fell: bool = False
    why: str = ""
    way: float = 0.0
    tips: int = 0
    corner: float = 0.0
    growth: float = 0.0
    under: float = 0.0
    beyond_ever: float = 0.0
    beyond: float = 0.0
    speed: float = 0.0

    @property
    def is_bad(self) -> bool:
        """Whether it misses an aim."""
        return bool(
            self.why or not self.fell or not self.tips or not self.way > 0.3 or not self.corner <= DOWN
            or not self.growth <= MOST_GROWTH or not self.under <= MOST_UNDER or not self.beyond <= MOST_BEYOND
        )  # fmt: skip


def tip(character: Character, angle: float, dt: float) -> Tip:
    """One fall, watched."""
    found = Tip()
    try:
        _tip(character, found, angle, dt)
    except PoiseError as error:
        found.why = str(error)[:100]
    return found


def _tip(character: Character, found: Tip, angle: float, dt: float) -> None:
    stage = Stage("inverse", dt, touch=ContactSettings())
    actor = stage.add(character, name="actor")
    actor.drive("body", Strength(idle(character.skeleton, SECONDS + 1.0, 30.0)))
    toward = np.array([math.sin(angle), 0.0, math.cos(angle)])
    actor.push("chest", tuple(BLOW / 0.3 * actor.body.tree.mass * toward), 0.3, 0.2)
    stage.build()
    watch, least = Watch(actor), math.inf
    began = _find_center(watch) @ toward
    feet = [character.skeleton.index(f"{side}Foot") for side in ("left", "right")]
    corners = np.stack([find_corners(box) for box in build_footing(character.skeleton)])
    farthest = _list_far(watch, feet, corners, toward)
    for _ in range(round(SECONDS / dt)):
        stage.step()
        if not actor.has_lost_balance:
            lean = _find_lean(watch, feet)
            if TIPS[0] < lean < TIPS[1]:
                heights = _place(watch, feet, corners)[..., 1].reshape(-1)[farthest]
                found.tips += 1
                found.corner = max(found.corner, 1000.0 * float(heights.min()))
        else:
            found.fell, now = True, watch.energy()
            found.growth = max(found.growth, (now - least) / watch.scale) if math.isfinite(least) else 0.0
            least = min(least, now)
        found.under = max(found.under, watch.under())
        found.beyond_ever = max(found.beyond_ever, watch.beyond()[0])
    found.way = float(_find_center(watch) @ toward - began)
    found.beyond = watch.beyond()[0]
    found.speed = _find_speed(actor)


def _place(watch: Watch, feet: list[int], corners: np.ndarray) -> np.ndarray:
    """(2, 4, 3) m, corners of soles."""
    R, p = watch.find_pose()
    return np.stack([p[i] + own @ R[i].T for i, own in zip(feet, corners, strict=True)])


def _list_far(watch: Watch, feet: list[int], corners: np.ndarray, toward: np.ndarray) -> np.ndarray:
    """Which corners are farthest that way, to a centimetre."""
    along = (_place(watch, feet, corners) @ toward).reshape(-1)
    return np.flatnonzero(along > along.max() - 0.01)


def _find_center(watch: Watch) -> np.ndarray:
    R, p = watch.find_pose()
    return np.asarray(
        (watch.masses[:, None] * (p + np.einsum("jab,jb->ja", R, watch.centers))).sum(0) / watch.masses.sum()
    )


def _find_lean(watch: Watch, feet: list[int]) -> float:
    """Degrees that its centre of mass leans over its ankles."""
    up = _find_center(watch) - watch.find_pose()[1][feet].mean(axis=0)
    return math.degrees(math.acos(float(up[1] / np.linalg.norm(up))))


def _find_speed(actor: Actor) -> float:
    return float(np.abs(actor.body.state.w).max())


def sweep() -> tuple[str, int]:
    """The section, and how many falls miss an aim."""
    rows, missed, told = [], 0, []
    for who, make in PEOPLE.items():
        for dt in STEPS:
            falls = [tip(make(), 2.0 * math.pi * k / DIRECTIONS, dt) for k in range(DIRECTIONS)]
            bad = [k for k, each in enumerate(falls) if each.is_bad]
            told += [f"- {who}, {dt:.4f} s, {360 * k // DIRECTIONS} degrees: {falls[k]}" for k in bad]
            missed += len(bad)
            most = {name: max(getattr(each, name) for each in falls)
                    for name in ("corner", "growth", "under", "beyond_ever", "beyond", "speed")}  # fmt: skip
            rows.append((
                who, f"1/{round(1 / dt)}", f"{min(each.way for each in falls):.2f}", f"{most['corner']:.1f}",
                f"{100 * most['growth']:.3f}", f"{most['under']:.1f}", f"{most['beyond_ever']:.1f}",
                f"{most['beyond']:.1f}", f"{most['speed']:.2f}", len(bad),
            ))  # fmt: skip
    head = (
        "body", "step, s", "goes the way of the push, m", "corner that it turns about, mm", "energy grew, % of m g h",
        "under the floor, mm", "beyond a range on the way, degrees", "at rest", "rad/s at the end", "missed",
    )  # fmt: skip
    lines = "\n".join(told)
    return f"{ABOUT}\n\n{table(head, rows)}\n\n{lines}", missed


if __name__ == "__main__":
    print(*sweep())
