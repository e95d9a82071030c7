"""placo's `KinematicsSolver` on the targets of `poise bench ik`: run by a Python that has placo, not Poise's own.

    python solver.py task.json

It says `ready`, solves all targets for every line `go` that it is sent, and answers with one line of JSON: how long it
took (s), and which were met. It needs nothing of Poise.
"""

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import placo

ROUNDS = 100
REGULAR = 1e-3  # less meets fewer targets, ten times more takes three times as many rounds


def build(task: dict[str, Any]) -> tuple[Any, ...]:
    """Robot, solver and its tasks."""
    robot = placo.RobotWrapper(task["urdf"], placo.Flags.ignore_collisions + placo.Flags.collision_as_visual)
    solver = placo.KinematicsSolver(robot)
    solver.enable_joint_limits(True)
    points = [solver.add_position_task(name, np.zeros(3)) for name in task["ends"]]
    for name, point in zip(task["ends"], points, strict=True):
        point.configure(name, "soft", 1.0)
    turns = [solver.add_orientation_task(name, np.eye(3)) for name in task["turned"]]
    for name, turn in zip(task["turned"], turns, strict=True):
        turn.configure(f"{name} turned", "soft", task["span"])
    center = solver.add_com_task(np.zeros(3))
    center.configure("center", "soft", 1.0)
    solver.add_regularization_task(REGULAR)
    return robot, solver, points, turns, center


def main() -> None:
    task = json.loads(Path(sys.argv[1]).read_text())
    robot, solver, points, turns, center = build(task)
    for name, value in task["start"].items():
        robot.set_joint(name, value)
    robot.set_T_world_fbase(np.eye(4))
    robot.update_kinematics()
    start = robot.state.q.copy()
    targets = [(np.array(one["places"]), np.array(one["turns"]), np.array(one["center"])) for one in task["targets"]]

    def solve(places: np.ndarray, wanted: np.ndarray, middle: np.ndarray) -> int:
        robot.state.q = start
        robot.update_kinematics()
        for point, place in zip(points, places, strict=True):
            point.target_world = place
        for turn, R in zip(turns, wanted, strict=True):
            turn.R_world_frame = R
        center.target_world = middle
        for k in range(ROUNDS):
            solver.solve(True)
            robot.update_kinematics()
            off = max(np.linalg.norm(robot.com_world() - middle), 0.0)
            for name, place in zip(task["ends"], places, strict=True):
                off = max(off, np.linalg.norm(robot.get_T_world_frame(name)[:3, 3] - place))
            if off < task["enough"]:
                for name, R in zip(task["turned"], wanted, strict=True):
                    sine = 0.5 * np.linalg.norm(robot.get_T_world_frame(name)[:3, :3] - R) / np.sqrt(2.0)
                    off = max(off, task["span"] * 2.0 * np.arcsin(min(sine, 1.0)))
            if off < task["enough"]:
                return k + 1
        return 0

    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() != "go":
            break
        begun = perf_counter()
        rounds = []
        for one in targets:
            try:
                rounds.append(solve(*one))
            except RuntimeError:  # its own solver gave up
                rounds.append(0)
        print(json.dumps({"seconds": perf_counter() - begun, "rounds": rounds}), flush=True)


if __name__ == "__main__":
    main()
