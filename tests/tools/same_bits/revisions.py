"""Running the cases on a revision, in processes of its own, and keeping what they came to.

A revision is checked out into `out/same-bits/before` and removed afterwards. It gets the machine code of the working
tree's kernels, which is used where all the sources of a kernel are the same. Results are kept in `out/same-bits` by
commit, source of a case and environment; those of the working tree too, where all of `src` is committed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .cases import load_cases

TESTS = Path(__file__).parents[2]
ROOT = TESTS.parent
KEPT = ROOT / "out" / "same-bits"
LIBRARIES = ("numpy", "numba", "llvmlite", "mujoco", "scipy", "pybullet", "usd-core", "pillow", "matplotlib", "av")
# Modules of tests/helpers that the cases use, beside their own.
HELPERS = (
    "bodies.py", "clips.py", "command_inputs.py", "marked_walker.py", "options_accepted.py", "options_refused.py",
    "files/c3d.py", "files/seeds.py", "files/trc.py",
)  # fmt: skip
Results = dict[str, dict[str, Any]]
Tell = Callable[["Side", str, dict[str, Any]], None]


class Side:
    """A source tree, and the cases of it that are still to be run.

    key        where results are kept; None: nowhere
    fresh      whether all are run, though there are kept results
    arrays     a folder for the arrays of each case;  functions: one for what functions were called; None: not wanted
    """

    def __init__(self, tree: Path, names: list[str], key: str | None = None, fresh: bool = False,
                 arrays: Path | None = None, functions: Path | None = None):  # fmt: skip
        self.tree, self.key, self.arrays, self.functions = tree, key, arrays, functions
        cases = load_cases()
        self.stamps = {name: cases[name].stamp for name in names}
        self.kept: Results = _load(key) if key and not fresh else {}
        self.results: Results = {
            name: self.kept[name] for name in names if self.kept.get(name, {}).get("stamp") == self.stamps[name]
        }
        self.waiting = deque(name for name in names if name not in self.results)

    def put(self, name: str, result: dict[str, Any]) -> None:
        self.results[name] = {**result, "stamp": self.stamps[name]}

    def keep(self) -> None:
        """Write what was run where it is found again."""
        if self.key:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{self.key}.json"
            path.with_suffix(".new").write_text(json.dumps({**self.kept, **self.results}), encoding="utf-8")
            path.with_suffix(".new").replace(path)


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout.strip()


def find_commit(revision: str) -> str:
    """The commit that a revision names."""
    try:
        return git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except subprocess.CalledProcessError:
        raise SystemExit(f"same-bits: git knows no revision '{revision}'. Write a branch, a tag or a commit.") from None


def find_key(commit: str) -> str:
    """A name for the results of a commit: with other helpers or another environment it is another one.

    Cases have their own stamps. Where a revision has a name (`names.py`) changes nothing of its results.
    """
    found = hashlib.sha256()
    shared = [TESTS / "tools" / "same_bits" / name for name in ("record.py", "scenes.py", "worker.py")]
    for path in [*shared, *(TESTS / "helpers" / name for name in HELPERS)]:
        found.update(path.read_bytes())
    for name in LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.update(f"{name} {importlib.metadata.version(name)} ".encode())
    found.update(f"{sys.version} {platform.platform()} {_find_processor()} {os.environ.get('POISE_DATA')}".encode())
    return f"{commit[:12]}-{found.hexdigest()[:12]}"


def _find_processor() -> str:
    """The processor's name: compiled code differs by it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line
    return platform.processor()


def is_committed() -> bool:
    """Whether the package in the working tree is the one of HEAD."""
    return not git("status", "--porcelain", "--", "src")


def _load(key: str) -> Results:
    path = KEPT / f"{key}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The tree of a commit, for as long as it is used. Whoever comes meanwhile waits."""
    import fcntl

    KEPT.mkdir(parents=True, exist_ok=True)
    tree = KEPT / "before"
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _remove(tree)  # one that was left behind
        git("worktree", "add", "--quiet", "--detach", "--force", str(tree), commit)
        for path in (ROOT / "src").rglob("__pycache__/*.nb[ic]"):
            (tree / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, tree / path.relative_to(ROOT))
        try:
            yield tree
        finally:
            _remove(tree)


def _remove(tree: Path) -> None:
    with contextlib.suppress(subprocess.CalledProcessError):
        git("worktree", "remove", "--force", str(tree))
    git("worktree", "prune")


def run_sides(sides: list[Side], processes: int, tell: Tell) -> None:
    """Run all cases that wait, in some processes at once: each has one side's, then helps the others."""

    def work(first: int) -> None:
        for k in range(len(sides)):
            side = sides[(first + k) % len(sides)]
            while side.waiting:
                _run_some(side, tell)

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _run_some(side: Side, tell: Tell) -> None:
    """One process runs cases of a side until none waits, or until it dies of one."""
    with start_worker(side) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        while True:
            try:
                name = side.waiting.popleft()
            except IndexError:
                break
            line = ""
            with contextlib.suppress(BrokenPipeError):
                worker.stdin.write(json.dumps(name) + "\n")
                worker.stdin.flush()
                line = worker.stdout.readline()
            if not line:
                reason = f"its process ended with exit code {worker.wait()}"
                result: dict[str, Any] = {"state": "failed", "reason": reason, "parts": {}, "seconds": 0.0}
            else:
                result = json.loads(line)
            side.put(name, result)
            tell(side, name, result)
            if not line:
                break
        worker.stdin.close()


def start_worker(side: Side) -> subprocess.Popen[str]:
    """A process that runs cases of a side: it reads names and writes results, a line of JSON each."""
    path = os.pathsep.join([str(side.tree / "src"), str(TESTS)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg"}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    words = ["--work", str(side.tree)]
    for option, folder in (("--arrays", side.arrays), ("--functions", side.functions)):
        words += [] if folder is None else [option, str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "tools.same_bits", *words], cwd=TESTS, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
