"use strict";

/* A robot as it is drawn where pictures take too long: plain light, few triangles, and all parts that keep their shape in a few
 * meshes, whose corners are moved here: a browser without a graphics card pays for every mesh. */
const QUICK_TRIANGLES = 12000; // of all meshes
const HIDDEN = 1; // the layer of parts that a pointer hits and the camera does not see

/* Parts that keep their shape, as one mesh. */
class Together {
  constructor(parts, geometryOf, look, flat) {
    this.pieces = parts.map((part) => ({ part, geometry: geometryOf(part), moved: part.matrix.clone().makeScale(0, 0, 0) }));
    const count = this.pieces.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0), faces = [], geometry = new THREE.BufferGeometry();
    const attribute = () => new THREE.BufferAttribute(new Float32Array(3 * count), 3), colors = attribute();
    this.places = attribute();
    this.normals = flat ? null : attribute();
    let first = 0;
    for (const { part, geometry: { index, attributes } } of this.pieces) {
      const { r, g, b } = part.material.color, n = attributes.position.count;
      for (let v = 0; v < n; v++) colors.setXYZ(first + v, r, g, b);
      for (let i = 0; i < (index ? index.count : n); i++) faces.push(first + (index ? index.getX(i) : i));
      first += n;
    }
    geometry.setIndex(faces);
    geometry.setAttribute("position", this.places);
    geometry.setAttribute("color", colors);
    if (!flat) geometry.setAttribute("normal", this.normals);
    this.mesh = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ ...look, vertexColors: !look.color, flatShading: flat }));
    this.mesh.frustumCulled = false;
    this.mesh.raycast = () => {};
  }

  /* Every part where it is now; what is hidden shrinks to a point. */
  show() {
    let first = 0, changed = false, any = false;
    for (const piece of this.pieces) {
      const { part, geometry: { attributes }, moved } = piece, n = attributes.position.count;
      if (part.matrixAutoUpdate) part.updateMatrix();
      const seen = part.visible && part.parent.visible, now = part.matrix.elements;
      any = any || seen;
      if (seen ? !moved.equals(part.matrix) : moved.elements[15] !== 0) {
        changed = true;
        moved.copy(part.matrix);
        if (!seen) moved.elements.fill(0);
        transformed(this.places.array, first, attributes.position.array, n, seen ? now : moved.elements, 4, 12);
        if (this.normals) transformed(this.normals.array, first, attributes.normal.array, n, part.normalMatrix.getNormalMatrix(part.matrix).elements, 3, -1);
      }
      first += n;
    }
    this.mesh.visible = any;
    if (!changed) return;
    this.places.needsUpdate = true;
    if (this.normals) this.normals.needsUpdate = true;
  }
}

/* n vectors by a matrix in columns of ``rows`` numbers, into an array from a vertex on; ``shift`` is where the origin stands. */
function transformed(into, first, from, n, m, rows, shift) {
  const [x, y, z] = shift < 0 ? [0, 0, 0] : [m[shift], m[shift + 1], m[shift + 2]];
  for (let v = 0; v < n; v++) {
    const a = from[3 * v], b = from[3 * v + 1], c = from[3 * v + 2], at = 3 * (first + v);
    into[at] = m[0] * a + m[rows] * b + m[2 * rows] * c + x;
    into[at + 1] = m[1] * a + m[rows + 1] * b + m[2 * rows + 1] * c + y;
    into[at + 2] = m[2] * a + m[rows + 2] * b + m[2 * rows + 2] * c + z;
  }
}

