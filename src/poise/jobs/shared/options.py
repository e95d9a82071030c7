"""Groups of options that jobs of a simulation have, and the text that they parse: pushes, parts of a body."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from poise.drivers.counterpoise.lean import PELVIS
from poise.errors import InputError
from poise.files.toml import Table
from poise.jobs.shared.body_options import LoadOptions
from poise.options import NUMBER, File, JobOptions, Option
from poise.stage.arguments import COUPLINGS, STEPS
from poise.world.forces import Push
from poise.world.scenery import Scenery, load_scenery

AUTO, PLANTED, KINEMATIC = BASES = ("auto", "planted", "kinematic")
BALANCE = ("stiffness", "hold", "counter_lean")  # options of planted feet alone
STOOD, FELL = 0, 1  # exit codes of a simulation
SIMULATION = "The simulation"
_PUSH = "a push is written as 't=2 chest 0,0,75 0.2s': when, which joint, newtons along world x, y, z, and for how long"


def parse_push(text: str) -> Push:
    """A push out of words, as in `t=2 chest 0,0,75 0.2s`."""
    words = re.fullmatch(
        rf"\s*t\s*=\s*({NUMBER})\s*s?\s+(\S+)\s+({NUMBER})\s*,\s*({NUMBER})\s*,\s*({NUMBER})\s+({NUMBER})\s*s\s*",
        text,
    )
    if words is None:
        raise InputError(f"{_PUSH}; '{text}' was given.")
    time, joint, x, y, z, seconds = words.groups()
    return plan_push(joint, (float(x), float(y), float(z)), float(seconds), float(time))


def plan_push(joint: str, force: tuple[float, float, float], seconds: float, start: float) -> Push:
    """A push in a clip, which has no time before its first frame."""
    if not (all(math.isfinite(x) for x in (start, *force, seconds)) and seconds > 0.0 and start >= 0.0):
        raise InputError(
            f"a push of {list(force)} N at t={start:g} s for {seconds:g} s cannot be: it begins at 0 "
            "s or later, lasts more than 0 s, and its newtons are finite."
        )
    return Push(joint, force, seconds, start)


def parse_parts(words: Iterable[str]) -> tuple[str, ...]:
    """Parts out of words, several in one with commas."""
    parts = tuple(part for word in words for part in (piece.strip() for piece in word.split(",")) if part)
    if not parts:
        raise InputError("no part was named; name what physics moves, as in legs or legs,trunk.")
    return parts


def list_parts(word: str) -> list[str]:
    """Return the parts in one text, several with commas between."""
    return list(parse_parts((word,)))


def _read_push(table: Table, _folder: Path) -> Push:
    force = table.numbers("force", 3)
    if force is None:
        raise InputError(f"{table.what} lacks 'force', three numbers in newtons.")
    x, y, z = force
    time, joint, seconds = table.needed_number("time"), table.needed_text("joint"), table.needed_number("seconds")
    return plan_push(joint, (x, y, z), seconds, time)


def _write_pushes(pushes: Iterable[Push], _locate: Callable[[Any], Any]) -> list[dict[str, Any]]:
    return [{"time": push.start, "joint": push.joint, "force": push.force, "seconds": push.seconds} for push in pushes]


@dataclass(frozen=True, kw_only=True)
class StageFileOptions:
    """Ground and props."""

    title: ClassVar[str] = SIMULATION

    scenery: Annotated[Scenery | File | None, Option("TOML of ground and props.", flag="--stage", key="stage.file")] = (
        None
    )

    def load_scenery(self) -> Scenery:
        """Return the scenery that was given, or that of its file."""
        given = self.scenery
        return Scenery() if given is None else given if isinstance(given, Scenery) else load_scenery(given)


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """The physics engine."""

    title: ClassVar[str] = SIMULATION

    engine: Annotated[
        str, Option("Physics engine.", key="stage.engine", choices=("mujoco", "bullet"), is_open=True)
    ] = "mujoco"


@dataclass(frozen=True, kw_only=True)
class CouplingOptions:
    """The coupling of physical and kinematic parts, as of `Stage`."""

    title: ClassVar[str] = SIMULATION

    couple: Annotated[
        str,
        Option(
            "exact: the hybrid equation of motion; paper: the last step's acceleration.",
            key="stage.couple",
            choices=COUPLINGS,
        ),
    ] = "exact"
    gain: Annotated[
        float, Option("Of the coupling: 1 is physics, 0 none.", key="stage.gain", between=(-10.0, 10.0))
    ] = 1.0
    torque_only: Annotated[bool, Option("With --couple paper: torque without force.", key="stage.torque_only")] = False
    coupling_filter: Annotated[
        float | None,
        Option(
            "With --couple paper: fraction of past accelerations, 0 (as published, may diverge) to below 1.",
            key="stage.coupling_filter",
            default="chosen so that it is stable",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class StepOptions:
    """The time step."""

    title: ClassVar[str] = SIMULATION

    dt: Annotated[
        float,
        Option(
            "Longest step; the longest of which a frame is a multiple is taken.",
            key="stage.dt",
            between=STEPS,
            unit="s",
        ),
    ] = 0.005


@dataclass(frozen=True, kw_only=True)
class ForceOptions(LoadOptions):
    """Loads that a body carries and pushes that it receives."""

    pushes: Annotated[
        Push | str | Iterable[Push | str],
        Option(
            "A push: 't=2 chest 0,0,75 0.2s' (newtons, world x, y, z); repeatable.",
            flag="--push",
            key="pushes",
            several=True,
            parse=parse_push,
            example="t=2 chest 0,0,75 0.2s",
            read=_read_push,
            write=_write_pushes,
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class PhysicalOptions:
    """The physical parts, and the balance of physical legs: see `Balance`."""

    title: ClassVar[str] = JobOptions.title

    physical: Annotated[
        str | Iterable[str],
        Option(
            "Parts or joints that physics moves, with commas; the rest follows.",
            key="drivers.physical",
            several=True,
            parse=list_parts,
        ),
    ] = ("legs",)
    base: Annotated[
        str,
        Option(
            "planted: physical legs balance on feet that stay; kinematic: root and legs follow the clip; auto: planted "
            "if it stands.",
            key="drivers.base",
            choices=BASES,
        ),
    ] = AUTO
    stiffness: Annotated[
        float,
        Option("Of the balance: 0.3 sways widely, 3 is stiff.", key="drivers.stiffness", between=(0.01, 50.0)),
    ] = 1.0
    hold: Annotated[
        float,
        Option(
            "Of the balance: 1 keeps the centre of mass still, so that hips move against the arms; 0 keeps the hips "
            "still.",
            key="drivers.hold",
            between=(0.0, 1.0),
        ),
    ] = 1.0
    counter_lean: Annotated[
        float,
        Option(
            "How far the pelvis, and the spine in proportion, lean against loads and arms that the clip does not have: "
            "rad for each metre by which they shift the centre of mass.",
            key="drivers.counter_lean",
            between=(0.0, 10.0),
            unit="rad/m",
            default="1.2, as people do",
        ),
    ] = PELVIS
    pinned: Annotated[bool, Option("Fix the feet to the ground.", flag="--pin", key="drivers.pin")] = False


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Files to write. Python gives them in one list, by their suffixes; the command line and recipes by their kinds."""

    title: ClassVar[str] = JobOptions.title

    outputs: Annotated[
        File | Iterable[File],
        Option(
            "Files to write, by suffix: motions (.glb, .bvh, ..., .take.npz), films (.mp4, .webm, .webp, .gif), a plot "
            "(.png), of a mix its recipe (.toml).",
            flag="",
            several=True,
            writes=True,
        ),
    ] = ()
    output: Annotated[
        File | None,
        Option(
            "The motion, in any format that is written, or a .take.npz.",
            short="-o",
            key="outputs.motion",
            writes=True,
        ),
    ] = field(default=None, init=False)
    film: Annotated[
        File | None, Option("A film of it: .mp4, .webm, .webp or .gif.", key="outputs.film", writes=True)
    ] = field(default=None, init=False)
    plot: Annotated[
        File | None, Option("PNG of the centre of mass over the support.", key="outputs.plot", writes=True)
    ] = field(default=None, init=False)
