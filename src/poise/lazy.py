"""Names of a package whose modules are imported when a name is first used (PEP 562): importing the package is cheap."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def find_names_later(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    homes  module -> its public names, with spaces between them; "" for a module that is public itself
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}
    modules = {module.rpartition(".")[2]: module for module, names in homes.items() if not names}
    public = sorted({*home_of, *modules})

    def get(name: str) -> Any:
        if name in modules:
            return importlib.import_module(modules[name])
        if name not in home_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'. It has: {', '.join(public)}.")
        return getattr(importlib.import_module(home_of[name]), name)

    return get, lambda: public, public