/* The parts of a robot, and how they look quickly. */
class QuickLook {
  constructor(solids, studio) {
    const parts = [], ghost = solids.look.ghost !== null, all = { side: THREE.DoubleSide };
    solids.group.traverse((part) => { if (part.isMesh) parts.push(part); });
    const skins = new Map(solids.skins.filter((solid) => !solid.bends).map((solid) => [solid.mesh, solid])), bent = new Set([...solids.beams, ...solids.elastic].map((solid) => solid.mesh));
    const alone = (part) => bent.has(part) || (!ghost && part.material.transparent);
    const { color, transparent, opacity, depthWrite, polygonOffset, polygonOffsetFactor, polygonOffsetUnits } = parts[0].material;
    const look = ghost ? { color, transparent, opacity, depthWrite, polygonOffset, polygonOffsetFactor, polygonOffsetUnits } : all;
    const shapes = Object.entries(studio.unit).map(([kind, shape]) => [shape, studio.few[kind]]), few = new Map(shapes);
    this.joined = parts.filter((part) => !alone(part));
    const kinds = [[(part) => skins.has(part), (part) => coarse(skins.get(part).skin, part.geometry), true], // bones are hidden together
      [(part) => !skins.has(part) && part !== solids.tip, (part) => few.get(part.geometry), false], [(part) => part === solids.tip, (part) => few.get(part.geometry), false]];
    this.together = kinds.map(([of, ...how]) => [this.joined.filter(of), ...how]).filter(([of]) => of.length)
      .map(([of, geometryOf, flat]) => new Together(of, geometryOf, look, flat));
    this.alone = parts.filter(alone).map((part) => {
      const skin = skins.get(part), fine = { material: part.material, geometry: part.geometry };
      const { vertexColors, side } = part.material, own = ghost ? look : { color: part.material.color, transparent: part.material.transparent, opacity: part.material.opacity };
      const material = new THREE.MeshLambertMaterial({ ...own, vertexColors, side, flatShading: Boolean(skin) || part.material.flatShading });
      return { part, fine, plain: { material, geometry: skin ? coarse(skin.skin, part.geometry) : part.geometry } };
    });
    for (const { mesh } of this.together) solids.group.add(mesh);
  }

  show(quick) {
    for (const part of this.joined) part.layers.set(quick ? HIDDEN : 0);
    for (const { part, fine, plain } of this.alone) Object.assign(part, quick ? plain : fine);
    for (const one of this.together) {
      one.mesh.visible = quick;
      if (quick) one.show();
    }
  }
}

/* The triangles of a skin, with vertices that are close to each other as one, and so few that all skins are quick to draw. */
function coarse(skin, fine) {
  if (skin.coarse) return skin.coarse;
  const whole = MESHES.reduce((sum, one) => sum + one.triangles.length, 0) / 16; // letters of base64 for a triangle
  const places = decode(skin.vertices, Float32Array), triangles = decode(skin.triangles, Uint32Array);
  const most = Math.max(60, triangles.length / 3 * QUICK_TRIANGLES / whole), low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  if (triangles.length / 3 <= most) return (skin.coarse = fine);
  places.forEach((x, i) => { low[i % 3] = Math.min(low[i % 3], x); high[i % 3] = Math.max(high[i % 3], x); });
  const side = Math.max(...high.map((x, k) => x - low[k])) || 1, one = new Uint32Array(places.length / 3);
  let found = [];
  for (let cells = 2 * Math.sqrt(most); cells >= 1; cells *= 0.8) {
    const first = new Map(), cell = (x, k) => Math.floor((x - low[k]) / side * cells);
    for (let i = 0; i < one.length; i++) {
      const key = (cell(places[3 * i], 0) * 4096 + cell(places[3 * i + 1], 1)) * 4096 + cell(places[3 * i + 2], 2);
      if (!first.has(key)) first.set(key, i);
      one[i] = first.get(key);
    }
    found = [];
    for (let i = 0; i < triangles.length; i += 3) {
      const [a, b, c] = [one[triangles[i]], one[triangles[i + 1]], one[triangles[i + 2]]];
      if (a !== b && b !== c && a !== c) found.push(a, b, c);
    }
    if (found.length / 3 <= most) break;
  }
  const kept = [...new Set(found)], number = new Map(kept.map((v, k) => [v, k])), corners = kept.flatMap((v) => [...places.subarray(3 * v, 3 * v + 3)]);
  skin.coarse = new THREE.BufferGeometry();
  skin.coarse.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(corners), 3));
  skin.coarse.setIndex(found.map((v) => number.get(v)));
  return skin.coarse;
}
