"""The command line in a folder of its own: a run, and what a run must never do."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from poise.cli import main
from poise.cli.parser import build_app
from poise.files.output import is_temporary
from poise.files.registry import load_clip
from poise.stage.take.files import load_take

MOST_LINES = 12  # of standard error, of one run
OUTPUTS = ("-o", "--output", "--film", "--plot", "--save-recipe", "--save")
PARSERS = {"float": "number", "Path": "path", "bool": "flag", "int": "whole", "Literal": "choice", "tuple": "words"}


@dataclass(frozen=True)
class Run:
    """What a command did: exit code, standard output and error."""

    code: int
    out: str
    err: str


def run(*words: object) -> Run:
    """Run a command in this process. Warnings that a user would see on standard error are in it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        code = main([str(word) for word in words])
    return Run(code, out.getvalue(), err.getvalue() + "".join(f"Warning: {each.message}\n" for each in seen))


def look(folder: Path) -> dict[str, str]:
    """Everything below a folder: path -> what it is, with a digest of its content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"link to {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def find_faults(words: list[str], done: Run, before: dict[str, str], folder: Path) -> Iterator[str]:
    """What is wrong about a run, a sentence each: the promises of docs/command-line.md."""
    after = look(folder)
    if done.code not in (0, 1, 2):
        yield f"exit {done.code}: {done.err.strip()[-200:]}"
    lines = done.err.splitlines()
    if "Traceback" in done.err or any(not line.startswith("poise: ") for line in lines):
        yield f"standard error has what is no sentence of Poise: {done.err[:300]!r}"
    if len(lines) > MOST_LINES or (done.code == 2 and not lines):
        yield f"{len(lines)} lines on standard error"
    if any(not (c.isprintable() or c == "\n") for c in done.out + done.err):
        yield "a control character was printed"
    if "--quiet" in words and done.code != 2 and lines:
        yield f"--quiet said: {lines[0]}"
    is_folder = (words[0] == "convert" and "failures" in done.out + done.err) or "not converted" in done.err
    if "--json" in words and "--help" not in words and (done.code != 2 or done.out):
        try:
            assert isinstance(json.loads(done.out), dict)
        except (ValueError, AssertionError):
            yield f"--json printed what is no object: {done.out[:100]!r}"
    if done.code == 2 and done.out and not is_folder and "converted" not in done.out:
        yield f"exit 2, but standard output has {done.out[:100]!r}"
    meant = _find_meant(words) if done.code in (0, 1) else set()
    lost = [name for name, what in before.items() if after.get(name) != what and (folder / name).resolve() not in meant]
    if lost:
        yield f"inputs changed: {lost}"
    new = [name for name in after if name not in before]
    if any(is_temporary(Path(name)) for name in new):
        yield f"a temporary file is left: {new}"
    if done.code == 2 and not is_folder and "converted" not in done.out and new:
        yield f"exit 2, but files were written: {new}"
    for name in new:
        yield from _find_file_faults(folder / name)


def _find_meant(words: list[str]) -> set[Path]:
    """Files that the words name as outputs and not as inputs too: those may be written anew."""
    named: list[str] = []
    outputs: set[Path] = set()
    for before, word in pairwise(["", *words]):
        option, equals, value = word.partition("=")
        if equals and option in OUTPUTS:
            outputs.add(Path(value).resolve())
        elif before in OUTPUTS or (words[0] == "convert" and word == words[2]):
            outputs.add(Path(word).resolve())
        else:
            named += [word, value]
    return outputs - {Path(word).resolve() for word in named if word and "\0" not in word and len(word) < 200}


def _find_file_faults(path: Path) -> Iterator[str]:
    """A file that was written can be read again."""
    if path.is_dir():
        return
    try:
        if path.name.endswith(".take.npz"):
            load_take(path)
        elif path.suffix.lower() in (".bvh", ".glb", ".npz"):
            load_clip(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif not path.stat().st_size:
            yield f"'{path.name}' is empty"
    except Exception as error:
        yield f"'{path.name}' was written and cannot be read: {error}"


def list_options(command: str) -> dict[str, str]:
    """Every option of a command, asked from the parser: its long name -> number, path, flag, choice, words, ..."""
    found = {}
    for argument in build_app()[command].assemble_argument_collection():
        name = next((name for name in argument.names if name.startswith("--")), None)
        if name is not None:
            kinds = [kind for word, kind in PARSERS.items() if word in str(argument.hint)]
            found[name] = kinds[0] if kinds else "text"
    return found
