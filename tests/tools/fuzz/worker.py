"""A process that reads broken files of one format until its time is up, and tells what they did to the reader.

usage, in the folder tests: python -m tools.fuzz.worker .bvh [--seconds 60] [--seed 0] [--keep FOLDER] | [--file FILE]

Readers may give a clip of finite numbers, or raise InputError with one sentence. Anything else is a finding: another
exception, a sentence of several lines, no end within the time for one file, more memory than a file of that size needs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import signal
import tempfile
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from helpers.files.seeds import write_seed
from poise.errors import InputError
from poise.files.registry import FORMATS, read_clip
from tools.fuzz.mutate import mutate

MOST_SECONDS = 10.0  # for one file
MOST_BYTES = 4 << 30  # of address space above what the process has at its start
_CORPUS = 400


class TooSlow(BaseException):
    """The time for one file is over. No reader catches it."""


@dataclass
class Outcome:
    """What one reader did with many files.

    read      files that gave a clip
    refused   files that were refused in a sentence
    sentences  different sentences among these, names and numbers aside
    findings  what should not happen: kind, where, how often, a file that does it
    """

    suffix: str
    runs: int = 0
    read: int = 0
    refused: int = 0
    sentences: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    peak_mb: float = 0.0
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)


def try_file(path: Path) -> tuple[str, str]:
    """What reading a file does: ("read", ""), ("refused", sentence) or ("finding", what and where)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clip = read_clip(path).clip
            if not np.isfinite(clip.positions).all():
                return "finding", "a clip that is not finite"
        return "read", ""
    except InputError as error:
        said = str(error)
        return ("finding", "a message of several lines") if "\n" in said else ("refused", said.removeprefix(str(path)))
    except TooSlow:
        return "finding", f"no end within {MOST_SECONDS:g} s"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        inside = [f for f in traceback.extract_tb(error.__traceback__) if f"{Path('poise') / 'files'}" in f.filename]
        place = f"{Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else "outside poise/files"
        return "finding", f"{type(error).__name__} at {place}: {str(error)[:120]}"


def limit(seconds: float) -> None:
    """Raise TooSlow after so many seconds; 0 ends the limit. Nothing where the system has no such clock."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _too_slow(signum: int, frame: object) -> None:
    raise TooSlow


def prepare() -> None:
    """Bound this process' memory, and let the clock interrupt it; on Linux."""
    import resource

    signal.signal(signal.SIGALRM, _too_slow)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))


def peak_mb() -> float:
    """The most memory that this process has had, in MB. (ru_maxrss would count what its parent had before it.)"""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # another system, which does not say it so
        return 0.0
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def fuzz(suffix: str, seconds: float, seed: int, keep: Path | None = None, runs: int = 10**9) -> Outcome:
    """Break files of a format for a while. keep: folder for files that are findings."""
    rng = random.Random(seed)
    outcome = Outcome(suffix)
    with tempfile.TemporaryDirectory(prefix="poise-fuzz-") as name:
        folder = Path(name)
        first = write_seed(suffix, folder)
        if first is None:
            return outcome
        others = [p.read_bytes() for entry in FORMATS if (p := _seed_of(entry.suffix, entry.read, suffix)) is not None]
        good, odd = [first.read_bytes()], [first.read_bytes()]  # that are read, and that are not
        seen: set[str] = set()
        path = first  # in its place, so that what stands beside it is found
        try_file(path)
        start = time.monotonic()
        while outcome.runs < runs and (now := time.monotonic()) - start < seconds:
            data = mutate(rng, rng.choice(good if rng.random() < 0.8 else odd), good + odd + others)
            path.write_bytes(data)
            limit(MOST_SECONDS)
            what, said = try_file(path)
            limit(0)
            outcome.runs += 1
            outcome.slowest_s = max(outcome.slowest_s, time.monotonic() - now)
            sentence = re.sub(r"'[^']*'|[-+]?\d[\d.e+-]*", "_", said)
            if what == "finding":
                _keep(outcome, said, data, keep)
            elif what == "refused":
                outcome.refused += 1
            else:
                outcome.read += 1
            # A sentence that was not heard before means a part of the reader that was not reached before.
            if what != "finding" and (sentence not in seen or rng.random() < 0.02) and len(data) < 200_000:
                seen.add(sentence)
                corpus = good if what == "read" else odd
                corpus.append(data)
                if len(corpus) > _CORPUS:
                    corpus.pop(rng.randrange(1, len(corpus)))
        outcome.seconds, outcome.sentences = time.monotonic() - start, len(seen)
    outcome.peak_mb = peak_mb()
    return outcome


def _seed_of(suffix: str, read: str | None, but: str) -> Path | None:
    """A seed of another format, to splice with."""
    if read is None or suffix in (but, ".fbx"):
        return None
    folder = Path(tempfile.mkdtemp(prefix="poise-fuzz-"))
    return write_seed(suffix, folder)


def _keep(outcome: Outcome, said: str, data: bytes, keep: Path | None) -> None:
    found = outcome.findings.setdefault(said, {"times": 0, "file": None})
    found["times"] += 1
    if keep is not None and (found["file"] is None or len(data) < found["bytes"]):
        path = keep / f"{hashlib.sha256(said.encode()).hexdigest()[:12]}{outcome.suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        found["file"], found["bytes"] = str(path), len(data)


def main() -> None:
    """Fuzz one format, or read one file, and print what happened as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("suffix")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--file", type=Path, help="read this one file instead")
    words = parser.parse_args()
    prepare()
    if words.file is None:
        print(json.dumps(asdict(fuzz(words.suffix, words.seconds, words.seed, words.keep))))
        return
    with tempfile.TemporaryDirectory() as folder:  # what a reader needs anyway is not this file's
        seed = write_seed(words.suffix, Path(folder))
        if seed is not None:
            try_file(seed)
    before, start = peak_mb(), time.monotonic()
    limit(60.0)
    what, said = try_file(words.file)
    limit(0)
    print(json.dumps({"what": what, "said": said, "s": time.monotonic() - start, "mb": peak_mb() - before}))


if __name__ == "__main__":
    main()
