"""Speed, measured as ratios in one run. Each bench is a function that returns one object of figures."""

from poise.registry import Entry

BENCHES: dict[str, Entry] = {
    "startup": Entry("poise.bench.startup:run", "`import poise` and `poise --help` beside `import numpy`"),
    "dynamics": Entry("poise.bench.dynamics:run", "inverse dynamics of a clip beside Pinocchio's rnea from Python"),
    "files": Entry("poise.bench.files:run", "a BVH of 10 MB read beside pybvh, and a minute written as GLB"),
}
