"""The guard of refactorings: two runs agree, a changed constant is found, a case that raises fails."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from poise.cli.commands import COMMANDS
from poise.demos import DEMOS
from poise.engines.registry import ENGINES
from poise.files.registry import FORMATS
from tools.same_bits import names
from tools.same_bits.__main__ import look_closer
from tools.same_bits.cases import Case, Skip, load_cases
from tools.same_bits.compare import Report, compare, format_report
from tools.same_bits.record import Words, run_case
from tools.same_bits.revisions import ROOT, TESTS, Side, run_sides

QUICK = ["stage 24 fps", "file written .bvh random", "command info clip.bvh", "forces of walk"]


def run(tree: Path) -> Side:
    side = Side(tree, QUICK)
    run_sides([side], 1, lambda *_: None)
    return side


def judge(before: Callable[[], Any], after: Callable[[], Any], raises: str | None = None) -> Report:
    """The report on one case that does two things."""
    results = [{"case": run_case(Case("case", do, raises))} for do in (before, after)]
    return compare(*results)


def fail(error: Exception) -> Any:
    raise error


@pytest.mark.slow
def test_two_runs_of_one_revision_agree() -> None:
    report = compare(run(ROOT).results, run(ROOT).results)
    assert report.is_same and report.cases == len(QUICK), format_report(report, {}, True)


@pytest.mark.slow
def test_a_changed_constant_is_found_with_its_size(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    changed = 0
    for path in (tmp_path / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "-9.81" in text:
            path.write_text(text.replace("-9.81", "-9.82"), encoding="utf-8")
            changed += 1
    assert changed
    before, now = run(ROOT), run(tmp_path)
    report = compare(before.results, now.results)
    assert {"stage 24 fps", "forces of walk"} <= set(report.differ) and not report.failed
    assert "file written .bvh random" not in report.differ
    details = look_closer(report, ROOT, tmp_path, 1)
    found = [text for (name, _), text in details.items() if name == "stage 24 fps"]
    assert any("differs by up to" in text and "numbers" in text for text in found), found


@pytest.mark.slow
def test_the_command_compares_with_a_revision_and_removes_its_tree() -> None:
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True).returncode:
        pytest.skip("this is no clone")
    command = [sys.executable, "-m", "tools.same_bits", "HEAD", "--only", "file read .bvh"]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cases with" in done.stdout and "0 differ, 0 failed" in done.stdout
    assert not (ROOT / "out" / "same-bits" / "before").exists()


def test_a_case_that_raises_fails() -> None:
    report = judge(lambda: 1.0, lambda: fail(ValueError("no")))
    assert not report.is_same and "ValueError" in report.failed["case"]
    assert not judge(lambda: fail(ValueError("no")), lambda: fail(ValueError("no"))).is_same


def test_an_error_that_a_case_expects_is_compared_by_its_type() -> None:
    error = poise.InputError
    report = judge(lambda: fail(error("one sentence.")), lambda: fail(error("another.")), "InputError")
    assert report.is_same and report.texts == {"case": ["message"]}
    assert not judge(lambda: fail(error("one.")), lambda: fail(KeyError("one.")), "InputError").is_same
    assert not judge(lambda: 1.0, lambda: 1.0, "InputError").is_same


def test_a_bit_is_found_and_a_message_is_told_apart() -> None:
    one = np.array([0.1, 0.2])
    assert judge(lambda: one, lambda: one.copy()).is_same
    assert not judge(lambda: one, lambda: np.array([np.nextafter(0.1, 1.0), 0.2])).is_same
    assert not judge(lambda: one, lambda: one.astype(np.float32)).is_same
    assert not judge(lambda: one, lambda: one[:1]).is_same
    assert not judge(lambda: {"a": one}, lambda: {"b": one}).is_same
    assert judge(lambda: {"told": Words("it fell")}, lambda: {"told": Words("It fell over.")}).is_same
    assert not judge(lambda: {"kind": "fell"}, lambda: {"kind": "hit"}).is_same


def test_a_case_that_is_skipped_on_one_side_fails() -> None:
    report = judge(lambda: fail(Skip("no library")), lambda: fail(Skip("no library")))
    assert report.is_same and report.skipped == {"case": "no library"}
    assert not judge(lambda: 1.0, lambda: fail(Skip("no library"))).is_same


def test_names_are_found_under_old_and_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(names.PLACES, "moved", ("poise.no_such_module", "poise.errors:InputError"))
    assert names.find("moved") is poise.InputError
    monkeypatch.setitem(names.OPTIONS, "--new-mass", ("--mass",))
    assert names.spell(("info", "clip.bvh", "--new-mass", "51")) == ("info", "clip.bvh", "--mass", "51")
    monkeypatch.setitem(names.KEYWORDS, "quickness", ("stiffness",))
    assert names.call(poise.Loose, quickness=2.0).stiffness == 2.0
    monkeypatch.setitem(names.PARTS, r"/old/", "/new/")
    assert names.rename_part("/take/old/root") == "/take/new/root"


def test_everything_has_a_case() -> None:
    """Every command, demo, engine, format, driver and ground."""
    cases = load_cases()
    source = "\n".join(path.read_text(encoding="utf-8") for path in (TESTS / "tools" / "same_bits").glob("*.py"))
    for command in set(COMMANDS) - {"bench", "demo"}:
        assert any(name.startswith(f"command {command}") for name in cases), command
    assert {f"demo {name}" for name in DEMOS} <= set(cases)
    for engine in ENGINES:
        assert f'"{engine}"' in source, engine
    for entry in FORMATS:
        assert f'"{entry.suffix}"' in source, entry.suffix
    kinds = (poise.extend.Driver, poise.Ground)
    public = [getattr(poise, name) for name in poise.__all__]
    for each in public:
        if isinstance(each, type) and issubclass(each, kinds) and each not in kinds:
            assert f"poise.{each.__name__}" in source, f"no case uses poise.{each.__name__}: tests/tools/same_bits"
