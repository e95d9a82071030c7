"""What an edit is made of, as its recipe says it: see `jobs/edit/recipe.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poise.body.bodies import HEIGHT, MASS
from poise.files.reading.options import Source
from poise.files.toml import Table, TomlFile
from poise.motion.clip import How
from poise.motion.edits.offsets import WINDOW
from poise.motion.edits.sequence import TRANSITION
from poise.world.scenery import Scenery


@dataclass(frozen=True, eq=False)
class ClipSource:
    """A motion by name: a file, or a gesture or motion of Poise's own with its parameters.

    seconds  s that a gesture is played for; None: as long as it lasts
    table    where it stands in the recipe, for errors
    """

    name: str
    table: Table
    file: Path | None = None
    source: Source = field(default_factory=Source)
    gesture: str | None = None
    seconds: float | None = None
    fps: float = 60.0
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SegmentPlan:
    """A stretch of a clip; see `motion/edits/sequence.py:Segment`."""

    name: str
    clip: str
    table: Table
    start: float | None = None
    end: float | None = None
    speed: float = 1.0
    reverse: bool = False
    mirror: bool = False
    still: float | None = None
    repeat: int = 1
    transition: float | None = None


@dataclass(frozen=True, eq=False)
class BodyPlan:
    """Whose body it is: a file of one, or a kind of body, its height and mass. All None: the first clip's own."""

    table: Table
    file: Path | None = None
    kind: str | None = None
    height: float | None = None
    mass: float | None = None

    @property
    def is_said(self) -> bool:
        """Whether anything is said of it."""
        return any(value is not None for value in (self.file, self.kind, self.height, self.mass))


@dataclass(frozen=True, eq=False)
class ActorPlan:
    """One that moves.

    position, heading  m and rad, where it stands when it begins; None: where the clips have it
    """

    name: str
    table: Table
    body: BodyPlan
    sequence: tuple[SegmentPlan, ...]
    position: tuple[float, float, float] | None = None
    heading: float | None = None


@dataclass(frozen=True, eq=False)
class PlacePlan:
    """Where a point should be: in the world; on a prop; on a body, perhaps another's; or where two hands meet.

    place  (3,) m; on a prop in its frame
    """

    place: tuple[float, ...] | None = None
    prop: str | None = None
    actor: str | None = None
    joint: str | None = None
    point: Any = "joint"
    is_meeting: bool = False


@dataclass(frozen=True, eq=False)
class OffsetPlan:
    """A joint that is to be somewhere; see `motion/edits/offsets.py:Offset`."""

    actor: str
    joint: str
    times: tuple[float, ...]
    target: PlacePlan
    table: Table
    point: Any = "joint"
    before: float = WINDOW
    hold: float = 0.0
    after: float = WINDOW
    turn: Any = "keep"
    joints: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class EditRecipe:
    """All that an edit is made of.

    speed    of the whole, offsets included: 1.33 plays it a third faster
    scenery  of the file `stage`
    said     keys at its top;  unused: tables of clips and segments that no sequence plays
    """

    path: Path
    file: TomlFile
    clips: dict[str, ClipSource]
    actors: tuple[ActorPlan, ...]
    offsets: tuple[OffsetPlan, ...] = ()
    fps: float | None = None
    resample: How = "spline"
    transition: float = TRANSITION
    align: bool = True
    speed: float = 1.0
    scenery: Scenery | None = None
    stage: Path | None = None
    said: frozenset[str] = frozenset()
    unused: tuple[str, ...] = ()

    def list_files(self) -> list[Path]:
        """Files that are read, the recipe's own among them."""
        clips = [clip.file for clip in self.clips.values() if clip.file is not None]
        roles = [path for clip in self.clips.values() for path in clip.source.list_files()]
        bodies = [actor.body.file for actor in self.actors if actor.body.file is not None]
        return [self.path, *clips, *roles, *bodies, *([] if self.stage is None else [self.stage])]


def find_size(body: BodyPlan) -> tuple[float, float]:
    """m and kg of the average body that a plan is made from."""
    height = HEIGHT if body.height is None else body.height
    return height, MASS * (height / HEIGHT) ** 3 if body.mass is None else body.mass
