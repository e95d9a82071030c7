"""Outputs of a mix by suffix: motions, films, plots and recipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from poise.jobs.mix.recipe import Recipe

FILMS = (".mp4", ".webm", ".webp", ".gif")
TAKE = ".take.npz"


@dataclass(frozen=True)
class MixOutputs:
    """Files to write. Figures are measured on the first of the motions."""

    motions: tuple[Path, ...] = ()
    films: tuple[Path, ...] = ()
    plots: tuple[Path, ...] = ()
    recipes: tuple[Path, ...] = ()

    def __iter__(self) -> Iterator[Path]:
        return iter((*self.motions, *self.recipes, *self.plots, *self.films))

    def list_named(self) -> Iterator[tuple[str, Path]]:
        """Each with the option that names it."""
        kinds = ("output", self.motions), ("film", self.films), ("plot", self.plots), ("save_recipe", self.recipes)
        return ((option, path) for option, paths in kinds for path in paths)


def list_outputs(asked: Recipe, save_recipe: Path | None = None) -> MixOutputs:
    """What a recipe says is to be written, and where it is to be saved itself."""
    each = (asked.output, asked.film, asked.plot, save_recipe)
    return MixOutputs(*(() if path is None else (path,) for path in each))


def sort_outputs(paths: Iterable[str | PathLike[str]]) -> MixOutputs:
    """Paths sorted by what their suffixes name. What is no film, picture or recipe is a motion."""
    found: dict[str, list[Path]] = {"motions": [], "films": [], "plots": [], "recipes": []}
    for path in map(Path, paths):
        suffix = path.suffix.lower()
        kind = "films" if suffix in FILMS else {".png": "plots", ".toml": "recipes"}.get(suffix, "motions")
        found[kind].append(path)
    return MixOutputs(**{kind: tuple(each) for kind, each in found.items()})
