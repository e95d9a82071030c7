"""People who stand and gesture, at random: bodies, gestures, loads, floors, steps, engines. Nobody is pushed.

What a foot did is measured here from the poses that were recorded, by SciPy's rotations: no kernel of the balance, of
the recorder or of the engine has a part in it. A run fails where it falls, where the simulation breaks off, where a
corner of a sole gets `SKATED` from where it began, seen from above, where one rises by `ROSE` or sinks by `SUNK`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import ConvexHull

from helpers.kinematics import place_joints, place_take_soles
from helpers.recordings import data_folder
from poise import Balance, Character, Ground, Kinematic, Load, Stage, gestures
from poise.body.geometry.mannequin import build_mannequin
from poise.body.skeleton import Skeleton
from poise.errors import InputError, PoiseError, SolveError
from poise.files.registry import load_clip
from poise.motion.clip import Clip
from poise.motion.gestures import Gesture, Stress
from poise.stage.standing import stand_at_ease
from poise.stage.take.take import ActorTake
from tools.sweeps.abuse_watch import Figure
from tools.sweeps.page import table

RUNS, SECONDS, SEED, FPS = 500, 10.0, 12, 50.0
SKATED, ROSE, SUNK = 5.0, 10.0, 5.0  # mm
MOST_ASKED = 1.0  # of what the floor gives
FILES = ("bvh-cmu/02_05.bvh", "bvh-other/test_mocapbank.bvh", "gltf/Med_General.glb", "vrm/cryptovoxels.vrm",
         "npz/120_04_conducting_amp15.npz", "gltf/RiggedFigure.glb", "c3d/Sample_Static.c3d")  # fmt: skip


@dataclass
class Case:
    """One run: what stands, what it does, and on what."""

    body: Character
    who: str
    gesture: Gesture
    what: str
    part: str
    loads: tuple[Load, ...] = ()
    friction: float = 0.8
    dt: float = 0.005
    engine: str = "mujoco"
    couple: str = "exact"

    def __str__(self) -> str:
        held = ", ".join(f"{load.mass:.1f} kg in {load.joint}" for load in self.loads)
        where = f"friction {self.friction:.2f}, {1000 * self.dt:.1f} ms, {self.engine} {self.couple}"
        return f"{self.who}: {self.what} by {self.part}; {held or 'no load'}; {where}"


@dataclass
class Outcome:
    """What a run came to: mm that a sole's corner travelled, rose and sank at most; why it failed, if it did.

    asked  of the floor, known before it is run: see `find_asked`
    """

    skated: float = np.nan
    rose: float = np.nan
    sank: float = np.nan
    faults: list[str] = field(default_factory=list)
    refused: bool = False
    asked: float = 0.0

    @property
    def is_bad(self) -> bool:
        """Whether it failed at what can be done, or broke."""
        return bool(self.faults) and (self.asked <= MOST_ASKED or not np.isfinite(self.skated))


def sweep(runs: int = RUNS) -> tuple[str, int]:
    """All of it: a page's section, and how many failed."""
    skeletons = find_skeletons()
    cases = [make_case(k, skeletons) for k in range(runs)]
    return report([(case, try_case(case)) for case in cases])


