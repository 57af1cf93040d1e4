"use strict";

const PART = 1 / 30, MOST = 1 / 4; // [s] of simulated time: between two looks at the hand, and for one picture

/* A robot whose emitted C runs in the page. setup: {nq, nv, nodes, parameters, start, targets, kp, kd, step, pull, bent, rows,
 * carriers, laws}. A pointer on the robot takes hold of it by a spring. */
class Playground {
  constructor(root, scene, setup, wasm) {
    this.root = root;
    this.setup = setup;
    this.find = (name) => root.querySelector(`[data-role="${name}"]`);
    this.viewer = new Viewer(root.querySelector("canvas.robot"), scene);
    this.running = true;
    this.hand = null;
    this.trace = [];
    this.window = { wall: 0, simulated: 0, cost: 0, frames: 0 };
    this.largest = 0;
    const functions = ["pow", "atan2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
      "atanh", "exp", "log"];
    const math = Object.fromEntries(functions.map((name) => [name, Math[name]]));
    WebAssembly.instantiate(decode(wasm, Uint8Array), { math: { ...math, erf } }).then((made) => {
      this.robot = made.instance.exports;
      this.robot.start();
      this.nominal = Array.from(this.array("live_parameters", setup.parameters));
      this.reset();
      this.connect();
      this.before = performance.now();
      this.draw();
      requestAnimationFrame((now) => this.frame(now));
      window.playground = this;
    });
  }

  /* Numbers in the robot's memory, which may have grown since the last time. */
  array(name, size) {
    return new Float64Array(this.robot.memory.buffer, this.robot[name](), size);
  }

  reset() {
    const { setup } = this;
    this.array("positions", setup.nq).set(setup.start);
    this.array("velocities", setup.nv).fill(0);
    this.array("position_gains", setup.nv).set(setup.kp);
    this.array("velocity_gains", setup.nv).set(setup.kd);
    this.array("target_positions", setup.nv).set(setup.targets);
    this.array("live_parameters", setup.parameters).set(this.nominal);
    this.choose();
    this.release();
    this.time = this.failed = 0;
    this.trace = [];
    for (const slider of this.root.querySelectorAll("input[data-target]")) slider.value = setup.targets[slider.dataset.target];
    for (const slider of this.root.querySelectorAll("input[data-parameter]")) slider.value = this.nominal[slider.dataset.parameter];
    this.label();
  }

  /* The law of the drives that the page says. */
  choose() {
    this.array("control_law", 4).set(this.setup.laws[Number(this.find("law").value)]);
  }

