"""Layouts: the same fields in Python, in kernels and in laws."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest

from poise.compiled import kernel as compiling
from poise.compiled.arena import Arena
from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.layout import Flags, Floats, Ints, Layout, at
from poise.errors import InputError


class Chain(Layout):
    """Masses on a line."""

    count: int
    dt: float
    steps: int
    place: Annotated[Floats, "count", 3]
    parents: Annotated[Ints, "count"]
    is_held: Annotated[Flags, "count"]


class Weights(Layout):
    """What pulls them down."""

    count: int
    gain: float
    mass: Annotated[Floats, "count"]


@kernel
def lower(chain: Chain, weights: Weights) -> float:
    """Lower every mass that is not held by its weight, and count the step."""
    lowest = 0.0
    for i in range(chain.count):
        if not chain.is_held[i]:
            chain.place[i, 1] -= chain.dt * weights.gain * weights.mass[i] * (1 + chain.parents[i])
        lowest = min(lowest, chain.place[i, 1])
    chain.steps += 1
    return lowest


@kernel
def lower_at(chain: int, weights: int) -> float:
    """Like `lower`, by address."""
    return lower(at(chain, Chain), at(weights, Weights))


@law
def lower_law(body: int, block: int) -> None:
    """Like `lower`, as a law; and weights become lighter."""
    weights = at(block, Weights)
    lower(at(body, Chain), weights)
    weights.gain *= 0.5
    weights.mass[0] += 1.0


def build() -> tuple[Chain, Weights]:
    """A chain of three masses with the last one held."""
    parents, held = np.array([0, 0, 1]), np.array([False, False, True])
    chain = Chain(count=3, dt=0.5, parents=parents, is_held=held)
    return chain, Weights(count=3, gain=2.0, mass=np.array([1.0, 3.0, 5.0]))


LOWERED = [-1.0, -3.0, 0.0]


@pytest.mark.parametrize("call", ["compiled", "address", "python"])
def test_kernel_reads_and_writes_fields(call: str) -> None:
    chain, weights = build()
    place, plain = chain.place, getattr(lower, "py_func")  # noqa: B009  Numba's, which a type checker does not see
    if call == "address":
        assert lower_at(chain.address, weights.address) == -3.0
    else:
        assert {"compiled": lower, "python": plain}[call](chain, weights) == -3.0
    assert chain.place is place and place[:, 1].tolist() == LOWERED
    assert chain.steps == 1 and isinstance(chain.steps, int)


@pytest.mark.parametrize("run", [lower_law, lambda body, block: lower_law.function(body.address, block.address)])
def test_law_of_two_layouts_runs_compiled_and_in_python(run: Any) -> None:
    chain, weights = build()
    run(chain, weights)
    assert chain.place[:, 1].tolist() == LOWERED
    assert (chain.steps, weights.gain, weights.mass.tolist()) == (1, 1.0, [2.0, 3.0, 5.0])


def test_numbers_are_written_in_place_from_python() -> None:
    chain, weights = build()
    weights.gain = 4
    chain.place[:, 1] = 1.0
    assert lower(chain, weights) == -5.0


def test_arrays_are_shared_and_replaced_but_not_copied() -> None:
    chain, weights = build()
    mass = np.array([10.0, 0.0, 0.0])
    weights.mass = mass
    assert weights.mass is mass
    assert lower(chain, weights) == -10.0


def test_arrays_that_are_not_given_are_zeros_in_the_arena() -> None:
    arena = Arena(4096)
    chain = Chain(arena, count=5)
    assert chain.place.shape == (5, 3) and not chain.place.any() and chain.place.dtype == float
    assert abs(chain.place.ctypes.data - chain.address) < 4096
    assert Chain().place.shape == (0, 3)


def test_zeros_follow_a_size_that_is_set_later() -> None:
    chain = Chain()
    chain.count = 2
    assert chain.place.shape == (2, 3) and chain.parents.shape == (2,)


def test_rejects_size_without_its_arrays() -> None:
    chain, _ = build()
    with pytest.raises(InputError, match=r"field 'place' of Chain .*\(count, 3\) = \(4, 3\); got float64 \(3, 3\)"):
        chain.count = 4


@pytest.mark.parametrize(
    ("field", "given", "says"),
    [
        ("place", np.zeros((3, 2)), "got float64 (3, 2)"),
        ("place", np.zeros((2, 3)), "got float64 (2, 3)"),
        ("place", np.zeros((3, 3), np.float32), "got float32 (3, 3)"),
        ("place", np.zeros((3, 3)).T[::-1], "np.ascontiguousarray"),
        ("place", [[0.0] * 3] * 3, "got [["),
        ("parents", np.zeros(3), "array of int64"),
        ("is_held", np.zeros(3), "array of bool"),
        ("dt", "soon", "'soon'"),
    ],
)
def test_rejects_values_that_compiled_code_would_misread(field: str, given: object, says: str) -> None:
    with pytest.raises(InputError, match=f"'{field}'") as caught:
        Chain(count=3, **{field: given})
    assert says in str(caught.value)


def test_rejects_unknown_fields() -> None:
    chain, _ = build()
    with pytest.raises(InputError, match=r"Chain.*place"):
        Chain(plaice=np.zeros(3))
    with pytest.raises(InputError, match="steps"):
        chain.set(step=1)
    with pytest.raises(AttributeError, match="no field 'step'"):
        chain.step  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("annotations", "says"),
    [
        ({"a": Annotated[Floats, "n"]}, "'n', which must be an integer field"),
        ({"n": float, "a": Annotated[Floats, "n"]}, "'n', which must be an integer field"),
        ({"a": Floats}, 'such as Annotated[Floats, "joints", 3]'),
        ({"a": str}, "must be int, float or an array"),
        ({"address": int}, "'address'"),
    ],
)
def test_rejects_annotations_without_meaning(annotations: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        type("Odd", (Layout,), {"__annotations__": annotations})
    assert says in str(caught.value)


def test_fields_are_inherited() -> None:
    class Longer(Chain):
        """A chain with forces."""

        force: Annotated[Floats, "count"]

    longer = Longer(count=2, parents=np.array([0, 0]))
    assert longer.force.shape == (2,) and longer.place.shape == (2, 3)


PROGRAM = """
import json
from typing import Annotated
import numpy as np
from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Layout, at

