"use strict";

/* A robot drawn on a canvas: nodes in space [m], polylines through them, marks of joints, traces. Drag to turn it, use the
 * wheel or two fingers to zoom, press the right button (or hold shift) to move it.
 *
 * scene: {lines: [{nodes, kind: "rigid" | "beam", width}], joints: [{node, kind}], tip, planar, radius, center}. MESHES of the page:
 * [{nodes, vertices, triangles}], the nodes at the origin of a link's frame and one metre along its axes; with them lines are thin. */
class Viewer {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.scene = scene;
    this.context = canvas.getContext("2d");
    this.azimuth = scene.planar ? -Math.PI / 2 : -0.9;
    this.elevation = scene.planar ? Math.PI / 2 : 0.42;
    this.zoom = 1;
    this.shift = [0, 0];
    this.meshes = (typeof MESHES === "undefined" ? [] : MESHES).map((mesh) => {
      const vertices = decode(mesh.vertices, Float32Array), triangles = decode(mesh.triangles, Uint32Array);
      return { nodes: mesh.nodes, vertices, triangles, screen: new Float32Array(vertices.length) };
    });
    this.listen();
    this.resize();
    new ResizeObserver(() => { this.resize(); this.redraw(); }).observe(canvas);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth || 600;
    this.height = this.canvas.clientHeight || 400;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  listen() {
    const touches = new Map();
    let gap = 0;
    this.canvas.style.touchAction = "none";
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener("pointerdown", (event) => {
      if (this.grab && this.grab("down", event)) return;
      this.canvas.setPointerCapture(event.pointerId);
      touches.set(event.pointerId, [event.clientX, event.clientY]);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.grab && this.grab("move", event)) return;
      const before = touches.get(event.pointerId);
      if (!before) return;
      const moved = [event.clientX - before[0], event.clientY - before[1]];
      touches.set(event.pointerId, [event.clientX, event.clientY]);
      if (touches.size === 2) {
        const [a, b] = [...touches.values()];
        const now = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (gap > 0) this.zoom = Math.min(20, Math.max(0.1, this.zoom * now / gap));
        gap = now;
      } else if (event.shiftKey || event.buttons === 2) {
        this.shift[0] += moved[0];
        this.shift[1] += moved[1];
      } else {
        this.azimuth -= moved[0] * 0.01;
        this.elevation = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.elevation + moved[1] * 0.01));
      }
      this.redraw();
    });
    const release = (event) => {
      if (this.grab) this.grab("up", event);
      touches.delete(event.pointerId);
      gap = 0;
    };
    this.canvas.addEventListener("pointerup", release);
    this.canvas.addEventListener("pointercancel", release);
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom = Math.min(20, Math.max(0.1, this.zoom * Math.exp(-event.deltaY * 0.001)));
      this.redraw();
    }, { passive: false });
  }

  /* Unit vectors of the screen in space: to the right, up, towards the eye. */
  axes() {
    const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
    return { right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], eye: [ce * ca, ce * sa, se] };
  }

  /* Pixels per metre at the robot's middle. */
  scale() {
    return 0.46 * Math.min(this.width, this.height) / this.scene.radius * this.zoom;
  }

  project(x, y, z) {
    const { right, up, eye } = this.frame, c = this.scene.center, far = 6 * this.scene.radius;
    const p = [x - c[0], y - c[1], z - c[2]];
    const along = (axis) => axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2];
    const depth = along(eye), near = far / Math.max(far - depth, 0.05 * far), s = this.pixels * near;
    return [this.width / 2 + this.shift[0] + along(right) * s, this.height / 2 + this.shift[1] - along(up) * s, depth, near];
  }

  /* positions: 3 numbers for each node; more: {ghost: positions, trace: [x, y, z, ...], arrow: [from, to], frames and points:
   * {names, values}}. */
  draw(positions, more = {}) {
    this.last = [positions, more];
    const g = this.context;
    this.frame = this.axes();
    this.pixels = this.scale();
    g.clearRect(0, 0, this.width, this.height);
    g.lineCap = g.lineJoin = "round";
    this.grid();
    if (more.trace && more.trace.length > 3) this.path(more.trace, "#d9480f", 1.5);
    if (more.ghost) this.robot(more.ghost, { rigid: "#b8c0c8", beam: "#b8c0c8", ghost: true });
    if (this.meshes.length) this.skin(positions);
    this.robot(positions, { rigid: "#3b4a5a", beam: "#1971c2", ghost: false });
    if (more.frames) this.triads(more.frames);
    if (more.points) this.labels(more.points);
    if (more.arrow) this.arrow(more.arrow[0], more.arrow[1]);
  }

  redraw() {
    if (this.last) this.draw(this.last[0], this.last[1]);
  }

  grid() {
    const g = this.context, r = this.scene.radius, step = 10 ** Math.floor(Math.log10(r)), n = Math.ceil(1.2 * r / step);
    g.lineWidth = 1;
    for (let k = -n; k <= n; k++) {
      g.strokeStyle = k === 0 ? "#ced4da" : "#e9ecef";
      for (const [from, to] of [[[k * step, -n * step], [k * step, n * step]], [[-n * step, k * step], [n * step, k * step]]]) {
        const a = this.project(from[0], from[1], 0), b = this.project(to[0], to[1], 0);
        g.beginPath();
        g.moveTo(a[0], a[1]);
        g.lineTo(b[0], b[1]);
        g.stroke();
      }
    }
    g.fillStyle = "#868e96";
    g.font = "12px system-ui, sans-serif";
    ["x", "y", "z"].forEach((name, k) => {
      const end = [0, 0, 0];
      end[k] = 0.35 * r;
      const a = this.project(0, 0, 0), b = this.project(end[0], end[1], end[2]);
      if (Math.hypot(b[0] - a[0], b[1] - a[1]) < 8) return;
      g.strokeStyle = ["#e03131", "#2f9e44", "#1c7ed6"][k];
      g.beginPath();
      g.moveTo(a[0], a[1]);
      g.lineTo(b[0], b[1]);
      g.stroke();
      g.fillText(name, b[0] + 4, b[1] - 4);
    });
    g.fillText(`grid ${step >= 1 ? step + " m" : step * 1000 + " mm"}`, 10, this.height - 10);
  }

  path(points, color, width) {
    const g = this.context;
    g.strokeStyle = color;
    g.lineWidth = width;
    g.beginPath();
    for (let k = 0; k < points.length; k += 3) {
      const p = this.project(points[k], points[k + 1], points[k + 2]);
      if (k === 0) g.moveTo(p[0], p[1]);
      else g.lineTo(p[0], p[1]);
    }
    g.stroke();
  }

  /* The meshes, far triangles first, each as bright as it faces the eye. */
  skin(positions) {
    const g = this.context, { eye } = this.frame, parts = [];
    for (const mesh of this.meshes) {
      const at = (k) => [0, 1, 2].map((i) => positions[3 * mesh.nodes[k] + i]);
      const o = at(0), axes = [1, 2, 3].map((k) => at(k).map((value, i) => value - o[i])), v = mesh.vertices, s = mesh.screen;
      const world = new Float32Array(v.length);
      for (let k = 0; k < v.length; k += 3) {
        for (let i = 0; i < 3; i++) world[k + i] = o[i] + v[k] * axes[0][i] + v[k + 1] * axes[1][i] + v[k + 2] * axes[2][i];
        const p = this.project(world[k], world[k + 1], world[k + 2]);
        s[k] = p[0]; s[k + 1] = p[1]; s[k + 2] = p[2];
      }
      for (let k = 0; k < mesh.triangles.length; k += 3) {
        const [a, b, c] = [3 * mesh.triangles[k], 3 * mesh.triangles[k + 1], 3 * mesh.triangles[k + 2]];
        const u = [0, 1, 2].map((i) => world[b + i] - world[a + i]), w = [0, 1, 2].map((i) => world[c + i] - world[a + i]);
        const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
        const facing = Math.abs(n[0] * eye[0] + n[1] * eye[1] + n[2] * eye[2]) / (Math.hypot(n[0], n[1], n[2]) || 1);
        parts.push({ depth: s[a + 2] + s[b + 2] + s[c + 2], s, a, b, c, light: Math.round(128 + 100 * facing) });
      }
    }
    parts.sort((p, q) => p.depth - q.depth);
    g.lineWidth = 0.7;
    for (const { s, a, b, c, light } of parts) {
      g.fillStyle = g.strokeStyle = `rgb(${light - 14}, ${light - 5}, ${light})`;
      g.beginPath();
      g.moveTo(s[a], s[a + 1]);
      g.lineTo(s[b], s[b + 1]);
      g.lineTo(s[c], s[c + 1]);
      g.closePath();
      g.fill();
      g.stroke();
    }
  }

  /* The axes of frames, 3 rows of 4 numbers each, with their names. */
  triads({ names, values }) {
    const g = this.context, length = 0.09 * this.scene.radius;
    names.forEach((name, k) => {
      const f = values.subarray(12 * k, 12 * k + 12), o = this.project(f[3], f[7], f[11]);
      ["#e03131", "#2f9e44", "#1c7ed6"].forEach((color, i) => {
        const end = this.project(f[3] + length * f[i], f[7] + length * f[4 + i], f[11] + length * f[8 + i]);
        g.strokeStyle = color;
        g.lineWidth = 1.8;
        g.beginPath();
        g.moveTo(o[0], o[1]);
        g.lineTo(end[0], end[1]);
        g.stroke();
      });
    });
    this.write(names.map((name, k) => [name, values[12 * k + 3], values[12 * k + 7], values[12 * k + 11]]), "#495057", -7);
  }

  /* Points of interest: a diamond and a name each. */
  labels({ names, values }) {
    const g = this.context;
    g.fillStyle = "#9c36b5";
    names.forEach((name, k) => {
      const [x, y] = this.project(values[3 * k], values[3 * k + 1], values[3 * k + 2]);
      g.beginPath();
      g.moveTo(x, y - 5);
      g.lineTo(x + 5, y);
      g.lineTo(x, y + 5);
      g.lineTo(x - 5, y);
      g.fill();
    });
    this.write(names.map((name, k) => [name, values[3 * k], values[3 * k + 1], values[3 * k + 2]]), "#9c36b5", 14);
  }

  /* Names beside places; one that would cover another is left out. */
  write(named, color, lower) {
    const g = this.context, taken = [];
    g.fillStyle = color;
    g.font = "11px system-ui, sans-serif";
    for (const [name, ...place] of named) {
      const [x, y] = this.project(...place), box = [x + 7, y + lower, x + 7 + g.measureText(name).width, y + lower + 12];
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      g.fillText(name, box[0], box[1]);
    }
  }

  robot(positions, colors) {
    const parts = [], at = (node) => this.project(positions[3 * node], positions[3 * node + 1], positions[3 * node + 2]);
    for (const line of this.scene.lines) {
      const points = line.nodes.map(at);
      for (let k = 1; k < points.length; k++) {
        parts.push({ depth: (points[k - 1][2] + points[k][2]) / 2, points: [points[k - 1], points[k]], line });
      }
    }
    for (const joint of colors.ghost ? [] : this.scene.joints) {
      const point = at(joint.node);
      parts.push({ depth: point[2] + 0.02 * this.scene.radius, points: [point], joint });
    }
    parts.sort((a, b) => a.depth - b.depth);
    for (const part of parts) this.part(part, colors);
    if (!colors.ghost && this.scene.tip >= 0) this.dot(at(this.scene.tip), "#d9480f", 4);
  }

  part(part, colors) {
    const g = this.context;
    if (part.joint) {
      this.mark(part.points[0], part.joint.kind);
      return;
    }
    const [a, b] = part.points, thin = this.meshes.length && part.line.kind === "rigid";
    const width = thin ? 1.5 : Math.max(1.5, part.line.width * this.pixels * (a[3] + b[3]) / 2);
    g.strokeStyle = colors[part.line.kind];
    g.globalAlpha = colors.ghost ? 0.55 : 1;
    g.lineWidth = colors.ghost ? Math.max(1, width / 2) : width;
    g.beginPath();
    g.moveTo(a[0], a[1]);
    g.lineTo(b[0], b[1]);
    g.stroke();
    g.globalAlpha = 1;
  }

  mark(point, kind) {
    const g = this.context, large = 0.022 * this.scene.radius * this.pixels * point[3];
    const size = this.meshes.length ? 3 : Math.max(4, large);
    g.fillStyle = "#ffffff";
    g.strokeStyle = "#212529";
    g.lineWidth = 1.5;
    g.beginPath();
    if (kind === "slide") g.rect(point[0] - size, point[1] - size, 2 * size, 2 * size);
    else g.arc(point[0], point[1], size, 0, 2 * Math.PI);
    g.fill();
    g.stroke();
  }

  dot(point, color, size) {
    const g = this.context;
    g.fillStyle = color;
    g.beginPath();
    g.arc(point[0], point[1], size, 0, 2 * Math.PI);
    g.fill();
  }

  arrow(from, to) {
    const g = this.context, a = this.project(...from), b = this.project(...to);
    const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
    g.strokeStyle = g.fillStyle = "#c2255c";
    g.lineWidth = 2.5;
    g.beginPath();
    g.moveTo(a[0], a[1]);
    g.lineTo(b[0], b[1]);
    g.stroke();
    g.beginPath();
    g.moveTo(b[0], b[1]);
    g.lineTo(b[0] - 11 * Math.cos(angle - 0.4), b[1] - 11 * Math.sin(angle - 0.4));
    g.lineTo(b[0] - 11 * Math.cos(angle + 0.4), b[1] - 11 * Math.sin(angle + 0.4));
    g.fill();
  }
}

/* An array of little-endian numbers that the page carries as base64 text. */
function decode(text, type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new type(bytes.buffer);
}