def report(found: list[tuple[Case, Outcome]]) -> tuple[str, int]:
    """The section of some runs."""
    cases, runs = [case for case, _ in found], len(found)
    listed = [(k, case, outcome) for k, (case, outcome) in enumerate(found) if outcome.faults]
    listed += [(k, c, out) for k, (c, out) in enumerate(found) if not out.faults and out.asked > MOST_ASKED]
    bad = sum(outcome.is_bad for _, outcome in found)
    skated = np.array([0.0, *(outcome.skated for _, outcome in found if np.isfinite(outcome.skated))])
    kinds = sorted({(case.engine, case.couple, case.what.split("(")[0]) for case in cases}, reverse=True)
    rows = []
    for kind in kinds:
        those = [out for case, out in found if (case.engine, case.couple, case.what.split("(")[0]) == kind]
        worst = np.nanmax([0.0, *(outcome.skated for outcome in those)])
        rows.append((*kind, len(those), sum(o.is_bad for o in those), f"{worst:.2f}",
                     f"{np.nanmax([0.0, *(o.rose for o in those)]):.1f}"))  # fmt: skip
    text = [
        f"{runs} runs of {SECONDS:g} s, seed {SEED}: bodies of 0.5 to 2.5 m, thin and fat, by preset and from files;"
        " gestures of random size and tempo; loads up to a tenth of the body; friction from 0.5; steps of 1 to 5 ms;"
        " both engines. Nobody is pushed. A run fails where it falls or breaks, where a corner of a sole gets"
        f" {SKATED:g} mm from where it began, rises by {ROSE:g} mm or sinks by {SUNK:g} mm. Travel is in mm: half of"
        f" the runs stay below {np.nanmedian(skated):.2g}, 99 % below {np.nanpercentile(skated, 99):.2g}."
        f" What a gesture asks of the floor is known before it is run, by inverse dynamics; what is more than friction"
        f" and soles give, {sum(o.asked > MOST_ASKED for _, o in found)} of these, is listed and does not count."
        f" {sum(o.refused for _, o in found)} were refused with a sentence, for a step too long for `paper`.",
        "",
        table(("engine", "coupling", "gesture", "runs", "failed", "most travel, mm", "highest corner, mm"), rows),
        *([""] if listed else []),
        *(
            f"- {k}: {case}: {', '.join(outcome.faults) or 'stands'}; it asks for {outcome.asked:.1f} of what the "
            f"floor gives{'' if outcome.is_bad else ': not counted as failed'}"
            for k, case, outcome in listed
        ),
    ]
    return "\n".join(text), bad


def find_skeletons() -> dict[str, Skeleton]:
    """Skeletons of other people's files, where they are."""
    folder = data_folder()
    found = {}
    for name in FILES if folder is not None else ():
        try:
            found[Path(name).name] = load_clip(folder / name).skeleton  # type: ignore[operator]
        except PoiseError:
            from poise.files.character import load_character

            found[Path(name).name] = load_character(folder / name).skeleton  # type: ignore[operator]
    return found


def make_case(k: int, skeletons: dict[str, Skeleton]) -> Case:
    """The k-th of all cases, whatever else is run."""
    rng = np.random.default_rng([SEED, k])
    body, who = make_body(rng, skeletons)
    gesture, what = make_gesture(rng)
    bullet = rng.random() < 0.15
    couple = "paper" if bullet and rng.random() < 0.5 else "exact"
    part = "arms" if couple == "paper" else str(rng.choice(["arms", "upperBody"]))
    loads = ()
    if rng.random() < 0.5 and couple == "exact":
        joints = [j for j in ("leftHand", "rightHand", "leftLowerArm", "rightLowerArm", "chest", "head", "hips")
                  if body.skeleton.find_role(j) is not None]  # fmt: skip
        chosen = rng.choice(joints, size=min(2, len(joints)), replace=False)[: rng.integers(1, 3)]
        shares = rng.dirichlet(np.ones(len(chosen))) * rng.uniform(0.01, 0.1)
        loads = tuple(Load(str(j), float(s * body.mass)) for j, s in zip(chosen, shares, strict=True))
    friction = float(rng.uniform(0.5, 1.2))
    dt = float(rng.choice([0.001, 0.002, 0.0025, 0.004, 0.005]))
    return Case(body, who, gesture, what, part, loads, friction, dt, "bullet" if bullet else "mujoco", couple)


