"""The driver of `own_driver.py` with its law compiled: as quick as Poise's own."""

from dataclasses import dataclass

from own_driver import Wave, WavePlayer

import poise


@dataclass(frozen=True)
class FastWave(Wave):
    def build(self, body, joints, t):
        return FastWavePlayer(self, body, joints)


class FastWavePlayer(WavePlayer):
    def __init__(self, driver, body, joints):
        import own_wave_law  # late: only who uses it waits for the compiler

        super().__init__(driver, body, joints)
        self.law = own_wave_law.wave
        self.block = own_wave_law.WaveLayout(
            body.arena, joints=joints, count=len(joints), swing=driver.swing, **self.numbers()
        )

    def laws(self):
        return {"write": (self.law, self.block)}


poise.extend.register_driver("fast wave", FastWave)