  connect() {
    this.find("run").addEventListener("click", () => this.pause());
    this.find("reset").addEventListener("click", () => this.reset());
    this.find("law").addEventListener("change", () => this.choose());
    this.slide("target", "target_positions", this.setup.nv);
    this.slide("parameter", "live_parameters", this.setup.parameters);
    const { canvas } = this.viewer;
    canvas.addEventListener("pointerdown", (event) => this.hold(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => { if (this.hand) this.move(event); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.release());
    this.root.addEventListener("keydown", (event) => {
      if (event.target !== canvas) return;
      if (event.key === " ") this.pause();
      else if (event.key === "r") this.reset();
      else return;
      event.preventDefault();
    });
  }

  slide(name, array, size) {
    for (const slider of this.root.querySelectorAll(`input[data-${name}]`)) {
      slider.addEventListener("input", () => {
        this.array(array, size)[slider.dataset[name]] = Number(slider.value);
        this.label();
      });
    }
  }

  pause() {
    this.running = !this.running;
    this.find("run").textContent = this.running ? "Pause" : "Run";
  }

  label() {
    for (const slider of this.root.querySelectorAll(".panels input")) {
      const shown = slider.nextElementSibling;
      if (shown.dataset.unit === undefined) shown.dataset.unit = shown.textContent;
      shown.textContent = `${Number(slider.value).toPrecision(3)} ${shown.dataset.unit}`;
    }
  }

  place(node) {
    return new THREE.Vector3(...this.nodes.subarray(3 * node, 3 * node + 3));
  }

  /* The frame that carries a node; where a beam does, one that does not turn. */
  carrier(node) {
    const k = this.setup.carriers[node];
    return k < 0 ? new THREE.Matrix4().setPosition(this.place(node)) : linkFrame((one) => this.place(one), this.viewer.scene.frames[k].nodes);
  }

  /* Take hold of what is under the pointer; the place is kept in the frame that carries it. */
  hold(event) {
    const hit = this.nodes && event.button === 0 ? this.viewer.pick(event) : null;
    if (!hit) return;
    event.stopImmediatePropagation();
    this.viewer.canvas.setPointerCapture(event.pointerId);
    const held = hit.point.clone().applyMatrix4(this.carrier(hit.node).invert());
    if (this.setup.carriers[hit.node] < 0) held.set(0, 0, 0);
    this.hand = { node: hit.node, held, depth: hit.point.clone(), target: hit.point.clone() };
  }

  /* The hand moves in the plane through the place that was hit, parallel to the screen. */
  move(event) {
    const { ray } = this.viewer.ray(event), normal = this.viewer.camera.getWorldDirection(new THREE.Vector3());
    const along = this.hand.depth.clone().sub(ray.origin).dot(normal) / ray.direction.dot(normal);
    this.hand.target = ray.origin.clone().addScaledVector(ray.direction, along);
  }

  release() {
    this.hand = null;
    this.array("hand_spring", 8)[0] = -1;
  }

  /* Tell the robot's C about the hand; returns the arrow of its force. */
  pull() {
    if (!this.hand) return null;
    const { node, held, target } = this.hand, place = held.clone().applyMatrix4(this.carrier(node)), lever = place.clone().sub(this.place(node));
    const stiffness = Number(this.find("strength").value) / 20 * this.setup.pull;
    this.array("hand_spring", 8).set([node, stiffness, ...lever.toArray(), ...target.toArray()]);
    return { from: place.toArray(), to: target.toArray(), text: `${(stiffness * place.distanceTo(target)).toPrecision(3)} N` };
  }

  frame(now) {
    const passed = (now - this.before) / 1000, began = performance.now(), seen = this.window, from = this.time;
    seen.wall += passed;
    this.before = now;
    if (this.running) this.go(Math.min(passed, this.slow ? PART : MOST));
    const took = (performance.now() - began) / 1000;
    this.slow = this.time > from && took > 0.5 * (this.time - from); // the robot's C needs what time there is: no catching up
    seen.cost += performance.now() - began;
    seen.simulated += this.time - from;
    seen.frames += 1;
    this.draw();
    if (seen.wall > 0.5) this.say();
    requestAnimationFrame((next) => this.frame(next));
  }

  /* Go on by so many seconds, in parts in which the place that the hand holds is where it was. */
  go(seconds) {
    for (let left = seconds; left > 1e-9 && !this.failed; left -= PART) {
      if (this.hand) this.look();
      this.pull();
      this.advance(Math.min(left, PART));
    }
  }

  look() {
    this.nodes = new Float64Array(this.robot.memory.buffer, this.robot.draw(), 3 * this.setup.nodes).slice();
  }

  draw() {
    this.look();
    const arrow = this.pull(), shown = (name) => this.find(name).checked, tip = this.nodes.subarray(3 * this.viewer.scene.tip, 3 * this.viewer.scene.tip + 3);
    if (this.running) this.trace.push(...tip);
    if (this.trace.length > 1800) this.trace.splice(0, 3);
    this.viewer.shown.shadows = shown("shadows");
    this.viewer.draw(this.nodes, {
      arrows: arrow ? [arrow] : [], frames: shown("frames"), trace: shown("trace") ? this.trace : null, strains: this.strains(), largest: this.largest,
      skins: this.skins(),
    });
  }

  /* Curvatures of the beams; the scale of their colours grows with the largest that was seen. */
  strains() {
    const { bent, rows } = this.setup;
    if (!rows) return null;
    const found = this.array("curvatures", 2 * rows), sizes = bent.map((row) => Math.hypot(found[2 * row], found[2 * row + 1]));
    this.largest = Math.max(this.largest, ...sizes);
    return sizes;
  }

  /* Strains of links by meshes; the scale of their colours grows with the largest that was seen. */
  skins() {
    if (!this.viewer.robot || !this.viewer.robot.elastic.length) return null;
    this.strained = Math.max(this.strained || 0, this.viewer.robot.strained(this.nodes));
    return { positions: this.nodes, largest: this.strained };
  }

  say() {
    const { wall, simulated, cost, frames } = this.window;
    this.find("state").textContent = this.failed
      ? `The integrator stopped with status ${this.failed}: press Reset.`
      : `t = ${this.time.toFixed(1)} s, ${(simulated / wall).toFixed(2)} x real time, ${(cost / frames).toFixed(2)} ms of physics for a picture, ${(frames / wall).toFixed(0)} pictures/s`;
    this.window = { wall: 0, simulated: 0, cost: 0, frames: 0 };
  }

  advance(seconds) {
    if (!(seconds > 0)) return;
    const status = this.robot.go(seconds, this.setup.step);
    if (status === 0) this.time += seconds;
    else this.failed = status;
  }
}

/* The error function, which Math does not have: exp(-x^2) times a series of positive terms. */
function erf(x) {
  if (Math.abs(x) > 6) {
    return Math.sign(x);
  }
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n += 1) {
    term *= 2 * x * x / (2 * n + 1);
    sum += term;
  }
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}
