"""Speed, measured as ratios in one run. Each bench is a function that returns one object of figures."""

from poise.registry import Entry

BENCHES: dict[str, Entry] = {
    "startup": Entry("poise.bench.startup:run", "`import poise` and `poise --help` beside `import numpy`"),
    "dynamics": Entry("poise.bench.dynamics:run", "inverse dynamics of a clip beside Pinocchio's rnea from Python"),
    "files": Entry("poise.bench.files:run", "a BVH of 10 MB read beside pybvh, and a minute written as GLB"),
    "mix": Entry("poise.bench.mix:run", "a step of a mixed character beside a tracked one and the engine's own"),
    "crowd": Entry("poise.bench.crowd:run", "a crowd of conductors beside the engine's own steps, on all cores"),
    "track": Entry("poise.bench.track:run", "a step of a tracked body beside the engine's own, one and a hundred"),
    "ik": Entry("poise.bench.ik:run", "a full body posed by goals, cold, beside mink with DAQP"),
    "strength": Entry("poise.bench.strength:run", "accelerations within torque ranges, with goals, beside DAQP"),
    "growth": Entry("poise.bench.growth:run", "how cost grows with characters and with joints, chain and tree"),
}
