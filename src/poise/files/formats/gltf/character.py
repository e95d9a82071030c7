"""Characters from files: Poise's own JSON, or the user's skinned model (.glb, .gltf, .vrm)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from poise.body.character import Character
from poise.body.geometry.skin import SkinnedMesh
from poise.body.geometry.skin_segments import build_character
from poise.errors import FileError, InputError
from poise.files.input import check_there, stem_of
from poise.files.reading.pipeline import Reading, interpret
from poise.kinds import checked

MODELS = (".glb", ".gltf", ".vrm")


@dataclass(frozen=True, eq=False)
class CharacterReading:
    """A character as read from a model, and what was found about it.

    character  in metres, Y up
    skin       its mesh in the same coordinates, at rest
    reading    the model at rest, as read; `save_on_character` takes it
    warnings   what was odd, a sentence each
    """

    character: Character
    skin: SkinnedMesh
    reading: Reading
    warnings: tuple[str, ...]


@checked
def load_character(
    path: str | PathLike[str], mass: float | None = None, height: float | None = None, scale: float | None = None
) -> Character:
    """A character from Poise's JSON, or from a skinned .glb, .gltf or .vrm, its segments cut from the mesh.

    mass    kg of a model; an average body's of its height if None. JSON has its own
    height  m of a model as it stands there; measured on its mesh if None. It does not scale the model
    scale   metres a unit of a model; found if None
    """
    if Path(path).suffix.lower() in MODELS:
        return read_character(path, mass, height, scale).character
    if Path(path).suffix.lower() != ".json":
        check_there(path)  # that it is a folder, or not there, is said first
        known, suffix = ", ".join((".json", *MODELS)), Path(path).suffix
        what = f"'{suffix}'" if suffix else "a file without suffix"
        raise FileError(path, f"{what} is not a kind of character; known are {known}.")
    if not (mass is None and height is None and scale is None):
        raise InputError("mass, height and scale are for models; a character's JSON file has its own.")
    from poise.files.character import load_character as load_json

    return load_json(path)


def find_reading(character: Character) -> Reading | None:
    """How the model of a character was read; None if it is of none, or has other bones than its model by now."""
    model = character.model
    if isinstance(model, Reading) and model.clip.skeleton.has_bones_of(character.skeleton):
        return model
    return None


def read_character(
    path: str | PathLike[str],
    mass: float | None = None,
    height: float | None = None,
    scale: float | None = None,
    up: str | None = None,
    roles: Mapping[str, str] | None = None,
) -> CharacterReading:
    """A skinned model as a character, with its mesh and what was found about it.

    up and roles as for `interpret`, the other arguments as for load_character
    """
    from poise.files.formats.gltf.read import read_gltf_rest
    from poise.files.formats.gltf.skin import check_mesh

    reading = interpret(read_gltf_rest(path), scale, up, roles)
    skin = reading.skin
    if skin is None:
        source = reading.recording.source
        _, found = check_mesh(source.document, source.nodes, source.rig)
        reasons = [finding.sentence for finding in found]
        raise FileError(path, next(iter(reasons), "has no mesh, so it is a motion and not a character."))
    try:
        cut = build_character(
            reading.clip.skeleton, skin, mass, reading.stature if height is None else height, name=stem_of(path)
        )
    except FileError:
        raise
    except InputError as error:
        raise FileError(path, str(error)) from error
    character = replace(cut.character, model=reading)
    return CharacterReading(character, skin, reading, (*reading.warnings, *cut.warnings))
