// A pad: fingers to what a hand does, and what it does drawn.
//
// A hand is six numbers, each -1 to 1 (up and grip from 0), to the right and up of who looks at the screen:
//   forth, aside   how the tube is tipped, its lower end ahead and to the right
//   across, up, ahead   where it is
//   grip
// What the first finger in a pad moves, and what the second, is a way of playing. Every drag begins where the hand is:
// nothing jumps when a finger comes down.

export const WAYS = {
  step: { x: "forth", y: "up", x2: "aside", y2: "ahead" },
  tip: { x: "aside", y: "forth", x2: "across", y2: "up" },
  move: { x: "across", y: "ahead", x2: "aside", y2: "up" },
};
const TIPS = (70 * Math.PI) / 180; // rad, m and m, of a finger that goes all the way
const LIFTS = 0.22;
const MOVES = 0.15;
const LEAST = { up: -0.1, grip: 0 };
const GLIDE = 0.08; // s, in which what is let go of comes back by two thirds
const NAMES = ["forth", "aside", "across", "up", "ahead", "grip"];

/** Words for what a number of a hand moves; "" where it moves nothing. */
export function describe(means, name) {
  if (name === "forth" || name === "aside") return means.turn ? `${means.turn} ${name === "forth" ? "ahead" : "aside"}` : "";
  return means[name === "across" ? "left" : name] ?? "";
}

export class Pad {
  constructor(element, color, changed) {
    Object.assign(this, { element, color, changed, way: "tip", glides: true, means: {}, mirrored: false });
    this.hand = Object.fromEntries(NAMES.map((name) => [name, 0]));
    this.fingers = new Map();
    this.origin = null;
    this.field = element.querySelector(".field");
    this.canvas = element.querySelector("canvas");
    this.strips = { up: element.querySelector(".lift"), grip: element.querySelector(".grip") };
    for (const [place, role] of [[this.field, "field"], [this.strips.up, "up"], [this.strips.grip, "grip"]]) {
      place.addEventListener("pointerdown", (event) => this.down(event, place, role));
      for (const kind of ["pointermove", "pointerrawupdate"]) place.addEventListener(kind, (event) => this.move(event));
      for (const kind of ["pointerup", "pointercancel", "lostpointercapture"])
        place.addEventListener(kind, (event) => this.lift(event));
    }
    new ResizeObserver(() => this.measure()).observe(this.field);
    this.measure();
  }

  get isHeld() {
    return this.fingers.size > 0;
  }

  measure() {
    const box = this.field.getBoundingClientRect();
    const { width, height } = box;
    const scale = window.devicePixelRatio || 1;
    Object.assign(this, { box, width, height, scale });
    this.reach = Math.max(50, Math.min(0.4 * Math.min(width, height), 130)); // px, of a finger all the way
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.isDrawn = false;
  }

  // Fingers.

  down(event, place, role) {
    event.preventDefault();
    let names;
    if (role === "field") {
      const roles = [...this.fingers.values()].map((finger) => finger.role);
      role = roles.includes("first") ? "second" : "first";
      if (roles.includes(role)) return;
      const way = WAYS[this.way];
      names = role === "first" ? [way.x, way.y] : [way.x2, way.y2];
    } else {
      if ([...this.fingers.values()].some((finger) => finger.role === role)) return;
      names = [null, role];
    }
    try {
      place.setPointerCapture(event.pointerId);
    } catch {} // a pointer that is gone already
    const reach = role === "first" || role === "second" ? this.reach : 0.7 * place.clientHeight;
    const from = names.map((name) => (name ? this.hand[name] : 0));
    const at = [event.clientX, event.clientY];
    this.fingers.set(event.pointerId, { role, names, reach, from, at, now: at });
    this.changed(this, event.timeStamp);
  }

  move(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    finger.now = [event.clientX, event.clientY];
    let isNew = false;
    finger.names.forEach((name, axis) => {
      if (!name) return;
      const sign = axis ? -1 : 1;
      const wanted = finger.from[axis] + (sign * (finger.now[axis] - finger.at[axis])) / finger.reach;
      const value = Math.min(Math.max(wanted, LEAST[name] ?? -1), 1);
      // a finger that goes further pulls its beginning along: turning back is felt at once
      if (value !== wanted) finger.at[axis] = finger.now[axis] - sign * (value - finger.from[axis]) * finger.reach;
      isNew ||= this.hand[name] !== value;
      this.hand[name] = value;
    });
    if (isNew) this.changed(this, event.timeStamp);
  }

  lift(event) {
    if (this.fingers.delete(event.pointerId)) this.changed(this, event.timeStamp);
  }

  letGo() {
    this.fingers.clear();
  }

  home() {
    for (const name of NAMES) this.hand[name] = 0;
    for (const finger of this.fingers.values()) Object.assign(finger, { from: [0, 0], at: [...finger.now] });
    this.isDrawn = false;
  }

  /** Go on by dt seconds: what no finger holds glides back. Whether anything moved. */
  tick(dt) {
    const held = new Set([...this.fingers.values()].flatMap((finger) => finger.names));
    let moved = false;
    for (const name of NAMES) {
      if (!this.glides || name === "grip" || held.has(name) || this.hand[name] === 0) continue;
      const value = this.hand[name] * Math.exp(-dt / GLIDE);
      this.hand[name] = Math.abs(value) < 0.003 ? 0 : value;
      moved = true;
    }
    return moved;
  }

  // What it says.

