"""What Poise does, one named demo each: a function that writes its files into a folder and returns its figures."""

from poise.registry import Entry

DEMOS: dict[str, Entry] = {
    "motion": Entry("poise.demos.motion:run", "a body of its own moves: files, pictures, torques and ground force"),
}
