"""Every demo: its figures and files, without its films, which take most of its time."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from .cases import add_case
from .cases_commands import read_run, run_words
from .names import FILMS, find

DEMOS = (
    "motion", "conductor", "armswing", "clap", "drum", "speech", "mocap", "swing", "switch", "hit-arm", "thin-fat",
    "overload", "gains", "compare", "push-hands", "staff", "bow", "pattycake", "slap", "gestures", "onleg", "physiques",
    "stairs", "slope", "rough", "moving", "bodies", "ghost", "lift", "puppet", "fall", "lean-on-hand", "crowd",
)  # fmt: skip
WORDS = {"crowd": ("--count", "6", "--seconds", "2", "--seed", "3")}


def leave_film(path: Any, frames: Any, fps: float, *_words: Any, **_more: Any) -> int:
    """Instead of a film, a file that says how fast it is; its frames are not drawn."""
    Path(path).write_text(f"{fps!r} frames a second\n")
    return 1


def run_demo(name: str) -> Any:
    """A demo's exit code, figures and files."""
    find("DEMOS")[name].load()
    modules = [module for key, module in list(sys.modules.items()) if key.startswith("poise.")]
    __import__("poise.pictures.film")
    films = [
        (module, film)
        for module in {*modules, sys.modules["poise.pictures.film"]}
        for film in FILMS
        if hasattr(module, film)
    ]
    with tempfile.TemporaryDirectory() as text:
        patches = [mock.patch.object(module, film, leave_film) for module, film in films]
        for patch in patches:
            patch.start()
        try:
            done = run_words("demo", name, "-o", f"{text}/out", *WORDS.get(name, ()), "--json", "--quiet")
        finally:
            for patch in patches:
                patch.stop()
        if done[0] not in (0, 1):
            raise RuntimeError(f"demo {name} ended with exit code {done[0]}: {done[2].strip()}")
        return read_run(Path(text), set(), done)


for _name in DEMOS:
    add_case(f"demo {_name}", run_demo, _name)
