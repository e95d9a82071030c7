"""What `--terrain` names: a word, or a file with heights, a mesh or a whole stage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poise.errors import InputError, unknown_name
from poise.jobs.plan import Scenery
from poise.jobs.scenery_file import load_scenery
from poise.world.ground import Ground
from poise.world.terrain import WORDS, build_terrain
from poise.world.terrain_file import ENDINGS, load_height_map


def find_terrain(text: str, seed: int = 0, **options: Any) -> Scenery:
    """Ground and props of a terrain.

    text     flat, slope, stairs, rough, moving; a height map (.png, .npz, .glb, .gltf); a stage file (.toml)
    seed     of what a word has at random
    options  of `build_terrain` or of `load_height_map`; a stage file has none
    """
    ending = Path(text).suffix.lower()
    if text in WORDS:
        return Scenery(build_terrain(text, seed, **options), True)
    if ending == ".toml":
        if options:
            raise InputError(f"a stage file says all of its ground itself; option '{next(iter(options))}' was given.")
        return load_scenery(text)
    if ending in ENDINGS:
        known = ("spacing", "scale", "corner", "holes", "height", "friction")
        for name in options:
            if name not in known:
                raise unknown_name("option of a height map,", name, known)
        if "holes" in options and ending in (".png", ".npz"):
            raise InputError(f"'holes' is for meshes, and a {ending} has a height everywhere. Leave it out.")
        return Scenery(load_height_map(text, **options), True)
    raise unknown_name("terrain", text, [*WORDS, *(f"FILE{each}" for each in (*ENDINGS, ".toml"))])


def find_ground(text: str) -> Ground | None:
    """The ground of a terrain, for what is played on it without props."""
    found = find_terrain(text)
    if found.props:
        raise InputError(
            f"{text}: a puppet is played on a ground without props; got prop '{found.props[0].name}'. Leave out its "
            "props."
        )
    return found.ground


def is_random(text: str, options: Mapping[str, Any]) -> bool:
    """Whether a seed changes a terrain."""
    if text == "moving":
        return options.get("ground") == "rough"
    return text == "rough" or (text == "stairs" and bool(options.get("random")))
