"""`poise info`: what is in a motion file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input
from poise.cli.console import Report, make_printable
from poise.cli.source import SourceOptions


def info(
    file: Annotated[Path, Parameter(converter=read_input, help="A motion file.")],
    /,
    *,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Say what is in a motion file: joints, frames, units, axes, and what each joint is to a body.

    Nothing is changed. Whatever is found can be told instead: units, axes, roles, frame rate.
    """
    from poise.jobs.info import run_info

    report.tell_nothing_random()
    found = run_info(file, source, report)
    report.result(found, write_out(make_printable(found)))


def write_out(found: dict[str, Any]) -> str:
    """The same for people."""
    clips = found["clips"]
    more = f", one of {len(clips)} clips" if len(clips) > 1 else ""
    mass = "" if found["mass_guess_kg"] is None else f", so about {found['mass_guess_kg']:.0f} kg"
    if found["mass_kg"] != found["mass_guess_kg"]:
        mass = f", {found['mass_kg']:.6g} kg as told"
    floor = "no floor found" if found["floor_m"] is None else f"floor at {found['floor_m']:.2f} m"
    lines = [
        f"{found['format']}, '{found['clip']}'{more}: {found['frames']} frames at {found['fps']:.6g} Hz, "
        f"{found['duration_s']:.2f} s, {found['joints']} joints" + (", with a mesh" if found["has_mesh"] else ""),
        f"body     {_tall(found)}{mass}",
        f"unit     {found['scale_to_m']:.6g} m: {found['scale_reason']}",
        f"up       {found['up']}: {found['up_reason']}",
        f"rest     {found['rest_pose']} pose; facing {_degrees(found['rest_facing_degrees'])}",
        f"motion   begins facing {_degrees(found['heading_degrees'])}; {floor}",
        f"roles    {len(found['roles'])} from {found['roles_from']}, confidence {found['confidence']:.2f}",
    ]
    width = max(map(len, found["roles"]), default=0)
    lines += [f"  {role:<{width}}  {joint}" for role, joint in found["roles"].items()]
    if found["unmapped"]:
        lines.append(f"other    {', '.join(found['unmapped'])}")
    if len(clips) > 1:
        lines.append(f"clips    {', '.join(clips)}")
    return "\n".join(lines)


def _tall(found: dict[str, Any]) -> str:
    if found["stature_m"] is None:
        return "of unknown stature"
    how = "" if found["stature_source"] == "measured" else f" ({found['stature_source']})"
    return f"{found['stature_m']:.2f} m tall{how}"


def _degrees(angle: float | None) -> str:
    return "nowhere in particular" if angle is None else f"{angle:.0f} degrees from +Z"
