"""Writes docs/options.md: a table of the options of each job, from its record.

.venv/bin/python docs/make/options.py
"""

from __future__ import annotations

from dataclasses import MISSING
from pathlib import Path

from poise.cli.commands import COMMANDS
from poise.cli.parser import format_default
from poise.jobs.job import Job, find_job
from poise.options import OptionField, list_options

PAGE = Path(__file__).parents[1] / "options.md"
HEAD = """# Options

Every option of `{jobs}`, as its record in the source has it: `docs/make/options.py` writes this page. The recipe's keys
count only for commands with `--recipe`. Every command also takes `--json`, `--quiet`, `--seed` and `--debug`.
"""


def build_page() -> str:
    """Return the page's text."""
    jobs = {name: job for name, entry in COMMANDS.items() if (job := find_job(entry.load())) is not None}
    parts = [HEAD.format(jobs="`, `".join(jobs))]
    for name, job in jobs.items():
        parts.append(f"## {name}\n\n{(job.function.__doc__ or '').splitlines()[0]}\n\n{build_table(job)}")
    return "\n".join(parts)


def build_table(job: Job) -> str:
    """Return a row per option."""
    fields = list_options(job.record).values()
    has_recipe = any(each.option.is_recipe for each in fields)
    head = ["command line", "Python", *(["recipe"] if has_recipe else []), "default", "allowed", "meaning"]
    rows = [head, ["---"] * len(head)]
    for each in fields:
        key = [name_key(each.option.key)] if has_recipe else []
        rows.append([name_flag(each), code(each.name) if each.in_python else "", *key, *describe(each)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def name_flag(each: OptionField) -> str:
    """Return how the command line has it."""
    if each.is_positional:
        return f"`{each.name.upper()}`"
    return ", ".join(code(flag) for flag in (each.option.short, each.flag) if flag)


def name_key(key: str) -> str:
    """Return a recipe's key with its table before it: `[drivers] hold`."""
    table, dot, name = key.rpartition(".")
    return code(f"[{table}] {name}" if dot else key)


def describe(each: OptionField) -> list[str]:
    """Return default, allowed values and help."""
    default = "required" if each.default is MISSING else format_default(each)
    allowed = each.option.describe_range() or ", ".join(map(code, each.option.choices))
    return [default, allowed, each.option.help.replace("|", "\\|")]


def code(text: str) -> str:
    """Return a text as code; nothing of nothing."""
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    PAGE.write_text(build_page(), encoding="utf-8")
