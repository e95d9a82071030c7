"""Every option of every command, on inputs that Poise writes itself: exit code, figures, and the bytes of new files.

The table is the one of `tests/cli/test_abuse_options.py`. The commands run in this process, in a folder of their own.
`bench` is left out: it measures speed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from helpers.command_inputs import fill, write_more
from helpers.options_accepted import WORKS
from helpers.options_refused import NOTED, REFUSED

from .cases import add_case, need
from .names import find, spell
from .record import Words, read_figures, read_files

LEFT_OUT = ("bench",)
TINY = "tiny"  # a demo that takes no time
# What each folder of inputs is written into, once in a process; commands leave it as it was.
_places: list[tempfile.TemporaryDirectory[str]] = []


def give_all(folder: Path, seed: int = 0, minutes: float = 0.0, soak: bool = False, clip: Path | None = None,
             count: int = 0, seconds: float = 0.0, threads: int = 0) -> dict[str, object]:  # fmt: skip
    """A demo that has every option and says what it was given."""
    given = [seed, minutes, soak, str(clip), count, seconds]
    (folder / "tiny.json").write_text(json.dumps(given))
    return {"fell": False, "given": given}


@contextlib.contextmanager
def at_inputs() -> Iterator[Path]:
    """Be in the folder of inputs; what is new in it afterwards is removed."""
    if not _places:
        _places.append(tempfile.TemporaryDirectory())
        fill(Path(_places[0].name))
        write_more(Path(_places[0].name))
    folder = Path(_places[0].name)
    before, demos = set(folder.rglob("*")), find("DEMOS")
    demos[TINY] = find("Entry")(f"{__name__}:give_all", "a demo")
    try:
        with contextlib.chdir(folder):
            yield folder
    finally:
        del demos[TINY]
        for path in sorted(set(folder.rglob("*")) - before, key=lambda path: -len(path.parts)):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def run_words(*words: str) -> tuple[int, str, str]:
    """A command's exit code, standard output and error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = find("run_cli")(list(spell(words)))
    return code, out.getvalue(), err.getvalue()


def read_run(folder: Path, before: set[Path], done: tuple[int, str, str]) -> dict[str, Any]:
    """What a run left: exit code, figures, and the contents of new files."""
    code, out, err = done
    try:
        printed = read_figures(json.loads(out), folder)
    except ValueError:
        printed = Words(out)
    new = sorted(str(path.relative_to(folder)) for path in set(folder.rglob("*")) - before if path.is_file())
    return {
        "exit": code,
        "printed": printed,
        "told": Words(err),
        "names": " ".join(new),
        "files": read_files(folder, new),
    }


def run_command(*words: str) -> dict[str, Any]:
    """A command that works: a result, or a motion that failed its check."""
    if "bullet" in words:
        need("pybullet")
    with at_inputs() as folder:
        before = set(folder.rglob("*"))
        done = run_words(*words, "--json", "--quiet")
        if done[0] not in (0, 1):
            raise RuntimeError(f"poise {' '.join(words)} ended with exit code {done[0]}: {done[2].strip()}")
        return read_run(folder, before, done)


def run_refused(rows: list[tuple[str, ...]]) -> dict[str, Any]:
    """Commands that must be refused: exit codes, with nothing written, and what they say."""
    found: dict[str, Any] = {}
    with at_inputs() as folder:
        before = set(folder.rglob("*"))
        for words in rows:
            code, _, err = run_words(*words, "--quiet")
            new = len(set(folder.rglob("*")) - before)
            found[" ".join(words)[:200]] = {"exit": code, "new": new, "told": Words(err)}
    return found


def run_told(*words: str) -> dict[str, Any]:
    """A command as people see it: what it prints and tells."""
    with at_inputs() as folder:
        before = set(folder.rglob("*"))
        return read_run(folder, before, run_words(*words))


def read_inputs() -> dict[str, Any]:
    """The inputs themselves, which both revisions write."""
    with at_inputs():
        return read_files(Path.cwd())


os.environ.setdefault("MPLBACKEND", "Agg")
add_case("inputs", read_inputs)
for _command, _options in WORKS.items():
    if _command in LEFT_OUT:
        continue
    for _base in dict.fromkeys(base for base, _ in _options.values()):
        add_case(f"command {' '.join(_base)}", run_command, *_base)
    for _option, (_base, _more) in _options.items():
        _words = _base[: _base.index("-o")] if _option == "--output" else _base
        add_case(
            f"command {_command} {_option} {' '.join(_more)} ({' '.join(_base[1:])})", run_command, *_words, *_more
        )
    add_case(f"refused {_command}", run_refused, [words for words, _ in REFUSED if words[0] == _command])
    add_case(f"help {_command}", run_told, _command, "--help")
for _words, _ in NOTED:
    add_case(f"noted {' '.join(_words)}", run_told, *_words)
for _words in (("--help",), ("info", "clip.bvh"), ("mix", "clip.bvh", "-o", "new.npz"), ("convert", "library", "new"),
               ("convert", "library", "new", "--to", "glb"), ("info", "library"), ("strength", "show")):  # fmt: skip
    add_case(f"told {' '.join(_words)}", run_told, *_words)
