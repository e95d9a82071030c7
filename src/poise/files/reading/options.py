"""Options of reading: what to believe of a file and its body instead of what is found, and what to do about lost bones.

A `Source` reads one motion by them: metres, Y up, with roles.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from poise.body.character import Character
from poise.errors import FileError, InputError
from poise.files.reading.recording import BONES, KEEP
from poise.files.reading.reframe import AXES
from poise.files.reporting import SILENT, Reporter
from poise.options import File, Option, check_options

if TYPE_CHECKING:
    from poise.files.reading.pipeline import Reading
    from poise.files.reading.recording import Recording
    from poise.motion.clip import Clip
Roles = Mapping[str, str] | str | Iterable[str]


def write_roles(roles: Roles, _locate: object) -> list[str]:
    """Return roles as a recipe has them: `role=joint` words."""
    return [f"{role}={joint}" for role, joint in parse_roles(roles).items()]


def read_roles(words: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Return a recipe's roles: `role=joint` words; the files among them are read."""
    each = [word if "=" in word else str(folder / word) for word in words]
    return tuple(f"{role}={joint}" for role, joint in parse_roles(each, _RecipeRoles()).items())


def take_roles(roles: Any) -> Any:
    """Return roles as they were given, once they make sense."""
    if not isinstance(roles, Mapping | str | Iterable):
        parse_roles(roles)
    if isinstance(roles, Iterable) and not isinstance(roles, Mapping | str):
        roles = tuple(roles)
    parse_roles(roles)
    return roles


class _RecipeRoles(Reporter):
    def spell(self, option: str) -> str:
        """See `Reporter.spell`."""
        return f"'{option}' of [character]"


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """The body in a clip and the reading of its file: values to use instead of those in the file or a guess.

    People and statues of them are in range, and high-speed cameras; files in nanometres or light-seconds are not.
    """

    title: ClassVar[str] = "The clip and its body"

    character: Annotated[
        Character | File | None,
        Option(
            "Body that performs the clip: a .json of poise.save_character, or a model (.glb, .gltf, .vrm), onto whose "
            "own file a .glb or .vrm is written.",
            key="character.body",
        ),
    ] = None
    up: Annotated[
        str | None,
        Option("The file's vertical axis; --up=-Y for a negative one.", key="character.up", choices=AXES),
    ] = None
    bones: Annotated[
        str | None,
        Option(
            "Bones that lost their length in a conversion (CMU's thorax and hands): keep the file's, or restore them "
            "from proportions.",
            key="character.bones",
            choices=BONES,
            default="keep",
        ),
    ] = None
    mass: Annotated[
        float | None, Option("Mass of the body.", key="character.mass", between=(1.0, 1000.0), unit="kg")
    ] = None
    height: Annotated[
        float | None,
        Option("Stature: the clip is scaled to it.", key="character.height", between=(0.3, 3.0), unit="m"),
    ] = None
    fps: Annotated[
        float | None,
        Option(
            "True frame rate, where the file's is wrong.",
            key="character.fps",
            between=(0.1, 100_000.0),
            unit="frames a second",
        ),
    ] = None
    scale: Annotated[
        float | None,
        Option("Length of the file's unit.", key="character.scale", between=(1e-6, 1e6), unit="metres a unit"),
    ] = None
    roles: Annotated[
        Roles,
        Option(
            "role=joint (leftFoot=L_Ankle,...), or a .toml or .json file of them; repeatable.",
            key="character.roles",
            several=True,
            accept=take_roles,
            read=read_roles,
            write=write_roles,
        ),
    ] = ()

    def list_files(self) -> list[Path]:
        """Files that these options name, all of them read."""
        words = [] if isinstance(self.roles, Mapping) else [self.roles] if isinstance(self.roles, str) else self.roles
        named = [Path(word) for word in words if "=" not in word]
        return [self.character, *named] if isinstance(self.character, Path) else named

    def interpret(
        self, recording: Recording, path: str | PathLike[str], audience: Reporter = SILENT, whole: bool = False
    ) -> Reading:
        """What was read from a file (`formats.read_source`) as these options want it.

        Says what was guessed, and how to override it. whole: keep an added T-pose
        """
        from poise.files.reading.pipeline import interpret

        roles = parse_roles(self.roles, audience)
        reading = interpret(recording, self.scale, self.up, roles, self.fps, self.bones or KEEP, whole)
        if self.height is not None:
            reading = self._scaled(reading, self.height, audience)
        for kind, value in (("unit", f"{reading.scale:.4g} m a unit"), ("up axis", f"{reading.up} is up")):
            decision = reading.find(kind)
            if decision.origin != "given" and decision.option is not None:
                option = audience.spell(decision.option)
                audience.note(f"{path}: {value}, since {decision.message}. Override with {option}.")
        if self.bones is not None and not reading.lost_bones:
            audience.note(f"{path}: no bone has lost its length, so that there is nothing to keep or restore.")
        if audience is not SILENT:  # they take time to find
            for warning in reading.warnings:
                audience.warn(f"{path}: {warning}")
        return reading

    def check(self, audience: Reporter = SILENT) -> None:
        """Refuse numbers that no person and no recording has, and roles that are none, for every job alike."""
        parse_roles(self.roles, audience)
        check_options(ReadingOptions, self, audience.spell)
        if self.height is not None and self.scale is not None:
            height, scale = audience.spell("height"), audience.spell("scale")
            raise InputError(
                f"{height} scales the clip whatever its unit, so that {scale} would do nothing. Leave out one."
            )

    def build_character(self, motion: Reading | Clip, audience: Reporter = SILENT) -> Character:
        """The body under a motion's skeleton, as heavy and tall as these options say or as is usual.

        `character` is for `jobs/shared/body.py:find_body`.

        Where the motion is of a file, the body is as tall as the file's (`Reading.stature`).
        """
        from poise.body.character import Character
        from poise.body.roles import TRUNK_ROLES
        from poise.motion.clip import Clip

        clip = motion if isinstance(motion, Clip) else motion.clip
        height = self.height
        if height is None and not isinstance(motion, Clip):
            height = motion.find_height()
        character = Character.from_skeleton(clip.skeleton, self.mass, height)
        above = [role for role in (*TRUNK_ROLES, "neck", "head") if clip.skeleton.find_role(role) is not None]
        if not above:
            audience.warn(
                "body: the clip has nothing above the hips; the mass of trunk, arms and head moves with the hips, and "
                "forces and torques are as rough as that."
            )
        if self.mass is None:
            audience.note(
                f"{character.mass:.1f} kg, usual for {character.height:.2f} m. Override with {audience.spell('mass')}."
            )
        return character

    def _scaled(self, reading: Reading, height: float, audience: Reporter) -> Reading:
        """The reading, scaled so that the body has this stature, m."""
        if reading.stature == 0:
            option, scale = audience.spell("height"), audience.spell("scale")
            raise InputError(f"the skeleton has no length, so {option} cannot scale it. Use {scale}.")
        return reading.scaled(height / reading.stature)


