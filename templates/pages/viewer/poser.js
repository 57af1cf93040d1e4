"use strict";

/* A robot whose joints move by sliders; nodes is its kinematics, a function of q. */
class Poser {
  constructor(root, scene, nodes, start) {
    this.root = root;
    this.nodes = nodes;
    this.start = start;
    this.q = start.slice();
    this.viewer = new Viewer(root.querySelector("canvas.robot"), scene);
    this.find = (name) => root.querySelector(`[data-role="${name}"]`);
    this.sliders = [...root.querySelectorAll("input[data-joint]")];
    for (const slider of this.sliders) slider.addEventListener("input", () => { this.q[slider.dataset.joint] = Number(slider.value); this.show(); });
    for (const box of root.querySelectorAll(".show input")) box.addEventListener("input", () => this.show());
    this.find("home").addEventListener("click", () => this.go(this.start));
    this.viewer.canvas.addEventListener("keydown", (event) => {
      const box = { f: "frames", b: "bones", l: "shadows", h: "home" }[event.key];
      if (box && this.find(box)) this.find(box).click();
    });
    this.go(start);
  }

  go(q) {
    this.q = q.slice();
    for (const slider of this.sliders) slider.value = q[slider.dataset.joint];
    this.show();
  }

  show() {
    for (const slider of this.sliders) {
      const turn = slider.dataset.unit === "rad" ? ` (${(Number(slider.value) * 180 / Math.PI).toFixed(0)}°)` : "";
      slider.nextElementSibling.textContent = `${Number(slider.value).toFixed(2)} ${slider.dataset.unit}${turn}`;
    }
    const shown = (name) => Boolean(this.find(name)) && this.find(name).checked;
    Object.assign(this.viewer.shown, { shadows: shown("shadows"), bones: shown("bones") });
    const nodes = this.nodes(this.q), at = 3 * this.viewer.scene.tip;
    this.find("tip").textContent = `tip at ${Array.from(nodes.subarray(at, at + 3), (x) => x.toFixed(3)).join(", ")} m`;
    this.viewer.draw(nodes, { frames: shown("frames") });
  }
}
