"""The code of the guides, which is other people's: in docs/guides, outside the package, by public names only."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def load_guide(name: str) -> ModuleType:
    """A module of the guides, imported as from a folder of the user's own."""
    if str(GUIDES) not in sys.path:
        sys.path.append(str(GUIDES))
    return importlib.import_module(name)