def make_body(rng: np.random.Generator, skeletons: dict[str, Skeleton]) -> tuple[Character, str]:
    """A person."""
    kind = rng.choice(["preset", "preset", "mesh", "file"])
    if kind == "file" and skeletons:
        name = str(rng.choice(list(skeletons)))
        body = Character.from_skeleton(skeletons[name], mass=None)
        return body, f"{name} ({body.height:.2f} m, {body.mass:.0f} kg)"
    height = float(rng.choice([rng.uniform(0.5, 1.2), rng.uniform(1.2, 2.0), rng.uniform(1.5, 1.9), 2.5]))
    mass = float(rng.uniform(14.0, 36.0) * height**2)
    if kind == "mesh":
        skeleton = Character.human(height, preset="mix").skeleton
        try:
            body = Character.from_meshes(skeleton, build_mannequin(skeleton, mass), mass=mass, height=height)
            return body, f"mannequin ({height:.2f} m, {mass:.0f} kg)"
        except PoiseError:
            pass
    preset = str(rng.choice(["mix", "full", "tracking", "strength"]))
    return Character.human(height, mass, preset=preset), f"{preset} ({height:.2f} m, {mass:.0f} kg)"


def make_gesture(rng: np.random.Generator) -> tuple[Gesture, str]:
    """Something to do with the arms, and what it is in words."""
    kind = str(rng.choice(["conduct", "arm_swing", "clap", "speak"]))
    size, hands = round(float(rng.uniform(0.3, 1.5)), 2), str(rng.choice(["both", "right", "left"]))
    if kind == "conduct":
        bpm, beats = round(float(rng.uniform(40.0, 180.0))), int(rng.integers(1, 5))
        return gestures.conduct(bpm, beats, hands, size), f"conduct({bpm}, {beats}, {hands}, size={size})"
    if kind == "arm_swing":
        rate, opposite = round(float(rng.uniform(0.3, 1.5)), 2), bool(rng.random() < 0.5)
        amplitude = round(float(rng.uniform(15.0, 85.0)))
        return (
            gestures.arm_swing(rate, amplitude, hands, opposite),
            f"arm_swing({rate}, {amplitude}, {hands}{', opposite' if opposite else ''})",
        )
    if kind == "clap":
        rate = round(float(rng.uniform(0.5, 4.0)), 2)
        return gestures.clap(rate, size), f"clap({rate}, {size})"
    times = 0.5 + np.cumsum(rng.uniform(0.5, 1.5, 30))
    stresses = [Stress(float(t), kind=str(rng.choice(["beat", "point"])), hand=hands) for t in times]
    return gestures.speak(stresses, size), f"speak({len(stresses)} stresses, {size})"


def try_case(case: Case) -> Outcome:
    """Run it and look at its feet."""
    out = Outcome()
    try:
        out.asked = find_asked(case)
        stage = Stage(case.engine, case.dt, case.couple, ground=Ground(friction=case.friction))
        actor = stage.add(case.body, name="actor", loads=case.loads)
        actor.drive("legs", Balance())
        actor.drive(case.part, Kinematic(case.gesture))
        take = stage.run(SECONDS, fps=FPS)
    except SolveError as error:
        out.faults.append(f"broke: {str(error).split('. ')[0]}")
        return out
    except InputError:  # nothing was run: a step that is too long for `paper`
        out.refused = True
        return out
    if take.fell_at("actor") is not None:
        out.faults.append(f"fell at {take.fell_at('actor'):.1f} s")
    soles = place_take_soles(take.actor("actor"))
    if not np.isfinite(soles).all():
        out.faults.append("not finite")
        return out
    out.skated = 1000.0 * float(np.linalg.norm((soles - soles[0])[..., [0, 2]], axis=-1).max())
    out.rose, out.sank = 1000.0 * float(soles[..., 1].max()), -1000.0 * float(soles[..., 1].min())
    for what, value, most in (("skated", out.skated, SKATED), ("rose", out.rose, ROSE), ("sank", out.sank, SUNK)):
        if value > most:
            out.faults.append(f"{what} by {value:.1f} mm")
    return out


