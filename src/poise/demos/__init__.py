"""Demos by name: each is a function that writes its files into a folder and returns its figures."""

from poise.registry import Entry

DEMOS: dict[str, Entry] = {
    "motion": Entry(
        "poise.demos.tracking.motion:run", "a body of its own moves: files, pictures, torques and ground force"
    ),
    "conductor": Entry(
        "poise.demos.mix.conductor:run", "animated arms lift and conduct, physics moves the rest of the body"
    ),
    "armswing": Entry("poise.demos.mix.gestures:swing_arms", "arms that swing hard, and hips that answer"),
    "clap": Entry("poise.demos.mix.gestures:clap", "hands that clap, and a body that hardly sways"),
    "drum": Entry("poise.demos.mix.drum:run", "animated hands that beat a drum, and a ball that they knock off it"),
    "speech": Entry("poise.demos.mix.gestures:speak", "beats and points of the hands on the stresses of speech"),
    "mocap": Entry("poise.demos.mix.mocap:run", "a recording on head, arms and trunk, over physical legs"),
    "swing": Entry("poise.demos.mix.swing:run", "a playground swing, pumped in phase and out of phase"),
    "switch": Entry("poise.demos.mix.switch:run", "an arm that goes from animated to physical and back, ten times"),
    "hit-arm": Entry("poise.demos.mix.hit_arm:run", "an arm is hit, hangs loose from an animated trunk and comes back"),
    "thin-fat": Entry("poise.demos.mix.thin_fat:run", "the same gesture by 45, 75 and 130 kg"),
    "overload": Entry("poise.demos.mix.overload:run", "a load that is dropped when it becomes too heavy"),
    "gains": Entry("poise.demos.mix.gains:run", "the coupling at half, full and double gain, and by torque alone"),
    "compare": Entry("poise.demos.mix.compare:run", "animated, balanced, mixed and tracked: lag, error and sway"),
    "push-hands": Entry(
        "poise.demos.mix.push_hands:run", "one pushes another's hands with animated arms, and both sway"
    ),
    "staff": Entry("poise.demos.tracking.staff:run", "a staff is pumped up and down, and a wrist keeps it upright"),
    "bow": Entry(
        "poise.demos.tracking.bow:run", "a bow captured of the upper body, over legs that balance, and that do not"
    ),
    "pattycake": Entry("poise.demos.tracking.pattycake:run", "two children play patty cake from one adult's motion"),
    "slap": Entry("poise.demos.tracking.slap:run", "a transition from patty cake to a slap, and the impact"),
    "gestures": Entry(
        "poise.demos.tracking.gestures:run", "gestures at 15 to 25 samples a second, played back and tracked"
    ),
    "onleg": Entry("poise.demos.balance.onleg:run", "on one leg: reaching, leaning, moving the free leg, crouching"),
    "physiques": Entry("poise.demos.balance.physiques:run", "bodies of every kind reach, on one leg"),
    "stairs": Entry("poise.demos.balance.walks:stairs", "up eight steps and down again, balanced all the time"),
    "slope": Entry("poise.demos.balance.walks:slope", "up a ramp and down, feet flat to the slope"),
    "rough": Entry("poise.demos.balance.walks:rough", "over random heights, each foot where the ground lets it stand"),
    "moving": Entry("poise.demos.balance.walks:moving", "on a raft that is carried to and fro"),
    "bodies": Entry("poise.demos.balance.walks:bodies", "fat, thin, short, lame, loaded: every body walks"),
    "ghost": Entry(
        "poise.demos.balance.ghost:run", "a body follows a ghost that walks: pushed, held by a gate, waited for"
    ),
    "lift": Entry(
        "poise.demos.strength.lift:run", "a weak figure lifts 1, 3, 4 and 5 kg: it follows, gives way, falls"
    ),
    "puppet": Entry("poise.demos.marionette.puppet:run", "a dance of a minute, played by two hands in three passes"),
    "fall": Entry(
        "poise.demos.strength.fall:run", "pushed over in eight directions: which edge it turns about, how it lies"
    ),
    "lean-on-hand": Entry(
        "poise.demos.strength.lean_on_hand:run", "shoved before a wall: hands reach out, hold and push back"
    ),
    "crowd": Entry("poise.demos.mix.crowd:run", "many conductors at once, each his own body, tempo and balance"),
}
