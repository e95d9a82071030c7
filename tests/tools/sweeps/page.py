"""The page that sweeps write: one section each, so that one can be run and the others stay as they were."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "mix-sweeps.md"
TITLE = """# The mix over ranges

Written by `make sweep`; `make sweep NAME=push` measures one section anew. Nothing is tuned between the rows of a table.
Sway is the root mean square of the centre of mass about its mean place, seen from above. Creep is the farthest that any
corner of a sole got from where it stood after a second. Margin is the least distance of the centre of mass inside the
support.

![A push that is recovered and one that is not](pictures/mix-pushed.png)
"""


def write_section(name: str, body: str, order: Sequence[str] = (), page: Path = PAGE, page_title: str = TITLE) -> None:
    """Put a section in the place of the one of the same name; a new one, where a given order of names has it."""
    sections = read_sections(page)
    is_new = name not in sections
    today = datetime.datetime.now(datetime.UTC).date()
    sections[name] = f"*{today}, {platform.machine()}, Python {platform.python_version()}.*\n\n{body.strip()}\n"
    titles = list(sections)
    if is_new:
        titles.sort(key=lambda title: list(order).index(title) if title in order else len(order))
    parts = [page_title, *(f"## {title}\n\n{sections[title]}" for title in titles)]
    page.write_text("\n".join(parts), encoding="utf-8")


def read_sections(page: Path) -> dict[str, str]:
    """Sections of the page by their headings."""
    if not page.exists():
        return {}
    found = page.read_text(encoding="utf-8").split("\n## ")[1:]
    return {text.splitlines()[0].strip(): text.split("\n", 1)[1].strip() + "\n" for text in found}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table. A cell may have bars in it, as names of clips do."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    cells = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells)])
