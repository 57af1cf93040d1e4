"use strict";

/* What all drawings of a page have in common: one WebGL renderer, whose pictures are copied to the canvases, so that a page may
 * have any number of them; colours that differ in brightness too; and the numbers that the page carries as base64 text. */
const COLORS = {
  rigid: 0x8796a5, joint: 0x2d3a4a, tip: 0xd55e00, floor: 0xe4e9ed, trace: "#d55e00", force: 0xb0247a,
  axes: ["#c92a2a", "#2b8a3e", "#1864ab"], ghosts: [0x5f6b76, 0x0072b2, 0x009e73, 0xcc79a7],
};
/* Dark to bright as well as blue to yellow: read the same without colour vision. */
const SLOW = 30; // [ms] for a picture
const STRAIN = [[32, 72, 132], [72, 96, 130], [112, 122, 124], [155, 149, 116], [204, 188, 100], [254, 232, 56]];

class Studio {
  static get() {
    if (Studio.only === undefined) Studio.only = Studio.open();
    return Studio.only;
  }

  /* null where the browser has no WebGL. */
  static open() {
    try {
      const renderer = new THREE.WebGLRenderer({ antialias: true });
      renderer.shadowMap.enabled = true;
      renderer.shadowMap.autoUpdate = false;
      renderer.shadowMap.type = THREE.PCFShadowMap;
      return new Studio(renderer);
    } catch (error) {
      return null;
    }
  }

  constructor(renderer) {
    this.renderer = renderer;
    this.plain = null; // of quick pictures, without smoothed edges
    this.part = 1; // of the pixels of a canvas, along each side
    this.cost = 0; // of a picture, a moving mean [ms]
    this.quick = false; // whether pictures of a motion are simpler: no shadows, plain light, coarse meshes
    this.fast = 0; // pictures in a row that took little time
    this.patience = 45; // so many of them, and better ones are tried again
    this.unit = Studio.shapes(20, 14, 32);
    this.few = Studio.shapes(8, 6, 14); // the same shapes, for quick pictures
  }

  /* Shapes of size 1, of so many sides. */
  static shapes(round, high, drum) {
    return {
      rod: new THREE.CylinderGeometry(1, 1, 1, round, 1), ball: new THREE.SphereGeometry(1, round, high),
      box: new THREE.BoxGeometry(2, 2, 2), cone: new THREE.ConeGeometry(1, 1, round), drum: new THREE.CylinderGeometry(1, 1, 1, drum, 1),
    };
  }

  /* A picture of a scene in so many pixels, copied to a 2D context; ``moved``: its shadows are others than before. Where pictures
   * take too long, as those of a browser that draws without a graphics card do, those of a motion have fewer pixels, and at last are
   * quick ones; ``whole`` ones never are. */
  picture(scene, camera, context, width, height, whole, moved) {
    const renderer = this.quick && !whole ? this.quickRenderer() : this.renderer, size = renderer.getSize(new THREE.Vector2()), part = whole ? 1 : this.part;
    const [w, h] = [width, height].map((pixels) => Math.round(pixels * part)), began = performance.now();
    if (size.x !== w || size.y !== h) renderer.setSize(w, h, false);
    renderer.shadowMap.needsUpdate = moved;
    renderer.render(scene, camera);
    context.drawImage(renderer.domElement, 0, 0, width, height);
    if (!whole) this.judge(performance.now() - began);
  }

  /* A picture of a motion took so long [ms]: are the next ones simpler, or better? What was too slow is tried again ever later. */
  judge(took) {
    this.cost += 0.2 * (took - this.cost);
    this.fast = this.cost < SLOW / 5 ? this.fast + 1 : 0;
    if (this.cost >= SLOW && this.part > 0.5) [this.part, this.cost] = [Math.max(0.5, 0.8 * this.part), 0];
    else if (this.cost >= SLOW && !this.quick) [this.quick, this.cost, this.patience] = [true, 0, 2 * this.patience];
    else if (this.poor && this.fast > this.patience) {
      if (this.quick) this.quick = false;
      else this.part = Math.min(1, this.part / 0.8);
      this.fast = 0;
    }
  }

  quickRenderer() {
    if (!this.plain) this.plain = new THREE.WebGLRenderer({ antialias: false });
    return this.plain;
  }

  /* Whether pictures of a motion are less than they can be: one that stands is then drawn again, whole. */
  get poor() {
    return this.quick || this.part < 1;
  }
}

/* A place in the table of strains, 0 to 1, as red, green and blue from 0 to 255. */
function strainColor(part) {
  const at = Math.min(Math.max(part, 0), 1) * (STRAIN.length - 1), k = Math.min(Math.floor(at), STRAIN.length - 2);
  return STRAIN[k].map((low, i) => low + (at - k) * (STRAIN[k + 1][i] - low));
}

/* An array of little-endian numbers that the page carries as base64 text; null for none. */
function decode(text, type) {
  if (!text) return null;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new type(bytes.buffer);
}
