"""A process that runs cases on one source tree: it reads names and writes results, a line of JSON each."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from pathlib import Path


def work(tree: Path, arrays: Path | None, functions: Path | None) -> None:
    """Run the cases that standard input names. What they print themselves is dropped."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    warnings.simplefilter("ignore")
    if functions is not None:
        from . import functions as counted

        counted.watch(tree / "src")
    import poise

    assert Path(poise.__file__).is_relative_to(tree / "src"), (
        f"poise is imported from {poise.__file__}, not from {tree}"
    )
    from .cases import load_cases
    from .record import run_case

    cases = load_cases()
    for line in sys.stdin:
        name = json.loads(line)
        result = run_case(cases[name], arrays and arrays / f"{file_name(name)}.npz")
        answers.write(json.dumps(result) + "\n")
        answers.flush()
    if functions is not None:
        counted.save(functions / f"{os.getpid()}.json")


def file_name(case: str) -> str:
    """A file's name for a case."""
    return re.sub(r"[^A-Za-z0-9]+", "-", case)
