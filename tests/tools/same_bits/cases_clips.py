"""Clips on a body: played, over legs that balance, tracked, and let go of."""

from __future__ import annotations

from typing import Any

from .cases import add_case, case
from .names import poise
from .scenes import PARTS, clip_body, plan


@case("clip played")
def run_clip(name: str = "walk", ground: bool = True) -> Any:
    clip, body = clip_body(name, 3.0)
    stage = poise.Stage() if ground else poise.Stage(ground=None)
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Kinematic(clip))
    return stage.run(3.2, fps=60.0)


add_case("clip played, a jump, no ground", run_clip, "jump", False)


@case("clip with loose arms")
def run_clip_loose() -> Any:
    clip, body = clip_body("walk", 3.0)
    stage = poise.Stage(couple="paper")
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive("legs", poise.Kinematic(clip))
    actor.drive("arms", poise.Loose(0.3))
    actor.drive("head", poise.Track(clip))
    return stage.run(2.0)


def run_over_legs(name: str, follow: bool, seconds: float = 2.0, cutoff: float | None = None, **options: Any) -> Any:
    """A clip over legs that balance, and that follow its hips if asked to."""
    clip, body = clip_body(name, seconds)
    stage = poise.Stage(**options)
    actor = stage.add(body)
    actor.drive("legs", poise.Balance(follow=clip) if follow else poise.Balance())
    actor.drive(PARTS[stage.couple], poise.Kinematic(clip, cutoff=cutoff))
    return stage.run(seconds)


add_case("clip over legs", run_over_legs, "wave", False)
add_case("clip over legs, cut off", run_over_legs, "wave", False, cutoff=5.0)
add_case("clip over legs that follow", run_over_legs, "wave", True)
add_case("clip over legs that follow, squat", run_over_legs, "squat", True, 3.0)
add_case(
    "clip over legs that follow, bullet", run_over_legs, "squat", True, 2.0, engine="bullet", couple="paper", gain=0.0
)
add_case("clip over legs that follow a walk", run_over_legs, "walk", True, 3.0)


@case("clip then balance then clip")
def run_clip_switch() -> Any:
    clip, body = clip_body("idle", 3.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Kinematic(clip))

    def return_to_clip() -> None:
        actor.drive("root", poise.Kinematic(clip))
        actor.drive("legs", poise.Kinematic(clip))

    return stage.run(2.4, each=plan((0.6, lambda: actor.drive("legs", poise.Balance())), (1.5, return_to_clip)))


@case("clip then ragdoll")
def run_clip_fall() -> Any:
    clip, body = clip_body("walk", 3.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Kinematic(clip))

    def let_go() -> None:
        actor.drive("root", poise.Free())
        actor.drive(body.skeleton.names[1:], poise.Loose(0.3))

    return stage.run(2.2, each=plan((1.0, let_go)))


@case("clip tracked whole")
def run_clip_tracked() -> Any:
    clip, body = clip_body("wave", 2.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Track(clip))
    return stage.run(1.5)
