"""Crowds on one and two threads, and a stage in a thread of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cases import add_case, case
from .names import find, poise
from .scenes import human, plan, stand, tracking


def run_many(threads: int, fall: bool = False, mixed: bool = False, **options: Any) -> Any:
    """Twelve conductors."""
    build, draw, bodies = (find(name) for name in ("build_conductors", "draw_conductors", "draw_bodies"))
    stage = build(draw(12, 5), bodies(12, 5), threads)
    if mixed:
        actor = stage.add(human(preset="tracking"), "tracked")
        actor.drive("legs", poise.Balance())
        actor.drive("upperBody", tracking())
    pushed = list(stage.actors.values())[::5]

    def knock() -> None:
        for actor in pushed:
            actor.push("hips", (0.0, 0.0, 400.0), 0.3)
        next(iter(stage.actors.values())).change(bpm=150.0)

    return poise.run_crowd(stage, 1.5, each=plan((0.3, knock)) if fall else None, **options)


for threads in (1, 2):
    add_case(f"crowd on {threads}", run_many, threads)
    add_case(f"crowd on {threads}, some fall", run_many, threads, True)
    add_case(f"crowd on {threads}, one tracked", run_many, threads, True, True)
add_case("crowd, some frames", run_many, 1, keep_every=5, fps=100.0)
add_case("crowd, no frames", run_many, 2, keep_every=None)


@case("runner")
def run_in_thread() -> Any:
    """A stage that runs in a thread of its own: every frame, and what was posted to it before it began."""
    stage = poise.Stage()
    actor = stand(stage, part="arms")
    frames: list[Any] = []
    runner = poise.Runner(stage, fps=50.0, speed=None, seconds=0.8, on_frame=frames.append)
    runner.post(lambda: actor.push("spine", (0.0, 0.0, 40.0), 0.2))
    runner.start()
    runner.join()
    poses = [pose for frame in frames for pose in frame.poses.values()]
    return {"times": np.array([frame.time for frame in frames]), "roots": np.array([pose.root for pose in poses]),
            "turns": np.array([pose.rotations for pose in poses])}  # fmt: skip
