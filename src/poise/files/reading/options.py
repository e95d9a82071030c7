"""One motion in, in metres, Y up, with roles; and what to believe of its file and its body instead of what is found.

What to do about bones that lost their length when a recording was converted: `--bones`.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import FileError, InputError
from poise.files.reporting import SILENT, Reporter

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.files.reading.pipeline import Reading
    from poise.files.reading.recording import Recording
    from poise.motion.clip import Clip
Roles = Mapping[str, str] | str | Iterable[str]
# What an option may be: people and statues of them, high-speed cameras, files in nanometres or light-seconds not.
_RANGES = {
    "mass": (1.0, 1000.0, "kg"),
    "height": (0.3, 3.0, "m"),
    "fps": (0.1, 100_000.0, "frames a second"),
    "scale": (1e-6, 1e6, "metres a unit"),
}


@dataclass(frozen=True)
class Source:
    """What to believe instead of what the file says or what would be guessed. None: found.

    mass    kg of the body
    height  m, stature: the clip is scaled to it
    character  file of a body that performs the clip, or the body itself
    fps     the true frame rate, where the file's is wrong
    roles   role -> joint, or `role=joint` words, or files of them (.toml, .json)
    clip    which one, in a file that has several: its name, or its number from 0
    scale   metres a unit of the file
    up      the file's vertical axis
    bones   "keep" the file's lengths of bones, also where they were lost, or "restore" those from proportions; None:
            keep
    """

    mass: float | None = None
    height: float | None = None
    character: Any = None  # Path | Character; not said so, since the command line's parser reads annotations
    fps: float | None = None
    roles: Roles = ()
    clip: str | None = None
    scale: float | None = None
    up: str | None = None
    bones: str | None = None

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
        from poise.files.reading.pipeline import normalise

        roles = parse_roles(self.roles, audience)
        bones = self.bones or KEEP
        reading = self._scaled(normalise(recording, self.scale, self.up, roles, self.fps, bones, whole), audience)
        for option, value, reason in (
            ("scale", f"{reading.scale:.4g} m a unit", reading.scale_reason),
            ("up", f"{reading.up} is up", reading.up_reason),
        ):
            if reason not in ("given", "--height"):
                audience.note(f"{path}: {value}, since {reason}. Override with {audience.spell(option)}.")
        if self.bones is not None and not reading.lost_bones:
            audience.note(f"{path}: no bone has lost its length, so that there is nothing to keep or restore.")
        if audience is not SILENT:  # they take time to find
            for warning in reading.warnings:
                audience.warn(f"{path}: {warning}")
        return reading

    def check(self, audience: Reporter = SILENT) -> None:
        """Refuse numbers that no person and no recording has, and roles that are none, for every job alike."""
        parse_roles(self.roles, audience)
        if self.bones not in (None, *BONES):
            raise InputError(f"{audience.spell('bones')} must be {' or '.join(BONES)}; got {self.bones!r}.")
        for option, (least, most, unit) in _RANGES.items():
            value = getattr(self, option)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{audience.spell(option)} is a number of {unit}; {value!r} given.")
            if not least <= value <= most:
                raise InputError(
                    f"{audience.spell(option)} must be from {least:g} to {most:g} {unit}; {value:g} given."
                )
        if self.height is not None and self.scale is not None:
            height, scale = audience.spell("height"), audience.spell("scale")
            raise InputError(
                f"{height} scales the clip whatever its unit, so that {scale} would do nothing. Leave out one."
            )

    def build_character(self, motion: Reading | Clip, audience: Reporter = SILENT) -> Character:
        """The body under a motion's skeleton, as heavy and tall as these options say or as is usual.

        `character` is for `jobs.clip_body.find_body`.

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

    def _scaled(self, reading: Reading, audience: Reporter) -> Reading:
        """The reading, scaled so that the body is as tall as was asked for."""
        if self.height is None:
            return reading
        if reading.stature == 0:
            height, scale = audience.spell("height"), audience.spell("scale")
            raise InputError(f"the skeleton has no length, so {height} cannot scale it. Use {scale}.")
        factor = self.height / reading.stature
        clip = reading.clip.scaled(factor)
        frame = dataclasses.replace(reading.frame, scale=reading.frame.scale * factor)
        return dataclasses.replace(
            reading, clip=clip, scale=reading.scale * factor, scale_reason="--height", frame=frame
        )


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


KEEP, RESTORE = BONES = ("keep", "restore")
