"""What is in a motion file: joints, frames, units, axes, and what each joint is to a body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from poise.files.reading.options import Source
from poise.files.reading.pipeline import Reading
from poise.files.registry import read_source
from poise.jobs.job import Answer, Run, job
from poise.options import File, JobOptions, Option


@dataclass(frozen=True, kw_only=True)
class InfoOptions(JobOptions, Source):
    """Options of `info`: those of every file that is read."""

    file: Annotated[File, Option("A motion file.")] = field(kw_only=False)


@job(InfoOptions)
def info(options: InfoOptions, run: Run) -> dict[str, Any]:
    """Say what is in a motion file: joints, frames, units, axes, and what each joint is to a body.

    Nothing is changed. Whatever is found can be told instead: units, axes, roles, frame rate.
    """
    reading = read_source(options.file, options, run)
    mass = options.mass
    if options.character is not None:
        from poise.jobs.shared.body import find_body

        mass = find_body(reading.clip, reading, options, run).character.mass
    found = describe(reading, mass)
    run.answer = Answer(found, write_out)
    return found


def describe(reading: Reading, mass: float | None = None) -> dict[str, Any]:
    """What was found in a file, under the names of `--json`. mass: kg, where it was told."""
    from poise.body.segments.stature import estimate_mass

    clip, skeleton, recording = reading.clip, reading.clip.skeleton, reading.recording
    mapped = set(skeleton.roles.values())
    stature = reading.stature if reading.stature_source is not None else None
    height = reading.find_height()
    guess = None if height is None else estimate_mass(height)
    roles = reading.find("roles")
    return {
        "format": recording.format,
        "clip": clip.name,
        "clips": list(recording.choices),
        "joints": len(skeleton),
        "frames": len(recording.clip),
        "fps": round(clip.fps, 9),
        "duration_s": clip.duration + (reading.dropped / clip.fps if reading.dropped else 0.0),
        "scale_to_m": reading.scale,
        "scale_reason": reading.find("unit").message,
        "up": reading.up,
        "up_reason": reading.find("up axis").message,
        "stature_m": stature,
        "stature_source": reading.stature_source,
        "mass_guess_kg": guess,
        "mass_kg": guess if mass is None else mass,
        "rest_pose": reading.find("rest pose").value,
        "rest_facing_degrees": reading.find("rest facing").value,
        "heading_degrees": reading.heading,
        "floor_m": None if reading.ground is None else reading.ground.height,
        **reading.describe_bones(),
        "has_mesh": recording.skin is not None,
        "confidence": roles.value,
        "roles_from": roles.message,
        "roles": dict(skeleton.roles),
        "unmapped": [name for name in skeleton.names if name not in mapped],
        "warnings": list(reading.warnings),
    }


def write_out(found: dict[str, Any]) -> str:
    """Return the description as text for people."""
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
