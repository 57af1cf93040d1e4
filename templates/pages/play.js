"use strict";

/* A robot whose emitted C runs in the page. setup: {nq, nv, nodes, parameters, start, kp, kd, step, names, units}. */
class Playground {
  constructor(root, scene, setup, wasm) {
    this.root = root;
    this.setup = setup;
    this.find = (name) => root.querySelector(`[data-role="${name}"]`);
    this.viewer = new Viewer(root.querySelector("canvas.robot"), scene);
    this.viewer.grab = (kind, event) => this.grab(kind, event);
    this.running = true;
    this.pull = null;
    this.cost = 0;
    this.frames = 0;
    const functions = ["pow", "atan2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
      "atanh", "exp", "log"];
    const bytes = decode(wasm, Uint8Array);
    const math = Object.fromEntries(functions.map((name) => [name, Math[name]]));
    WebAssembly.instantiate(bytes, { math: { ...math, erf } }).then((made) => {
      this.robot = made.instance.exports;
      this.robot.start();
      this.reset();
      this.connect();
      this.before = performance.now();
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
    this.array("held", 1)[0] = this.find("hold").checked ? 1 : 0;
    this.time = 0;
    this.failed = 0;
    for (const slider of this.root.querySelectorAll("input[data-target]")) slider.value = setup.targets[slider.dataset.target];
    this.label();
  }

  connect() {
    this.find("run").addEventListener("click", () => {
      this.running = !this.running;
      this.find("run").textContent = this.running ? "Pause" : "Run";
    });
    this.find("reset").addEventListener("click", () => this.reset());
    this.find("hold").addEventListener("change", (event) => { this.array("held", 1)[0] = event.target.checked ? 1 : 0; });
    for (const slider of this.root.querySelectorAll("input[data-target]")) {
      slider.addEventListener("input", () => {
        this.array("target_positions", this.setup.nv)[slider.dataset.target] = Number(slider.value);
        this.label();
      });
    }
    for (const slider of this.root.querySelectorAll("input[data-parameter]")) {
      slider.addEventListener("input", () => {
        this.array("live_parameters", this.setup.parameters)[slider.dataset.parameter] = Number(slider.value);
        this.label();
      });
    }
  }

  label() {
    for (const slider of this.root.querySelectorAll(".panels input")) {
      const shown = slider.nextElementSibling;
      if (shown.dataset.unit === undefined) shown.dataset.unit = shown.textContent;
      shown.textContent = `${Number(slider.value).toPrecision(3)} ${shown.dataset.unit}`;
    }
  }

  tip() {
    const at = 3 * this.viewer.scene.tip;
    return Array.from(this.nodes.subarray(at, at + 3));
  }

  /* Pull at the tip: the force points from the tip to the pointer, in the plane of the screen. */
  grab(kind, event) {
    if (!this.nodes || kind === "up") {
      const pulled = this.pull !== null;
      this.pull = null;
      return pulled;
    }
    const box = this.viewer.canvas.getBoundingClientRect(), tip = this.tip(), seen = this.viewer.project(...tip);
    const [dx, dy] = [event.clientX - box.left - seen[0], event.clientY - box.top - seen[1]];
    if (kind === "down" && Math.hypot(dx, dy) > 26) return false;
    if (kind === "move" && this.pull === null) return false;
    if (kind === "down") this.viewer.canvas.setPointerCapture(event.pointerId);
    const { right, up } = this.viewer.axes(), s = this.viewer.scale() * seen[3];
    this.pull = tip.map((x, k) => (right[k] * dx - up[k] * dy) / s);
    return true;
  }

  frame(now) {
    const seconds = Math.min((now - this.before) / 1000, 1 / 30), began = performance.now();
    this.before = now;
    const strength = Number(this.find("strength").value) / 20 * this.setup.push;
    const push = this.array("push_force", 3);
    push.set(this.pull ? this.pull.map((x) => x * strength) : [0, 0, 0]);
    if (this.running && !this.failed) this.advance(seconds);
    this.nodes = new Float64Array(this.robot.memory.buffer, this.robot.draw(), 3 * this.setup.nodes);
    const tip = this.tip();
    this.viewer.draw(this.nodes, { arrow: this.pull ? [tip, tip.map((x, k) => x + this.pull[k])] : null });
    this.cost += performance.now() - began;
    if (++this.frames % 20 === 0) {
      this.find("state").textContent = this.failed
        ? `The integrator stopped with status ${this.failed}: press Reset.`
        : `t = ${this.time.toFixed(1)} s, ${(this.cost / 20).toFixed(2)} ms for physics and drawing of a picture`;
      this.cost = 0;
    }
    requestAnimationFrame((next) => this.frame(next));
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
