"""MuJoCo by the four verbs of an engine, called through Python: what its compiled laws must agree with, bit for bit."""

from poise.engines.mujoco.simulation import MujocoEngine, MujocoSimulation
from poise.engines.scene import Scene
from poise.stage.stage import Stage


class VerbsSimulation(MujocoSimulation):
    def laws(self, bodies: object) -> None:
        return None


class VerbsEngine(MujocoEngine):
    def build(self, scene: Scene) -> VerbsSimulation:
        return VerbsSimulation(scene)


def use_verbs(stage: Stage) -> None:
    """Have everybody on a stage be built by the verbs from now on."""
    stage.engine = VerbsEngine()
    for actor in stage.actors.values():
        stage.rebuild(actor)
