"""Every command: where it lives and its line in `poise --help`. A file a command, imported when it is called."""

from __future__ import annotations

from poise.registry import Entry

COMMANDS: dict[str, Entry] = {
    "info": Entry("poise.jobs.info:info", "Say what is in a motion file"),
    "convert": Entry("poise.jobs.convert.job:convert", "Write a motion file in another format"),
    "retarget": Entry("poise.jobs.retarget:retarget", "Put a motion on another body"),
    "edit": Entry("poise.jobs.edit.job:edit", "Cut clips, join them and bring hands to places, as a recipe says"),
    "forces": Entry("poise.jobs.forces:forces", "Ground force and joint torques from motion alone"),
    "mix": Entry("poise.jobs.mix.job:mix", "Put physics on a part of a body, under the rest of its motion"),
    "track": Entry("poise.jobs.track.job:track", "Have a simulated body follow a clip by springs"),
    "lift": Entry("poise.jobs.lift.job:lift", "Have a body follow a clip within its strength, loads in its hands"),
    "pose": Entry("poise.jobs.pose.job:pose", "Pose a body by what it should reach, balanced"),
    "balance": Entry("poise.jobs.balance.job:balance", "Change a clip as little as needed so that it balances"),
    "walk": Entry("poise.jobs.walk.job:walk", "Have a body walk over a ground, balanced"),
    "puppet": Entry("poise.cli.puppet:puppet", "Play a body with two hands, in a page or from recordings"),
    "strength": Entry(
        "poise.jobs.strength.job:strength", "Show how strong a body is, or find how strong a motion needs it"
    ),
    "demo": Entry("poise.cli.demo:demo", "Show what Poise does, with motions of its own"),
    "bench": Entry("poise.cli.bench:bench", "Measure speed here, beside the peers"),
}


def overview() -> str:
    """The text of `poise --help`."""
    from poise import __doc__ as purpose

    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {entry.summary}" for name, entry in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: poise COMMAND ...",
            "",
            (purpose or "").splitlines()[0],
            "",
            *lines,
            "",
            "poise COMMAND --help tells a command's arguments. Every command takes --json (one object on standard",
            "output, nothing else there), --quiet, --seed and --debug (show the traceback of an error).",
            "Exit: 0 done, 1 the motion failed a check or fell, 2 bad input or usage.",
        ]
    )
