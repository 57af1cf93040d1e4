"use strict";

/* Plays recorded motions in a viewer: data = {times, nodes, positions, still, ghost, trace, frames, frameNames, points, pointNames}.
 * Positions are those of every node in every picture; ``still`` are those of the robot that does not deform, at the same joint
 * coordinates (null: it never does); ``ghost`` those of the rigid robot of the same numbers (null: the one that does not deform).
 * Deformation is drawn as still + factor * (positions - still). */
class Player {
  constructor(root, scene, data) {
    this.data = data;
    this.viewer = new Viewer(root.querySelector("canvas.robot"), scene);
    this.find = (name) => root.querySelector(`[data-role="${name}"]`);
    this.moment = 0;
    this.playing = false;
    this.mixed = new Float32Array(3 * data.nodes);
    const slider = this.find("time"), factor = this.find("factor");
    slider.max = String(data.times.length - 1);
    slider.addEventListener("input", () => { this.moment = data.times[Number(slider.value)]; this.show(); });
    this.find("play").addEventListener("click", () => this.toggle());
    data.still = data.still || data.positions;
    data.ghost = data.ghost || data.still;
    for (const name of ["ghost", "trace", "frames", "points"]) if (this.find(name)) this.find(name).addEventListener("change", () => this.show());
    if (factor) factor.addEventListener("input", () => this.show());
    this.show();
  }

  toggle() {
    this.playing = !this.playing;
    this.find("play").textContent = this.playing ? "Pause" : "Play";
    const last = this.data.times[this.data.times.length - 1];
    if (this.playing && this.moment >= last) this.moment = this.data.times[0];
    let before = performance.now();
    const next = (now) => {
      if (!this.playing) return;
      this.moment += (now - before) / 1000 * Number(this.find("speed").value);
      before = now;
      if (this.moment >= last) {
        this.moment = last;
        this.toggle();
      }
      this.show();
      requestAnimationFrame(next);
    };
    if (this.playing) requestAnimationFrame(next);
  }

  /* The number of the last picture that is not after this moment. */
  picture() {
    const times = this.data.times;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= this.moment + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  show() {
    const { data } = this, k = this.picture(), n = 3 * data.nodes, factor = this.find("factor") ? Number(this.find("factor").value) : 1;
    this.find("time").value = String(k);
    this.find("clock").textContent = `${data.times[k].toFixed(3)} s`;
    for (let i = 0; i < n; i++) {
      const still = data.still[k * n + i];
      this.mixed[i] = still + factor * (data.positions[k * n + i] - still);
    }
    if (this.find("factor")) this.find("times").textContent = `${factor} x`;
    const shown = (name) => this.find(name) && this.find(name).checked;
    const part = (values, size) => values.subarray(k * size, (k + 1) * size);
    this.viewer.draw(this.mixed, {
      ghost: shown("ghost") ? part(data.ghost, n) : null,
      trace: shown("trace") ? data.trace.subarray(0, 3 * (k + 1)) : null,
      frames: shown("frames") ? { names: data.frameNames, values: part(data.frames, 12 * data.frameNames.length) } : null,
      points: shown("points") ? { names: data.pointNames, values: part(data.points, 3 * data.pointNames.length) } : null,
    });
  }
}