def parse_roles(words: Roles, audience: Reporter = SILENT) -> dict[str, str]:
    """Role -> joint, from `role=joint` words (several in one with commas) and from files of such pairs."""
    option = audience.spell("roles")
    if isinstance(words, Mapping):
        if not all(isinstance(joint, str) for joint in words.values()):
            raise InputError(f"{option} maps a role to the name of a joint, as in {{'leftFoot': 'L_Ankle'}}.")
        return dict(words)
    if not isinstance(words, Iterable):
        raise InputError(f"{option} maps a role to the name of a joint, as in {{'leftFoot': 'L_Ankle'}}.")
    roles: dict[str, str] = {}
    for word in [words] if isinstance(words, str) else words:
        if not isinstance(word, str):
            raise InputError(f"{option} takes role=joint words, as in leftFoot=L_Ankle; {word!r:.60} given.")
        if "=" not in word:
            roles |= _load_roles(word, option)
            continue
        for pair in filter(None, word.split(",")):
            role, equals, joint = (piece.strip() for piece in pair.partition("="))
            if not (role and equals and joint):
                raise InputError(f"{option} takes role=joint, as in leftFoot=L_Ankle; '{pair}' given.")
            roles[role] = joint
    return roles


def _load_roles(word: str, option: str) -> dict[str, str]:
    path = Path(word)
    if path.suffix not in (".toml", ".json"):
        raise InputError(f"{option} takes role=joint words, or a .toml or .json file of them; '{word}' given.")
    from poise.files.input import MOST_SETTINGS_BYTES, read_bytes

    try:
        text = read_bytes(path, MOST_SETTINGS_BYTES, may_be_empty=True).decode("utf-8-sig")
        table = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"this is no table of roles: {error}.") from error
    if not isinstance(table, dict) or not all(isinstance(joint, str) for joint in table.values()):
        raise FileError(path, 'a file of roles holds pairs of role and joint, as in leftFoot = "L_Ankle".')
    return table


CHOICE = Option(
    "Which clip of a file that has several: its name, or number from 0.", flag="--clip", key="character.take"
)


@dataclass(frozen=True, kw_only=True)
class Source(ReadingOptions):
    """A file's reading, with the clip of several that is read."""

    clip: Annotated[str | int | None, CHOICE] = None


@dataclass(frozen=True, kw_only=True)
class TakeOptions(ReadingOptions):
    """Like `Source`, for jobs whose `clip` is the motion itself."""

    take: Annotated[str | int | None, CHOICE] = None

    @property
    def source(self) -> Source:
        """The same, for readers of files."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(ReadingOptions)}
        return Source(**values, clip=self.take)
