// The touch page: two pads, the wire to the puppet, and what it tells.

import { Pad, WAYS } from "/hands/pads.js";

const find = (name) => document.getElementById(name);
const COLORS = { left: "#e0683f", right: "#4a8fe0" };
const USUAL = { legs: "step" }; // ways that layers are played in; others are tipped
const VIEWS = { behind: "-1.1,1.6,-3.9", side: "-4.0,1.3,-0.6", front: "0.9,1.5,3.9" };
const AT_ONCE = 4; // ms between two messages
const RETRY = 1000; // ms
const SAID = 12000; // ms that a sentence is seen; it stays in the page's panel
const FULL = 4096; // bytes that wait to be sent: the net is stuck, and only what is newest will be sent

let socket = null;
let homes = null; // how often hands were brought back to where they mean nothing
let state = {};
let lost = false;
let roundTrip = null; // ms
const told = { number: null, at: 0 }; // the last sentence, and when it came
const delays = []; // ms, from a finger to here

const pads = { left: null, right: null };
for (const side of ["left", "right"]) pads[side] = new Pad(find(side), COLORS[side], changed);

// What is kept from one time to the next.
const kept = { release: "glide", view: "behind" };
try {
  Object.assign(kept, JSON.parse(localStorage.getItem("poise-hands") ?? "{}"));
} catch {} // private windows keep nothing
const asked = new URLSearchParams(location.search).get("view");
if (asked) kept.view = asked;
function keep() {
  try {
    localStorage.setItem("poise-hands", JSON.stringify(kept));
  } catch {}
}

