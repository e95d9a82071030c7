"""The options of every command that reads a clip, and what they do: one motion in, in metres, Y up, with roles."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from poise.cli.report import Report
from poise.cli.words import read_input, read_number
from poise.errors import FileError, InputError, valid_text

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.files.normalise import Reading
    from poise.motion.clip import Clip

GROUP = Group("The clip and its body", sort_key=50)
# What an option may be: people and statues of them, high-speed cameras, files in nanometres or light-seconds not.
_RANGES = {
    "mass": (1.0, 1000.0, "kg"),
    "height": (0.3, 3.0, "m"),
    "fps": (0.1, 100_000.0, "frames a second"),
    "scale": (1e-6, 1e6, "metres a unit"),
}


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True)
class Source:
    """What to believe instead of what the file says or what would be guessed. None: found.

    mass    kg of the body
    height  m, stature: the clip is scaled to it
    character  file of a body with the clip's joints
    fps     the true frame rate, where the file's is wrong
    roles   role=joint words, or files of them (.toml, .json)
    clip    which one, in a file that has several: its name, or its number from 0
    scale   metres a unit of the file
    up      the file's vertical axis
    """

    mass: Annotated[float | None, Parameter(converter=read_number, help="Mass of the body, kg.")] = None
    height: Annotated[float | None, Parameter(converter=read_number, help="Stature, m: the clip is scaled to it.")] = (
        None
    )
    character: Annotated[
        Path | None,
        Parameter(converter=read_input, help="Body to use, a file that Poise saved; its joints are the clip's."),
    ] = None
    fps: Annotated[
        float | None, Parameter(converter=read_number, help="True frame rate, where the file's is wrong.")
    ] = None
    roles: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="role=joint (leftFoot=L_Ankle,...), or a .toml or .json file of them; repeatable.",
        ),
    ] = ()
    clip: Annotated[
        str | None, Parameter(help="Which clip of a file that has several: its name, or number from 0.")
    ] = None
    scale: Annotated[float | None, Parameter(converter=read_number, help="Metres a unit of the file.")] = None
    up: Annotated[
        Literal["X", "Y", "Z", "-X", "-Y", "-Z"] | None,
        Parameter(help="The file's vertical axis; --up=-Y for a negative one."),
    ] = None

    def list_files(self) -> list[Path]:
        """Files that these options name, all of them read."""
        named = [Path(word) for word in self.roles if "=" not in word]
        return named if self.character is None else [self.character, *named]

    def read(self, path: Path, report: Report, mend: bool = True) -> Reading:
        """The clip of a file as these options want it. Says what was guessed, and how to override it.

        mend  leave out an added T-pose and give lost bones back
        """
        from poise.files.formats import read_recording
        from poise.files.normalise import normalise

        self.check()
        recording = read_recording(path, None if self.clip is None else valid_text(self.clip))
        roles = parse_roles(self.roles)
        reading = self._scaled(normalise(recording, self.scale, self.up, roles, self.fps, mend))
        for option, value, reason in (
            ("scale", f"{reading.scale:.4g} m a unit", reading.scale_reason),
            ("up", f"{reading.up} is up", reading.up_reason),
        ):
            if reason not in ("given", "--height"):
                report.note(f"{path}: {value}, since {reason}. Override with --{option}.")
        for warning in reading.warnings:
            report.warn(f"{path}: {warning}")
        return reading

    def check(self) -> None:
        """Refuse numbers that no person and no recording has, and roles that are none, for every command alike."""
        parse_roles(self.roles)
        for option, (least, most, unit) in _RANGES.items():
            value = getattr(self, option)
            if value is not None and not least <= value <= most:
                raise InputError(f"--{option} must be from {least:g} to {most:g} {unit}; {value:g} given.")

    def build_character(self, clip: Clip, report: Report) -> Character:
        """The body under the clip's skeleton, as heavy and tall as these options say or as is usual."""
        from poise.body.character import Character
        from poise.body.roles import TRUNK_ROLES

        if self.character is not None:
            return self.load_body(clip)
        character = Character.from_skeleton(clip.skeleton, self.mass, self.height)
        above = [role for role in (*TRUNK_ROLES, "neck", "head") if clip.skeleton.find_role(role) is not None]
        if not above:
            report.warn(
                "body: the clip has nothing above the hips; the mass of trunk, arms and head moves with the hips, and "
                "forces and torques are as rough as that."
            )
        if self.mass is None:
            report.note(f"{character.mass:.1f} kg, usual for {character.stature:.2f} m. Override with --mass.")
        return character

    def load_body(self, clip: Clip) -> Character:
        """The body in the file that --character names, on the clip's skeleton."""
        from poise.files.gltf.character import load_character

        path = Path(str(self.character))
        for option in ("mass", "height"):
            if getattr(self, option) is not None:
                raise InputError(f"--character has a {option} of its own; leave out --{option} or --character.")
        character = load_character(path)
        if set(character.skeleton.names) != set(clip.skeleton.names):
            raise FileError(
                path,
                f"this body has other joints than the clip ({', '.join(character.skeleton.names[:6])}, ...). "
                "Give a body that was made from the clip's skeleton.",
            )
        return dataclasses.replace(character, skeleton=clip.skeleton)  # segments, limits and freedoms go by name

    def _scaled(self, reading: Reading) -> Reading:
        """The reading, scaled so that the body is as tall as --height says."""
        if self.height is None:
            return reading
        if reading.stature == 0:
            raise InputError("the skeleton has no length, so --height cannot scale it. Use --scale.")
        factor = self.height / reading.stature
        clip = reading.clip.scaled(factor)
        frame = dataclasses.replace(reading.frame, scale=reading.frame.scale * factor)
        return dataclasses.replace(
            reading, clip=clip, scale=reading.scale * factor, scale_reason="--height", frame=frame
        )


DEFAULT = Source()


def parse_roles(words: Sequence[str]) -> dict[str, str]:
    """Role -> joint, from `role=joint` words (several in one with commas) and from files of such pairs."""
    roles: dict[str, str] = {}
    for word in words:
        if "=" not in word:
            roles |= _load_roles(word)
            continue
        for pair in filter(None, word.split(",")):
            role, equals, joint = (piece.strip() for piece in pair.partition("="))
            if not (role and equals and joint):
                raise InputError(f"--roles takes role=joint, as in leftFoot=L_Ankle; '{pair}' given.")
            roles[role] = joint
    return roles


def _load_roles(word: str) -> dict[str, str]:
    path = Path(word)
    if path.suffix not in (".toml", ".json"):
        raise InputError(f"--roles takes role=joint words, or a .toml or .json file of them; '{word}' given.")
    from poise.files.loading import MOST_SETTINGS_BYTES, read_bytes

    try:
        text = read_bytes(path, MOST_SETTINGS_BYTES).decode("utf-8-sig")
        table = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"this is no table of roles: {error}.") from error
    if not isinstance(table, dict) or not all(isinstance(joint, str) for joint in table.values()):
        raise FileError(path, 'a file of roles holds pairs of role and joint, as in leftFoot = "L_Ankle".')
    return table
