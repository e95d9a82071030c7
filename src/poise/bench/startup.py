"""How long Poise takes to start, beside the library it stands on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import poise
from poise.bench.harness import measure


def run(rounds: int = 15) -> dict[str, float]:
    """Whole processes, interleaved: `python -c "import numpy"`, `python -c "import poise"` and `poise --help`.

    A fresh interpreter's own start is in all three, as it is for whoever waits for a command.
    """
    python = sys.executable
    commands = {
        "numpy": [python, "-c", "import numpy"],
        "import": [python, "-c", "import poise"],
        "help": [str(find_script()), "--help"],
    }
    timings = measure({name: partial(_wait, words) for name, words in commands.items()}, rounds)
    return {
        "numpy_ms": 1e3 * timings.median("numpy"),
        "import_ms": 1e3 * timings.median("import"),
        "help_ms": 1e3 * timings.median("help"),
        "import_ratio": timings.ratio("import", to="numpy"),
        "help_ratio": timings.ratio("help", to="numpy"),
        "spread": max(timings.spread(name) for name in commands),
    }


def find_script() -> Path:
    """The installed command `poise` of this interpreter; the one on the path otherwise."""
    beside = Path(sys.executable).parent
    found = shutil.which("poise", path=str(beside)) or shutil.which("poise")
    if found is None:
        raise poise.InputError(
            f"there is no command 'poise' beside {sys.executable} or on the path. Install it: pip install -e ."
        )
    return Path(found)


def _wait(words: list[str]) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
