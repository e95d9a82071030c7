"""Where the results of two revisions differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .names import rename_part

Results = dict[str, dict[str, Any]]


@dataclass
class Report:
    """differ: case -> its parts that do; failed: case -> why; texts: messages that differ; skipped: case -> why."""

    cases: int = 0
    parts: int = 0
    differ: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    sides: dict[str, tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=dict)

    @property
    def is_same(self) -> bool:
        return not self.differ and not self.failed


def compare(before: Results, after: Results) -> Report:
    """Compare the cases that either revision ran."""
    report = Report()
    for name in after:
        old, new = before[name], after[name]
        for side, result in (("before", old), ("now", new)):
            if result["state"] == "failed":
                report.failed[name] = f"{side}: {result['reason']}"
        if name in report.failed:
            continue
        if "skipped" in (old["state"], new["state"]):
            if old["state"] == new["state"]:
                report.skipped[name] = new["reason"]
            else:
                report.failed[name] = f"skipped on one side only: {old.get('reason') or new.get('reason')}"
            continue
        report.cases += 1
        parts = {now: value for part, value in old["parts"].items() if (now := rename_part(part, name)) is not None}
        others = {part: value for part, value in new["parts"].items() if rename_part(part, name) is not None}
        report.parts += len(parts)
        report.sides[name] = parts, others
        for part in sorted(parts.keys() | others.keys()):
            a, b = parts.get(part), others.get(part)
            if a is None or b is None or a["sha256"] != b["sha256"]:
                is_text = bool((a or b or {}).get("words"))
                (report.texts if is_text else report.differ).setdefault(name, []).append(part)
    return report


def describe(report: Report, name: str, part: str, arrays: tuple[Path, Path] | None = None) -> str:
    """How a part differs. arrays: files with the arrays of the case, before and now."""
    old, new = (side.get(part) for side in report.sides[name])
    if old is None or new is None:
        return "is new" if old is None else "is gone"
    if "text" in old or "text" in new:
        return f"was {old.get('text')!r}, is {new.get('text')!r}"
    if old["shape"] != new["shape"]:
        return f"was of shape {old['shape']}, is of {new['shape']}"
    return "differs" if arrays is None else _find_difference(name, part, arrays)


def _find_difference(name: str, part: str, files: tuple[Path, Path]) -> str:
    """The largest difference of two arrays, and where it is."""
    found = []
    for path in files:
        with np.load(path) as arrays:
            names = {rename_part(each.replace("\\", "/"), name): each for each in arrays.files}
            if part not in names:
                return "differs"
            found.append(arrays[names[part]])
    old, new = found
    if old.shape != new.shape or old.dtype.kind != new.dtype.kind:
        return f"was {old.dtype} {old.shape}, is {new.dtype} {new.shape}"
    if old.dtype != new.dtype:
        return f"was {old.dtype}, is {new.dtype}"
    same = (old == new) | ((old != old) & (new != new))
    if same.all():  # hashes of the two runs differed
        return "differs, but no longer when it is run again: its result is not reproducible"
    with np.errstate(all="ignore"):
        off = np.where(same, 0.0, np.abs(new.astype(float) - old.astype(float)))
    worst = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off)), off.shape)
    where = f" at [{', '.join(map(str, worst))}]" if worst else ""
    largest = float(np.nanmax(np.abs(old.astype(float)))) if old.size else 0.0
    values = f"{old[worst]!s} -> {new[worst]!s}; the largest value is {largest:.3g}"
    count = f"{int((~same).sum())} of {old.size} numbers"
    return f"differs by up to {float(off[worst]):.3g}{where} ({values}), {count}"


def format_report(report: Report, details: dict[tuple[str, str], str], texts: bool, most: int = 12) -> list[str]:
    """What is printed. details: (case, part) -> how it differs; most: parts of a case that are listed."""
    lines = []
    for name, reason in report.failed.items():
        lines.append(f"FAILED {name}: {reason}")
    for name, parts in report.differ.items():
        lines.append(f"DIFFERS {name}: {len(parts)} of {len(report.sides[name][1])} parts")
        lines += [f"    {part}: {details.get((name, part)) or describe(report, name, part)}" for part in parts[:most]]
        lines += [f"    and {len(parts) - most} more"] * (len(parts) > most)
    if texts:
        for name, parts in report.texts.items():
            lines += [f"text of {name}{part}: {describe(report, name, part)}" for part in parts]
    reasons: dict[str, list[str]] = {}
    for name, reason in report.skipped.items():
        reasons.setdefault(reason, []).append(name)
    lines += [f"skipped, {reason}: {len(names)} cases" for reason, names in reasons.items()]
    count = sum(map(len, report.texts.values()))
    lines.append(
        f"{report.cases} cases with {report.parts} parts compared: {len(report.differ)} differ, {len(report.failed)} "
        f"failed, {len(report.skipped)} skipped. {count} messages were rewritten in {len(report.texts)} cases"
        + (" (`--texts` lists them)." if count and not texts else ".")
    )
    return lines
