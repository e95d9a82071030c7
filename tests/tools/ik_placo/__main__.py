"""Inverse kinematics of a full body, cold, beside placo's `KinematicsSolver`: what `poise bench ik` does with mink.

    POISE_PLACO_PYTHON=.placo/bin/python python -m tools.ik_placo      (in tests/; `make placo` does it)

placo wants a Pinocchio and a NumPy of its own, so it runs in another Python, which the variable names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from poise.bench import ik
from poise.bench.harness import measure
from poise.bench.hinged import Link, list_links
from poise.body.character import Character
from poise.ik.model import RADIAN_LENGTH
from poise.spatial import rotation
from tools.ik_placo.urdf import write_urdf


class Placo:
    """placo in a Python of its own, which solves all targets when it is told to.

    solved  of all targets, how many it met the last time
    """

    def __init__(self, python: str, character: Character, links: list[Link], targets: list[ik.ReachTarget]):
        names, index = character.skeleton.names, character.skeleton.index
        task = {
            "ends": [names[index(end)] for end in ik.ENDS],
            "turned": [names[index(end)] for end in ik.TURNED],
            "span": RADIAN_LENGTH * character.height,
            "enough": ik.ENOUGH,
            "start": {hinge.name: hinge.start for link in links for hinge in link.hinges},
            "targets": [
                {
                    "places": one.places.tolist(), "turns": rotation.to_matrix(one.turns).tolist(),
                    "center": one.center.tolist(),
                } for one in targets
            ],
        }  # fmt: skip
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        (folder / "body.urdf").write_text(write_urdf(links))
        (folder / "task.json").write_text(json.dumps({**task, "urdf": str(folder / "body.urdf")}))
        script = Path(__file__).with_name("solver.py")
        self._process = subprocess.Popen(
            [python, str(script), str(folder / "task.json")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""},
        )  # fmt: skip
        self.solved: float | None = None
        self.is_ready = self._read().strip() == "ready"

    def go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        rounds = json.loads(self._read())["rounds"]
        self.solved = float(np.mean(np.array(rounds) > 0))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30.0)
        self._folder.cleanup()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def compare(python: str, targets: int = 60, rounds: int = 5) -> dict[str, Any]:
    """Microseconds a solve of both, how many times as long placo takes, and how many targets it meets."""
    character = Character.human()
    drawn, start = ik.draw_targets(character, targets), ik.find_start(character)
    ours = ik.make_solver(character, drawn[0])
    placo = Placo(python, character, list_links(character), drawn)
    if not placo.is_ready:
        raise SystemExit(f"'{python}' cannot import placo. Run `make placo`.")
    contenders = {"poise": lambda: [ik.solve_one(ours, one, start) for one in drawn], "placo": placo.go}
    try:
        timings = measure(contenders, rounds)
    finally:
        placo.close()
    return {
        "us_per_solve": 1e6 * timings.median("poise") / targets,
        "placo_us_per_solve": 1e6 * timings.median("placo") / targets,
        "placo_ratio": timings.ratio("placo", to="poise"),
        "placo_solved": placo.solved,
    }


if __name__ == "__main__":
    python = os.environ.get("POISE_PLACO_PYTHON")
    if python is None:
        sys.exit("POISE_PLACO_PYTHON must name a Python that has placo. Run `make placo`.")
    print(json.dumps(compare(python), indent=2))