  /** [x y z, turn as a vector, grip]: m and rad, in the puppet's axes. */
  read() {
    const { forth, aside, across, up, ahead, grip } = this.hand;
    const right = this.mirrored ? 1 : -1; // to the right of who looks from behind is the puppet's -x
    return {
      place: [right * across * MOVES, up * LIFTS, ahead * MOVES],
      // the lower end goes ahead by a turn about -x, and to +x by one about +z
      vector: [-forth * TIPS, 0, right * aside * TIPS],
      grip,
    };
  }

  // What is seen.

  draw() {
    const pen = this.canvas.getContext("2d");
    const { box, width, height, reach, hand } = this;
    const way = WAYS[this.way];
    const first = [...this.fingers.values()].find((finger) => finger.role === "first");
    const aim = first
      ? [first.at[0] - box.left - first.from[0] * reach, first.at[1] - box.top + first.from[1] * reach]
      : [width / 2, height / 2];
    this.origin = this.origin && !first ? this.origin.map((value, k) => value + 0.25 * (aim[k] - value)) : aim;
    const [x, y] = this.origin;
    const knob = [x + hand[way.x] * reach, y - hand[way.y] * reach];
    pen.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    // how far it goes
    pen.lineWidth = 1.5;
    pen.strokeStyle = "rgba(255, 255, 255, 0.28)";
    pen.strokeRect(x - reach, y - reach, 2 * reach, (LEAST[way.y] === undefined ? 2 : 1 - LEAST[way.y]) * reach);
    pen.beginPath();
    pen.moveTo(x - reach, y);
    pen.lineTo(x + reach, y);
    pen.moveTo(x, y - reach);
    pen.lineTo(x, LEAST[way.y] === undefined ? y + reach : y);
    pen.stroke();
    // the tube, as it is tipped
    const [tx, ty] = [hand.aside * TIPS, hand.forth * TIPS];
    pen.lineCap = "round";
    pen.lineWidth = 10;
    pen.strokeStyle = this.color;
    pen.globalAlpha = 0.55;
    pen.beginPath();
    pen.moveTo(knob[0] - 34 * Math.sin(tx), knob[1] - 34 * Math.cos(tx) * Math.cos(ty));
    pen.lineTo(knob[0] + 34 * Math.sin(tx), knob[1] + 34 * Math.cos(tx) * Math.cos(ty));
    pen.stroke();
    // the hand
    pen.globalAlpha = 1;
    pen.fillStyle = this.color;
    pen.beginPath();
    pen.arc(...knob, this.isHeld ? 25 : 20, 0, 2 * Math.PI);
    pen.fill();
    pen.lineWidth = 3;
    pen.strokeStyle = this.isHeld ? "#fff" : "rgba(255, 255, 255, 0.65)";
    pen.stroke();
    for (const finger of this.fingers.values()) {
      if (finger.role !== "second") continue;
      pen.beginPath();
      pen.arc(finger.now[0] - box.left, finger.now[1] - box.top, 30, 0, 2 * Math.PI);
      pen.stroke();
    }
    this.write(pen, way, x, y);
    for (const [name, strip] of Object.entries(this.strips)) {
      strip.style.setProperty("--value", Math.max(hand[name], 0).toFixed(3));
      strip.classList.toggle("idle", !this.means[name]);
      const words = this.means[name] || (name === "up" ? "height" : "grip");
      const label = strip.querySelector("b");
      if (label.textContent !== words) label.textContent = words;
    }
    this.isDrawn = aim.every((value, k) => Math.abs(value - this.origin[k]) < 0.5);
  }

  /** What the axes move, at their ends; and by how much, below. */
  write(pen, way, x, y) {
    const { reach, hand, width, height } = this;
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    const say = (words, px, py, color = "rgba(255, 255, 255, 0.92)") => {
      const half = pen.measureText(words).width / 2 + 4;
      pen.fillStyle = color;
      pen.fillText(words, Math.min(Math.max(px, half), width - half), Math.min(Math.max(py, 16), height - 10));
    };
    const none = "rgba(255, 255, 255, 0.4)";
    const [right, top] = [describe(this.means, way.x), describe(this.means, way.y)];
    say(top ? `↑ ${top}` : "↑", x, y - reach - 8, top ? undefined : none);
    const below = y + (LEAST[way.y] === undefined ? 1 : -LEAST[way.y]) * reach;
    say(right ? `${right} →` : "→", x + reach - 40, below + 18, right ? undefined : none);
    const told = [];
    const degrees = (value) => Math.round((Math.abs(value) * TIPS * 180) / Math.PI);
    if (degrees(hand.forth)) told.push(`${degrees(hand.forth)}° ${hand.forth > 0 ? "ahead" : "back"}`);
    if (degrees(hand.aside)) told.push(`${degrees(hand.aside)}° ${hand.aside > 0 ? "right" : "left"}`);
    const cm = (value, size) => Math.round(Math.abs(value) * size * 100);
    if (cm(hand.up, LIFTS)) told.push(`${cm(hand.up, LIFTS)} cm ${hand.up > 0 ? "up" : "down"}`);
    if (cm(hand.ahead, MOVES)) told.push(`${cm(hand.ahead, MOVES)} cm ${hand.ahead > 0 ? "ahead" : "back"}`);
    if (cm(hand.across, MOVES)) told.push(`${cm(hand.across, MOVES)} cm ${hand.across > 0 ? "right" : "left"}`);
    const rows = told.length ? [told.slice(0, 2).join(", "), told.slice(2).join(", ")] : ["", `${this.element.id} hand`];
    rows.filter(Boolean).reverse().forEach((row, k) => say(row, width / 2, height - 10 - 17 * k));
  }
}