def find_asked(case: Case) -> float:
    """How much of what the floor has to give a gesture asks for; above 1 feet that stay are not enough.

    Newton and Euler for the whole body as it is drawn, whoever simulates it: what is animated moves, and the rest keeps
    either its hips still or its centre of mass along the floor, whichever asks for less. Of three shares the largest,
    at the worst moment: the force along the floor of friction's m F_y; its moment about the upright through the middle
    between the feet, of m F_y at the corner of a sole that is farthest from there; the way from there to the centre of
    pressure, of that to the edge of the support. By SciPy, slower than 10 Hz; infinite where it lifts the body off.
    """
    record, rate = draw(case), 100.0
    m, x, spins = weigh(case, record, rate)
    soles = place_take_soles(record)[0].reshape(-1, 3)
    x = gaussian_filter1d(x, 0.1325 * rate / 10.0, axis=1)
    v = np.gradient(x, 1.0 / rate, axis=1)
    c, dc = (np.einsum("i,ifa->fa", m, each) / m.sum() for each in (x, v))
    L = np.einsum("i,ifa->fa", m, np.cross(x - c, v - dc)) + gaussian_filter1d(spins, 0.1325 * rate / 10.0, axis=0)
    pull, torque = (np.gradient(each, 1.0 / rate, axis=0) for each in (m.sum() * dc, L))
    upward = pull[:, 1] + 9.81 * m.sum()
    if upward.min() <= 0.0:
        return float("inf")
    shares = []
    for along, at in ((pull, c), (0.0 * pull, c.mean(axis=0))):
        arm = at - soles.mean(axis=0)
        yaw = torque[:, 1] + arm[..., 2] * along[:, 0] - arm[..., 0] * along[:, 2]
        # from the middle between the feet to the centre of pressure, x and z
        way = np.stack([
            arm[..., 0] - (c[:, 1] * along[:, 0] + torque[:, 2]) / upward,
            arm[..., 2] - (c[:, 1] * along[:, 2] - torque[:, 0]) / upward,
        ], axis=1)  # fmt: skip
        reach = np.linalg.norm((soles - soles.mean(axis=0))[:, [0, 2]], axis=1).max()
        edges = ConvexHull((soles - soles.mean(axis=0))[:, [0, 2]]).equations
        asked = [
            np.linalg.norm(along[:, [0, 2]], axis=1) / (case.friction * upward),
            np.abs(yaw) / (case.friction * upward * reach),
            (way @ edges[:, :2].T / -edges[:, 2]).max(axis=1),
        ]
        shares.append(float(np.max(asked, axis=0)[5:-5].max()))
    return min(shares)


def draw(case: Case) -> ActorTake:
    """The motion as it is asked for: hips and legs still, what is animated played."""
    ease, skeleton = stand_at_ease(case.body), case.body.skeleton
    still = Clip(skeleton, np.arange(3.0), np.tile(ease.root, (3, 1)), np.tile(ease.rotations, (3, 1, 1)))
    stage = Stage()
    actor = stage.add(case.body, name="actor")
    for part, motion in (("root", still), ("body", still), (case.part, case.gesture)):
        actor.drive(part, Kinematic(motion))
    return stage.run(SECONDS, fps=100.0).actor("actor")


def weigh(case: Case, record: ActorTake, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses (J,), places of the centres (J, F, 3) m, and what the segments' own turning sums up to (F, 3)."""
    figure, skeleton = Figure(case.body), case.body.skeleton
    for load in case.loads:
        k = skeleton.index(load.joint)
        whole = figure.masses[k] + load.mass
        figure.centers[k] = (figure.masses[k] * figure.centers[k] + load.mass * np.asarray(load.offset)) / whole
        figure.masses[k] = whole
    inertias = {skeleton.index(segment.joint): segment.inertia.inertia for segment in case.body.segments}
    places, turns = place_joints(skeleton, record.root, record.rotations)
    x, spins = np.zeros((len(skeleton), len(record.root), 3)), np.zeros((len(record.root), 3))
    for i in range(len(skeleton)):
        x[i] = places[:, i] + turns[i].apply(figure.centers[i])
        if i in inertias:
            R = turns[i].as_matrix()
            W = np.einsum("fab,fcb->fac", np.gradient(R, 1.0 / rate, axis=0), R)
            om = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)
            spins += np.einsum("fab,bc,fdc,fd->fa", R, inertias[i], R, om)
    return figure.masses, x, spins
