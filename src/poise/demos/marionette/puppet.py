"""A dance of a minute, played by two hands in three passes: legs, then trunk and head, then arms (M2 to M8).

Hands of our own (`demos/marionette/dance.py`) are recorded as a performer's are, into a performance's folder, and
played from there.

puppet-performance/          recordings, performance.toml
puppet.glb, puppet.bvh       the dance
puppet.mp4 (or .webp), puppet.png   a film of it, and 24 moments
puppet.json                  its figures
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import poise
from poise.demos.marionette.dance import dance
from poise.demos.shared.show import save_figures
from poise.pictures.film import film_suffix
from poise.puppetry.performance import FILE

# Folders that it writes, and the files in each.
FOLDERS = {"puppet-performance": (FILE, "legs-1.hands", "trunk-1.hands", "arms-1.hands")}


def rehearse(folder: Path, seed: int = 0) -> poise.Rehearsal:
    """Record the dance as a performance in a folder, pass by pass, in place of an earlier recording of it."""
    for name in FOLDERS["puppet-performance"]:
        (folder / name).unlink(missing_ok=True)
    rehearsal = poise.Rehearsal(folder)
    for name, hands in dance(seed).items():
        with rehearsal.begin_take(name, neutral=hands.neutral) as recorder:
            for k in range(len(hands)):
                recorder.put(*hands.sample(k))
    return rehearsal


def run(folder: Path) -> dict[str, Any]:
    """Write its files: see above."""
    rehearse(folder / "puppet-performance")
    outputs = [folder / f"puppet{suffix}" for suffix in (".glb", ".bvh", film_suffix(), ".png")]
    found = poise.puppet(folder / "puppet-performance", outputs=outputs)
    save_figures(folder, "puppet", found.figures)
    return dict(found.figures)
