"""Random commands for minutes: what they ended in, and whether any broke a promise of docs/command-line.md."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections import Counter
from pathlib import Path

from tools.fuzz.commands import fuzz_commands
from tools.sweeps.page import table

EACH = 250  # commands a folder
PAGE = Path(__file__).parents[3] / "docs" / "command-line-results.md"
TITLE = """# What random commands did

Written by `make sweep NAME=cli`. [What is promised](command-line.md), and how it is tried.
"""


def sweep(minutes: float = 4.0) -> tuple[str, int]:
    """The section, and how many findings there were."""
    began = time.monotonic()
    codes: Counter[int] = Counter()
    ran: Counter[str] = Counter()
    sentences: set[str] = set()
    findings: dict[str, list[str]] = {}
    for seed in itertools.count(1000):
        left = 60.0 * minutes - (time.monotonic() - began)
        if left <= 0.0:
            break
        with tempfile.TemporaryDirectory(prefix="poise-cli-") as folder:
            outcome = fuzz_commands(Path(folder), seed, EACH, left)
        codes += outcome.codes
        ran += outcome.commands
        sentences |= outcome.sentences
        findings = {said.replace(folder, ""): words for said, words in outcome.findings.items()} | findings
        print(f"cli: {codes.total()} commands, {len(findings)} findings", flush=True)
    ends = [("result (exit 0)", codes[0]), ("a fall (exit 1)", codes[1]), ("a sentence (exit 2)", codes[2])]
    ends += [(f"exit {code}", codes[code]) for code in sorted(codes) if code not in (0, 1, 2)]
    text = f"{codes.total()} commands, {len(sentences)} different sentences (by their first 60 characters).\n\n"
    text += table(("command", "runs"), sorted(ran.items())) + "\n\n" + table(("ended in", "runs"), ends)
    for said, words in findings.items():
        text += f"\n\n- {said!a}: `{words!a}`"
    return text, len(findings)