class Pile(Layout):
    count: int
    mass: Annotated[Floats, "count"]

@kernel
def weigh(pile):
    total = 0.0
    for i in range(pile.count):
        total += pile.mass[i]
    return total

@kernel
def weigh_at(pile):
    return weigh(at(pile, Pile))

pile = Pile(count=3, mass=np.arange(3.0))
results = [weigh(pile), weigh_at(pile.address)]
hits = [sum(k.stats.cache_hits.values()) for k in (weigh, weigh_at)]
misses = [sum(k.stats.cache_misses.values()) for k in (weigh, weigh_at)]
print(json.dumps([results, hits, misses]))
"""


def run_program(folder: Path, text: str) -> list[list[float]]:
    """Run a program with its own cache of machine code: results, cache hits and misses of its kernels."""
    program = folder / "program.py"
    if not program.exists() or program.read_text() != text:
        program.write_text(text)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(Path(compiling.__file__).parents[2]),
    }
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_machine_code_is_cached_across_processes_until_the_layout_changes(tmp_path: Path) -> None:
    assert run_program(tmp_path, PROGRAM) == [[3.0, 3.0], [0, 0], [1, 1]]
    assert run_program(tmp_path, PROGRAM) == [[3.0, 3.0], [1, 1], [0, 0]]
    changed = PROGRAM.replace("    count: int\n", "    rate: float\n    count: int\n")
    results, hits, _ = run_program(tmp_path, changed)
    assert (results, hits) == ([3.0, 3.0], [0, 0])