// The wire.

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/hands/wire${location.search}`);
  socket.onmessage = (event) => hear(JSON.parse(event.data));
  socket.onopen = () => {
    lost = false;
    ping();
    show();
  };
  socket.onclose = async (event) => {
    const was = lost;
    lost = event.reason || "The connection is lost. Hands stay where they were; trying again.";
    if (!was) show();
    setTimeout(connect, RETRY);
    const answer = await fetch(location.href, { method: "GET" }).catch(() => null);
    if (answer?.status === 401) {
      lost = "This key is no longer good: open the address that poise prints now.";
      show();
    }
  };
}

const isOpen = () => socket?.readyState === WebSocket.OPEN;
const say = (words) => isOpen() && socket.send(JSON.stringify(words));

function ping() {
  if (isOpen() && socket.bufferedAmount < FULL) say({ ping: performance.now() });
}
setInterval(ping, 1000);

const waiting = new Map(); // hands that are to be told: whether a finger holds them
let sent = 0;
let timer = null;

function changed(pad, at) {
  if (at) note(performance.now() - at);
  pad.isDrawn = false;
  put(pad, true);
}

/** Tell what a hand does, soon. */
function put(pad, held) {
  waiting.set(pad, held || waiting.get(pad) || false);
  const wait = AT_ONCE - (performance.now() - sent);
  if (wait <= 0) flush();
  else timer ??= setTimeout(flush, wait);
}

function flush() {
  clearTimeout(timer);
  timer = null;
  if (!isOpen() || socket.bufferedAmount > FULL) return; // what waits is told with the next picture
  for (const held of [true, false]) {
    const words = {};
    for (const [pad, isHeld] of waiting) if (isHeld === held) words[nameOf(pad)] = numbersOf(pad);
    if (Object.keys(words).length) say({ ...words, held });
  }
  waiting.clear();
  sent = performance.now();
}

const isMirrored = () => kept.view === "front";
/** The hand that a pad plays: from before, what is seen on the left is the puppet's right. */
function nameOf(pad) {
  const side = pad === pads.left ? "left" : "right";
  return isMirrored() ? { left: "right", right: "left" }[side] : side;
}

const round = (value) => Math.round(value * 1e5) / 1e5;
function numbersOf(pad) {
  const { place, vector, grip } = pad.read();
  const turn = multiply(turnOf(nameOf(pad)), exp(vector));
  return [...place, ...turn, grip].map(round);
}

// What it tells.

function hear(words) {
  if ("pong" in words) {
    const took = performance.now() - words.pong;
    roundTrip = roundTrip === null ? took : Math.min(took, roundTrip + 0.2 * (took - roundTrip));
    return;
  }
  const before = state;
  state = words;
  if (homes !== null && words.homes !== homes) {
    for (const pad of Object.values(pads)) pad.home();
    from = turned;
  }
  homes = words.homes;
  if (words.layer !== before.layer) choose(USUAL[words.layer] ?? "tip");
  const names = ["left", "right"];
  for (const pad of Object.values(pads)) {
    const number = names.indexOf(nameOf(pad));
    const isMine = Boolean(words.yours?.[number]);
    pad.means = words.means?.[number] ?? {};
    pad.isDrawn = false;
    // somebody else has this hand: what is drawn here is not where it is
    pad.element.classList.toggle("other", Boolean(pad.wasMine) && !isMine);
    pad.wasMine ||= isMine;
  }
  show();
}

function note(delay) {
  if (delay < 0 || delay > 1000) return;
  delays.push(delay);
  if (delays.length > 120) delays.shift();
}

function latency() {
  if (!state.plays || state.latency_ms == null || roundTrip === null || delays.length < 10) return "";
  const middle = [...delays].sort((a, b) => a - b)[delays.length >> 1];
  return `${(middle + roundTrip / 2 + state.latency_ms).toFixed(0)} ms`;
}

function show() {
  const mode = lost ? "lost" : state.mode ?? "connecting";
  const time = `${(state.time ?? 0).toFixed(1)} s`;
  const words = { practise: "practising", play: `playing ${time}`, connecting: "connecting", lost: "not connected" };
  const record = state.is_heard === false ? `led up to ${time}` : `recording ${time}`;
  write("state", mode === "record" ? record : words[mode]);
  write("latency", lost ? "" : latency());
  document.body.dataset.mode = mode;
  if (state.told !== told.number) Object.assign(told, { number: state.told, at: performance.now() });
  const message = lost || (performance.now() - told.at < SAID && state.message) || "";
  write("message", message);
  find("message").hidden = !message;
  const take = find("take");
  take.hidden = lost || !state.device || state.plays || state.device === "handles of the page";
  write("take", `${state.device} has the hands. Tap to play them from here.`);
  layersOf(state.layers ?? []);
}

function write(name, words) {
  const element = find(name);
  if (element.textContent !== words) element.textContent = words;
}

function layersOf(names) {
  const group = find("layers");
  if (group.dataset.names !== JSON.stringify(names)) {
    group.dataset.names = JSON.stringify(names);
    group.replaceChildren(...names.map((name) => {
      const button = document.createElement("button");
      button.textContent = name;
      button.onclick = () => say({ do: "layer", name });
      return button;
    }));
  }
  for (const button of group.children) button.classList.toggle("on", button.textContent === state.layer);
}

// What is chosen.

function mark(group, key, value) {
  for (const button of find(group).querySelectorAll("button")) button.classList.toggle("on", button.dataset[key] === value);
}

function choose(way) {
  if (!(way in WAYS)) return;
  for (const pad of Object.values(pads)) {
    pad.letGo();
    pad.way = way;
    pad.isDrawn = false;
  }
  mark("ways", "way", way);
}

function release(how) {
  kept.release = how;
  for (const pad of Object.values(pads)) pad.glides = how === "glide";
  mark("release", "release", how);
}

function look(view) {
  kept.view = view in VIEWS ? view : "none";
  for (const pad of Object.values(pads)) pad.mirrored = isMirrored();
  mark("views", "view", kept.view);
  const frame = find("view");
  frame.hidden = kept.view === "none";
  const dots = Math.min(window.devicePixelRatio || 1, 2); // a phone's three are not worth their time
  const middle = window.innerHeight < 600 ? 0.65 : 0.9; // m; on a phone buttons are below it, on a tablet above
  const query = `initialCameraPosition=${VIEWS[kept.view]}&initialCameraLookAt=0,${middle},0&hideViserLogo&darkMode&fixedDpr=${dots}`;
  const address = kept.view === "none" ? "about:blank" : `/?${query}`;
  if (frame.dataset.address !== address) {
    frame.dataset.address = address;
    frame.src = address;
  }
}

// The page's panel is not for here. Its style hides it, and the frame is wider than the screen by what the panel takes.
find("view").onload = () => {
  const inside = find("view").contentDocument;
  if (!inside?.head || find("view").dataset.address === "about:blank") return;
  const style = inside.createElement("link");
  style.rel = "stylesheet";
  style.href = "/hands/view.css";
  inside.head.append(style);
};
function widen() {
  const frame = find("view");
  const canvas = frame.contentDocument?.querySelector("canvas");
  if (!canvas) return;
  const panel = frame.clientWidth - canvas.getBoundingClientRect().width;
  const width = `${window.innerWidth + Math.max(panel, 0)}px`;
  if (frame.style.width !== width) frame.style.width = width;
}
setInterval(widen, 500);

const on = (group, key, task) =>
  find(group).addEventListener("click", (event) => {
    const value = event.target.closest("button")?.dataset[key];
    if (value) task(value);
    keep();
  });
on("ways", "way", choose);
on("release", "release", release);
on("views", "view", look);
on("turns", "turn", listen);
for (const button of document.querySelectorAll("nav button")) button.onclick = () => say({ do: button.dataset.do });
find("take").onclick = () => say({ do: "take" });
find("more").onclick = () => (find("sheet").hidden = !find("sheet").hidden);
find("done").onclick = () => (find("sheet").hidden = true);
find("full").onclick = () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.().catch(() => {});
};
document.addEventListener("contextmenu", (event) => event.preventDefault());
document.addEventListener("gesturestart", (event) => event.preventDefault());

// How this device is turned, if it knows: from where it was calibrated, its screen to who holds it.

let turns = "none";
let turned = [1, 0, 0, 0]; // wxyz
let from = null;

function turnOf(side) {
  if (turns !== side || !from) return [1, 0, 0, 0];
  const [w, x, y, z] = multiply([from[0], -from[1], -from[2], -from[3]], turned);
  return [w, -x, y, -z]; // its right is the puppet's -x, and out of its screen is -z
}

async function listen(side) {
  turns = side;
  from = null;
  mark("turns", "turn", side);
  const told = find("sensors");
  told.textContent = "";
  if (side === "none") return;
  if (!window.isSecureContext) {
    told.textContent = "Browsers tell how a device is turned only to secure pages (https, or this very machine), and this one " +
      "is neither. Put a proxy with https before it, or on Android: adb reverse, and open 127.0.0.1.";
    return;
  }
  try {
    if ((await DeviceOrientationEvent.requestPermission?.()) === "denied") throw new Error();
  } catch {
    told.textContent = "This device may not tell how it is turned: allow motion sensors for this page.";
    return;
  }
  told.textContent = "Waiting for how it is turned; calibrate sets where that means nothing.";
}

window.addEventListener("deviceorientation", (event) => {
  if (turns === "none" || event.alpha === null) return;
  const half = Math.PI / 360;
  const [a, b, c] = [event.alpha * half, event.beta * half, event.gamma * half];
  // about z, then its x, then its y [W3C Device Orientation]; then as the screen is held
  const raw = [[Math.cos(a), 0, 0, Math.sin(a)], [Math.cos(b), Math.sin(b), 0, 0], [Math.cos(c), 0, Math.sin(c), 0]]
    .reduce(multiply);
  const s = -(screen.orientation?.angle ?? window.orientation ?? 0) * half;
  turned = multiply(raw, [Math.cos(s), 0, 0, Math.sin(s)]);
  from ??= turned;
  find("sensors").textContent = "";
  put(Object.values(pads).find((pad) => nameOf(pad) === turns), true);
});

// Turns: wxyz.

function multiply([a, b, c, d], [w, x, y, z]) {
  return [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x,
    a * z + b * y - c * x + d * w];
}

function exp(vector) {
  const angle = Math.hypot(...vector);
  const size = angle < 1e-9 ? 0.5 : Math.sin(angle / 2) / angle;
  return [Math.cos(angle / 2), ...vector.map((each) => each * size)];
}

// Pictures.

let last = performance.now();
function tick(now) {
  const dt = Math.min(Math.max(now - last, 0) / 1000, 0.1);
  last = now;
  for (const pad of Object.values(pads)) {
    const moved = pad.tick(dt);
    if (moved) put(pad, pad.isHeld);
    if (moved || !pad.isDrawn) pad.draw();
  }
  if (waiting.size) flush();
  requestAnimationFrame(tick);
}

release(kept.release);
choose("tip");
mark("turns", "turn", turns);
look(kept.view);
show();
connect();
requestAnimationFrame(tick);
