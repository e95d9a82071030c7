"""Outputs of a mix by suffix: motions, films, plots and recipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, cast

from poise.errors import InputError
from poise.jobs.job import Run
from poise.jobs.shared.options import OutputOptions

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


def list_outputs(options: OutputOptions, save_recipe: Any = None) -> MixOutputs:
    """Return the files to write: those of Python's list, of each kind before the one that an option or recipe names."""
    listed = sort_outputs(cast("tuple[Path, ...]", options.outputs))
    named = [() if path is None else (Path(path),) for path in (options.output, options.film, options.plot)]
    recipes = listed.recipes if save_recipe is None else (Path(save_recipe),)
    return MixOutputs(listed.motions or named[0], listed.films or named[1], listed.plots or named[2], recipes)


def check_named(options: OutputOptions, outputs: MixOutputs, run: Run, job: str) -> None:
    """Raise InputError if the command line names no output, or if a job that has no recipes is to write one."""
    if run.given.is_typed and options.output is None:
        raise InputError("-o is missing. Name the motion to write, such as -o out.glb.")
    if outputs.recipes:
        raise InputError(f"{job} writes no recipe; got '{outputs.recipes[0]}'. Name a motion, a film or a picture.")


def sort_outputs(paths: Iterable[str | PathLike[str]]) -> MixOutputs:
    """Paths sorted by what their suffixes name. What is no film, picture or recipe is a motion."""
    found: dict[str, list[Path]] = {"motions": [], "films": [], "plots": [], "recipes": []}
    for path in map(Path, paths):
        suffix = path.suffix.lower()
        kind = "films" if suffix in FILMS else {".png": "plots", ".toml": "recipes"}.get(suffix, "motions")
        found[kind].append(path)
    return MixOutputs(**{kind: tuple(each) for kind, each in found.items()})
