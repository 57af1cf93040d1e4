"use strict";

/* What is written over a picture: axes of frames, names, numbers of forces, the size of the grid, the scale of strains. */
class Overlay {
  constructor(viewer) {
    this.viewer = viewer;
    this.g = viewer.context;
  }

  draw(positions, more) {
    const { g, viewer } = this;
    g.lineCap = "round";
    if (more.frames) this.frames(positions);
    if (more.points) this.points(more.points);
    for (const arrow of more.arrows || []) if (arrow.text) this.text(arrow.text, viewer.project(...arrow.to), "#80104f", 8, -6);
    const step = viewer.step;
    this.text(`grid ${step >= 1 ? `${step} m` : `${+(1000 * step).toPrecision(3)} mm`}`, [10, viewer.height - 10], "#495057", 0, 0);
    if (more.strains && more.largest > 0) this.scale(more.largest);
  }

  frames(positions) {
    const { g, viewer } = this, length = 0.11 * viewer.scene.size, named = [];
    const at = (node) => new THREE.Vector3(positions[3 * node], positions[3 * node + 1], positions[3 * node + 2]);
    for (const frame of viewer.scene.frames) {
      const columns = linkFrame(at, frame.nodes).elements, o = columns.slice(12, 15), start = viewer.project(...o);
      COLORS.axes.forEach((color, k) => {
        const end = viewer.project(...o.map((x, i) => x + length * columns[4 * k + i]));
        g.strokeStyle = color;
        g.lineWidth = 2.2;
        g.beginPath();
        g.moveTo(start[0], start[1]);
        g.lineTo(end[0], end[1]);
        g.stroke();
        this.text("xyz"[k], end, color, 3, -3);
      });
      named.push([frame.name, start]);
    }
    this.names(named, "#212529", 14);
  }

  points({ names, values }) {
    const { g, viewer } = this, places = names.map((name, k) => [name, viewer.project(...values.subarray(3 * k, 3 * k + 3))]);
    g.fillStyle = "#7b2d90";
    for (const [, [x, y]] of places) {
      g.beginPath();
      g.moveTo(x, y - 6);
      g.lineTo(x + 6, y);
      g.lineTo(x, y + 6);
      g.lineTo(x - 6, y);
      g.fill();
    }
    this.names(places, "#7b2d90", -8);
  }

  /* Names beside places; one that would cover another is left out. */
  names(named, color, lower) {
    const taken = [];
    for (const [name, [x, y]] of named) {
      const width = this.g.measureText(name).width, box = [x + 8, y + lower, x + 8 + width, y + lower + 13];
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      this.text(name, [x, y], color, 8, lower);
    }
  }

  text(words, [x, y], color, right, lower) {
    const { g } = this;
    g.font = "12px system-ui, sans-serif";
    g.lineWidth = 3;
    g.strokeStyle = "rgba(255, 255, 255, 0.85)";
    g.strokeText(words, x + right, y + lower);
    g.fillStyle = color;
    g.fillText(words, x + right, y + lower);
  }

  scale(largest) {
    const { g, viewer } = this, width = 120, left = viewer.width - width - 14, top = viewer.height - 30;
    for (let k = 0; k < width; k++) {
      g.fillStyle = `rgb(${strainColor(k / (width - 1)).map(Math.round).join(",")})`;
      g.fillRect(left + k, top, 1.5, 9);
    }
    this.text("curvature of beams", [left, top], "#212529", 0, -8);
    this.text("0", [left, top], "#212529", -10, 9);
    const most = `${largest.toPrecision(2)} /m`;
    this.text(most, [left + width, top], "#212529", -g.measureText(most).width, 20);
  }
}
