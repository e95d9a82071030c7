"""One body doing one thing for a while, and what came of it. Frames are looked at in chunks and not kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from poise import Balance, Character, Kinematic, Stage, gestures
from poise.errors import InputError
from poise.motion.gestures import Gesture, Stress
from poise.stage.actor import Actor

SETTLED = 1.0  # s: feet stand from here on; what they travel afterwards is creep
FPS, CHUNK = 25.0, 20.0
STRESSES = tuple(
    Stress(0.8 + 0.9 * k, kind="point" if k % 4 == 3 else "beat", hand=("right", "both", "left", "right")[k % 4])
    for k in range(60)
)
GESTURES: dict[str, Gesture] = {
    **{
        f"conduct {bpm} {hands}": gestures.conduct(bpm=bpm, hands=hands)
        for hands in ("right", "both")
        for bpm in (40, 92, 180)
    },
    "arm swing": gestures.arm_swing(),
    "clap": gestures.clap(),
    "speak": gestures.speak(STRESSES),
}


@dataclass(eq=False)
class Figures:
    """What a run came to, of everything after `SETTLED`.

    fell_at  s, None: it stood;  why: in words
    creep    mm, the farthest that any corner of a sole got, seen from above, from where it stood
    margin   m, the least of the centre of mass inside the support
    centers, hips   (F, 2) m, x and z at `FPS`
    """

    fell_at: float | None = None
    why: str = ""
    creep: float = 0.0
    margin: float = np.inf
    seconds: float = 0.0
    wall: float = 0.0
    soles: np.ndarray | None = None
    centers: list[np.ndarray] = field(default_factory=list)
    hips: list[np.ndarray] = field(default_factory=list)

    @property
    def sway(self) -> float:
        """mm, root mean square of the centre of mass about its mean place, seen from above."""
        return compute_sway(np.concatenate(self.centers)) if self.centers else np.nan

    @property
    def hip_sway(self) -> float:
        """mm, the same of the hips."""
        return compute_sway(np.concatenate(self.hips)) if self.hips else np.nan

    @property
    def ending(self) -> str:
        """How and when it ended early, for a table; empty where it stood on the ground. A broken run is no standing."""
        if self.fell_at is None:
            return ""
        if self.why.startswith("refused"):
            return "refused"
        return f"**{'exploded' if self.is_broken else 'fell'}** at {self.fell_at:.1f} s"

    @property
    def is_broken(self) -> bool:
        """Whether the simulation broke off: a failure of whatever was tried, wherever a fall is none."""
        return self.fell_at is not None and self.why.startswith("simulation")

    @property
    def is_refused(self) -> bool:
        """Whether it was refused before it began."""
        return self.fell_at is not None and self.why.startswith("refused")

    def look(self, stage: Stage, actor: Actor, seconds: float, keep: bool = True) -> bool:
        """Run on for some seconds; whether it still stands."""
        from poise.errors import SolveError

        try:
            take = stage.run(seconds, fps=FPS)
        except SolveError as error:
            self.fell_at, self.why = stage.time, str(error).split(" (")[0]
            return False
        record, late = take.actor(actor.name), take.times >= SETTLED
        late[0] = False  # it was the last frame of the chunk before, and nothing is known of the margin at first
        self.seconds, self.wall = self.seconds + seconds, self.wall + take.wall_seconds
        fell = take.fell_at(actor.name)
        if fell is not None:
            self.fell_at = fell
            self.why = "; ".join(f"{event.kind} {event.message}" for event in take.events)
        if late.any():
            soles = record.soles[late][..., [0, 2]]
            self.soles = soles[0] if self.soles is None else self.soles
            self.creep = max(self.creep, 1000.0 * float(np.linalg.norm(soles - self.soles, axis=-1).max()))
            self.margin = min(self.margin, float(record.margin[late].min()))
            if keep:
                self.centers.append(record.center[late][:, [0, 2]])
                self.hips.append(record.root[late][:, [0, 2]])
        return fell is None


def compute_sway(places: np.ndarray) -> float:
    """mm, root mean square distance of (F, 2) m from their mean."""
    return 1000.0 * float(np.sqrt(places.var(axis=0).sum()))


def stand(stage: Stage, character: Character, gesture: Gesture | None, part: str = "upperBody") -> Actor:
    """A character on its legs whose upper body makes a gesture."""
    actor = stage.add(character, name="actor")
    actor.drive("legs", Balance())
    if gesture is not None:
        actor.drive(part, Kinematic(gesture))
    return actor


def run(
    stage: Stage, actor: Actor, seconds: float, chunk: float = CHUNK, tell: Callable[[Figures], None] | None = None
) -> Figures:
    """Run a stage until the time is over or the actor falls."""
    figures = Figures()
    try:
        stage.build()
    except InputError as error:
        return Figures(0.0, f"refused: {error}")
    while figures.seconds < seconds - 1e-9:
        if not figures.look(stage, actor, min(chunk, seconds - figures.seconds)):
            break
        if tell is not None:
            tell(figures)
    return figures
