"use strict";

/* Plays recorded motions in a viewer: data = {times, nodes, positions, still, ghosts: [positions], trace, strains, forces, points,
 * pointNames, plots}. Positions are those of every node in every picture; ``still`` are those of the robot that does not deform,
 * at the same joint coordinates (null: it never does). Deformation is drawn as still + factor * (positions - still), and between
 * two pictures everything goes straight on. A ghost that is null is the robot that does not deform. */
class Player {
  constructor(root, scene, data) {
    this.root = root;
    this.data = data;
    this.viewer = new Viewer(root.querySelector("canvas.robot"), scene);
    this.find = (name) => root.querySelector(`[data-role="${name}"]`);
    this.moment = data.times[0];
    this.playing = false;
    data.still = data.still || data.positions;
    data.ghosts = data.ghosts.map((ghost) => ghost || data.still);
    this.largest = data.strains ? data.strains.reduce((most, value) => Math.max(most, value), 0) : 0;
    this.skins = this.find("strains") && this.viewer.robot ? this.strained() : 0;
    this.plots = this.find("plots") ? new Plots(this.find("plots"), data, (moment) => this.seek(moment)) : null;
    this.connect();
    this.show();
  }

  /* The largest strain of links by meshes, in some of the pictures. */
  strained() {
    const { data, viewer } = this, n = 3 * data.nodes, count = data.times.length, step = Math.max(1, Math.floor(count / 50));
    let most = 0;
    for (let k = 0; k < count; k += step) most = Math.max(most, viewer.robot.strained(data.positions.subarray(k * n, (k + 1) * n)));
    return most > 1e-6 ? most : 0; // below is what rounding leaves of a robot that does not deform
  }

  connect() {
    const { data } = this, slider = this.find("time");
    slider.max = String(data.times.length - 1);
    slider.addEventListener("input", () => this.seek(data.times[Number(slider.value)]));
    this.find("play").addEventListener("click", () => this.toggle());
    for (const input of this.root.querySelectorAll(".show input")) input.addEventListener("input", () => this.show());
    this.root.addEventListener("keydown", (event) => this.key(event));
    if (this.find("record")) this.find("record").addEventListener("change", (event) => record(this, event.target));
  }

  key(event) {
    if (event.target.matches("input, select, button") && event.key !== "Escape") return;
    const { times } = this.data, k = this.picture(this.moment), boxes = { f: "frames", t: "trace", g: "ghost0", b: "bones", l: "shadows", o: "forces" };
    const steps = { ArrowLeft: Math.max(k - 1, 0), ArrowRight: Math.min(k + 1, times.length - 1), Home: 0, End: times.length - 1 };
    if (event.key === " ") this.toggle();
    else if (event.key in steps) this.seek(times[steps[event.key]]);
    else if (event.key in boxes && this.find(boxes[event.key])) this.find(boxes[event.key]).click();
    else return;
    event.preventDefault();
  }

  seek(moment) {
    this.moment = moment;
    this.show();
  }

  toggle() {
    this.playing = !this.playing;
    this.find("play").textContent = this.playing ? "Pause" : "Play";
    const { times } = this.data, last = times[times.length - 1];
    if (this.playing && this.moment >= last) this.moment = times[0];
    let before = performance.now();
    const next = (now) => {
      if (!this.playing) return;
      this.moment += Math.max(now - before, 0) / 1000 * Number(this.find("speed").value);
      before = now;
      if (this.moment >= last) {
        this.moment = last;
        if (this.find("again") && this.find("again").checked && last > times[0]) this.moment = times[0];
        else this.toggle();
      }
      this.show();
      requestAnimationFrame(next);
    };
    if (this.playing) requestAnimationFrame(next);
  }

  /* The number of the last picture that is not after this moment. */
  picture(moment) {
    const { times } = this.data;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= moment + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /* So many numbers of an array at this moment. */
  now(values, size) {
    const { times } = this.data, k = this.picture(this.moment), next = Math.min(k + 1, times.length - 1);
    const a = values.subarray(k * size, (k + 1) * size), b = values.subarray(next * size, (next + 1) * size);
    const part = next > k ? Math.min(Math.max((this.moment - times[k]) / (times[next] - times[k]), 0), 1) : 0;
    return part === 0 ? a : a.map((value, i) => value + part * (b[i] - value));
  }

  shown(name) {
    return Boolean(this.find(name)) && this.find(name).checked;
  }

  show() {
    const { data, viewer } = this, n = 3 * data.nodes, factor = this.find("factor") ? Number(this.find("factor").value) : 1;
    const k = this.picture(this.moment), still = this.now(data.still, n);
    this.find("time").value = String(k);
    this.find("clock").textContent = `${this.moment.toFixed(3)} s`;
    if (this.find("largest")) this.find("largest").textContent = this.skins && this.shown("strains") ? `bright: strain ${this.skins.toPrecision(2)}` : "";
    if (this.find("factor")) this.find("times").textContent = `${factor} x`;
    this.mixed = this.now(data.positions, n).map((value, i) => still[i] + factor * (value - still[i]));
    viewer.shown.shadows = this.find("shadows") ? this.shown("shadows") : true;
    viewer.shown.bones = this.shown("bones");
    viewer.draw(this.mixed, {
      strains: data.strains && this.shown("strains") ? this.now(data.strains, data.strains.length / data.times.length) : null,
      largest: this.largest,
      skins: this.shown("strains") && this.skins ? { positions: this.now(data.positions, n), largest: this.skins } : null,
      ghosts: data.ghosts.map((ghost, i) => (this.shown(`ghost${i}`) ? this.now(ghost, n) : null)),
      trace: this.shown("trace") ? data.trace.subarray(0, 3 * (k + 1)) : null,
      arrows: this.shown("forces") ? this.arrows() : [],
      frames: this.shown("frames"),
      points: this.shown("points") ? { names: data.pointNames, values: this.now(data.points, 3 * data.pointNames.length) } : null,
    });
    if (this.plots) this.plots.show(this.moment);
  }

  /* Forces and torques of the drives along their axes: the largest of each unit is as long as a third of the robot. */
  arrows() {
    const { data, viewer } = this, joints = viewer.scene.joints.filter((joint) => joint.force >= 0), count = data.forces.length / data.times.length;
    const most = {}, values = this.now(data.forces, count);
    for (const { force, unit } of joints) {
      for (let i = force; i < data.forces.length; i += count) most[unit] = Math.max(most[unit] || 0, Math.abs(data.forces[i]));
    }
    return joints.filter(({ force, unit }) => Math.abs(values[force]) > 1e-3 * most[unit]).map(({ node, axis, force, unit }) => {
      const from = Array.from(this.mixed.subarray(3 * node, 3 * node + 3)), end = this.mixed.subarray(3 * axis, 3 * axis + 3);
      const length = 0.65 * viewer.scene.size * values[force] / most[unit];
      return { from, to: from.map((x, i) => x + length * (end[i] - x)), text: `${values[force].toPrecision(3)} ${unit}` };
    });
  }
}
