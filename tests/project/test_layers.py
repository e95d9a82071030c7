"""The direction of imports: a layer knows only those before it, and nothing heavy is loaded before it is used."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import poise
from poise.cli.commands import COMMANDS

PACKAGE = Path(poise.__file__).parent
LAYERS = [
    {"errors", "lazy"},
    {"kinds"},
    {"options"},
    {"registry"},
    {"compiled"},
    {"frozen"},
    {"findings"},
    {"spatial"},
    {"body"},
    {"dynamics"},
    {"ik"},
    {"motion"},
    {"files"},
    {"pictures"},
    {"world"},
    {"walking"},
    {"puppetry"},
    {"engines"},
    {"drivers"},
    {"stage"},
    {"extend"},
    {"jobs"},
    {"check"},
    {"live"},
    {"studio", "batch"},
    {"demos"},
    {"bench"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
USERS = {"demos", "bench"}  # they use `import poise` as users do
HEAVY = {"scipy", "numba", "matplotlib", "mujoco", "pinocchio", "PIL", "viser"}


def imported_layers(source: str, package: str) -> list[tuple[int, str]]:
    """(line, layer) of every import of Poise in a module's source, late ones and those for type checkers too."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            targets = [f"poise.{alias.name}" for alias in node.names] if module == "poise" else [module]
        else:
            continue
        for target in targets:
            parts = target.split(".")
            if parts[0] == "poise" and not target.startswith("poise.__"):
                is_public = len(parts) == 2 and parts[1] in poise.__all__ and parts[1] not in RANK
                found.append((node.lineno, "the package itself" if len(parts) == 1 or is_public else parts[1]))
    return found


def breaches(source: str, layer: str, package: str) -> list[str]:
    """What a module of a layer imports although it may not."""
    return [
        f"line {line}: {layer} imports {other}"
        for line, other in imported_layers(source, package)
        if other != layer
        and not (other in RANK and RANK[other] < RANK[layer])
        and not (layer in USERS and other == "the package itself")
    ]


def modules() -> list[Path]:
    """Every module below a layer; the package's own two files stand above all layers."""
    return [p for p in sorted(PACKAGE.rglob("*.py")) if p.parent != PACKAGE or not p.name.startswith("__")]


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_only_layers_before_its_own(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    layer = relative.parts[0].removesuffix(".py")
    assert layer in RANK, f"{layer} is a new layer: give it a place in LAYERS and in docs/architecture.md"
    package = ".".join(["poise", *relative.parts[:-1]])
    assert breaches(path.read_text(encoding="utf-8"), layer, package) == []


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("spatial", "from poise.body.skeleton import Skeleton"),
        ("body", "def late():\n    from poise.files import bvh"),
        ("body", "import poise.cli.console as report"),
        ("motion", "from poise import stage"),
        ("motion", "from poise import Clip"),
        ("motion", "from poise import gestures"),
        ("files", "import poise"),
        ("live", "from poise.studio import page"),
        ("body", "from ..files import bvh"),
        ("body", "if TYPE_CHECKING:\n    from poise.motion.clip import Clip"),
    ],
)
def test_a_breach_is_seen(layer: str, source: str) -> None:
    assert breaches(source, layer, f"poise.{layer}")


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("body", "from poise.spatial import rotation\nfrom poise.errors import InputError\nimport numpy"),
        ("body", "from .skeleton import Skeleton\nfrom ..spatial import rotation"),
        ("cli", "from poise import __version__\nfrom poise import files"),
    ],
)
def test_what_is_allowed_is_no_breach(layer: str, source: str) -> None:
    assert breaches(source, layer, f"poise.{layer}") == []


def test_the_docs_have_the_same_order() -> None:
    text = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    order = " < ".join(
        " | ".join(sorted(names, key=["errors", "lazy", "live", "studio", "batch"].index))
        if len(names) > 1
        else next(iter(names))
        for names in LAYERS
    )
    assert order in " ".join(text.split())


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after some code."""
    code += "\nimport json, sys; print('LOADED' + json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.rpartition("LOADED")[2]))


def test_import_poise_loads_nothing_heavy() -> None:
    loaded = loaded_by("import poise")
    assert "poise" in loaded
    assert not loaded & (HEAVY | {"numpy", "cyclopts", "rich"})


def test_help_loads_nothing_heavy() -> None:
    assert not loaded_by("from poise.cli import main; main(['--help'])") & (HEAVY | {"numpy", "cyclopts", "rich"})


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.many(3)
def test_help_of_a_command_loads_nothing_heavy(command: str) -> None:
    assert not loaded_by(f"from poise.cli import main; main(['{command}', '--help'])") & HEAVY


def test_kernels_are_where_the_cache_looks_for_changes() -> None:
    """Numba's cache is stamped with the sources that have kernels: one elsewhere would leave stale machine code."""
    from poise.compiled.kernel import _SOURCES

    for path in PACKAGE.rglob("*.py"):
        if "\n@kernel" in path.read_text(encoding="utf-8"):
            assert any(path.match(pattern) for pattern in _SOURCES), path
