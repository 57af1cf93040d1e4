"use strict";

/* Small plots over time beside a motion, with a line at its moment. data.plots: [{label, lines: [{name, values}]}]; lines differ by
 * their dashes as well as by their colours. A click goes to its time. */
class Plots {
  constructor(root, data, seek) {
    this.data = data;
    this.size = [300, 120];
    this.below = 14; // for the ends of the time
    const ranges = data.plots.map((plot) => Plots.range(plot.lines));
    this.left = 9 + 6 * Math.max(...ranges.flatMap(({ labels }) => labels.map((text) => text.length))); // numbers stand beside the lines
    this.shown = data.plots.map((plot, k) => this.plot(root, plot, ranges[k], seek));
  }

  /* The lowest and highest value of a plot's lines, and what is written at them. */
  static range(lines) {
    const all = lines.flatMap((line) => Array.from(line.values)).filter(Number.isFinite);
    let [low, high] = [Math.min(...all.slice(0, 1)), Math.max(...all.slice(0, 1))];
    for (const value of all) [low, high] = [Math.min(low, value), Math.max(high, value)];
    const ticks = high > low ? [high, low] : [low];
    if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
    return { low, high, ticks, labels: ticks.map((value) => Plots.short(value, high - low)) };
  }

  static element(name, attributes, parent) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return parent.appendChild(made);
  }

  plot(root, plot, { low, high, ticks, labels }, seek) {
    const { times } = this.data, { left, size: [width, height] } = this, figure = root.appendChild(document.createElement("figure"));
    const caption = figure.appendChild(document.createElement("figcaption"));
    caption.textContent = plot.label;
    const span = times[times.length - 1] - times[0] || 1;
    const x = (t) => left + (t - times[0]) / span * (width - left - 4), y = (value) => 4 + (high - value) / (high - low) * (height - 8);
    const svg = Plots.element("svg", { viewBox: `0 0 ${width} ${height + this.below}`, role: "img", "aria-label": plot.label }, figure);
    if (low < 0 && high > 0) Plots.element("line", { x1: left, x2: width - 4, y1: y(0), y2: y(0), stroke: "#adb5bd", "stroke-dasharray": "2 3" }, svg);
    plot.lines.forEach((line, k) => {
      const points = Array.from(line.values).map((value, i) => `${x(times[i]).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
      Plots.element("polyline", { points, fill: "none", stroke: Plots.color(k), "stroke-width": 1.6, "stroke-dasharray": Plots.dash(k) }, svg);
    });
    const cursor = Plots.element("line", { y1: 2, y2: height - 2, stroke: "#212529", "stroke-width": 1.2 }, svg);
    ticks.forEach((value, k) => {
      Plots.element("text", { x: left - 5, y: Math.min(Math.max(y(value) + 4, 12), height - 3), "text-anchor": "end", class: "tick" }, svg).textContent = labels[k];
    });
    for (const [time, at, anchor] of [[times[0], left, "start"], [times[times.length - 1], width - 4, "end"]]) {
      Plots.element("text", { x: at, y: height + 10, "text-anchor": anchor, class: "tick" }, svg).textContent = `${Number(time.toPrecision(4))} s`;
    }
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect(), part = ((event.clientX - box.left) / box.width * width - left) / (width - left - 4);
      seek(times[0] + Math.min(Math.max(part, 0), 1) * span);
    });
    const legend = figure.appendChild(document.createElement("ul"));
    const values = plot.lines.map((line, k) => {
      const item = legend.appendChild(document.createElement("li"));
      const sample = Plots.element("svg", { viewBox: "0 0 26 8", class: "sample" }, item);
      Plots.element("line", { x1: 1, x2: 25, y1: 4, y2: 4, stroke: Plots.color(k), "stroke-width": 2, "stroke-dasharray": Plots.dash(k) }, sample);
      item.append(` ${line.name} `);
      return { line, output: item.appendChild(document.createElement("output")) };
    });
    return { cursor, x, values };
  }

  /* A number beside a range of this size, in few letters. */
  static short(value, range) {
    if (Math.abs(value) < 1e-9 * range) return "0";
    return Math.abs(value) < 1e-3 || Math.abs(value) >= 1e4 ? value.toExponential(1) : `${Number(value.toPrecision(3))}`;
  }

  static color(k) {
    return ["#0072b2", "#d55e00", "#009e73", "#a3457c", "#7a5c00", "#212529"][k % 6];
  }

  static dash(k) {
    return ["none", "7 3", "2 2", "9 3 2 3", "12 4", "4 4"][k % 6];
  }

  show(moment) {
    const { times } = this.data;
    let k = 0;
    while (k + 1 < times.length && times[k + 1] <= moment + 1e-9) k++;
    for (const { cursor, x, values } of this.shown) {
      cursor.setAttribute("x1", x(moment));
      cursor.setAttribute("x2", x(moment));
      for (const { line, output } of values) output.textContent = line.values[k].toPrecision(4);
    }
  }
}
