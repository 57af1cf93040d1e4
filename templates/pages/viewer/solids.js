"use strict";

/* Solids that follow nodes: rods between them, beams along them, meshes in the frames that they span, marks of joints.
 * Each has show(at), where at(node) is a place as THREE.Vector3, and parts, what a pointer can hit. */

const UP = new THREE.Vector3(0, 1, 0);
const BARE = [111, 135, 168]; // a beam whose strains are not shown

/* The frame of a link from its nodes: the origin and one metre along y and z. */
function linkFrame(at, [origin, alongY, alongZ]) {
  const o = at(origin), y = at(alongY).sub(o).normalize(), z = at(alongZ).sub(o), x = new THREE.Vector3().crossVectors(y, z).normalize();
  z.crossVectors(x, y);
  return new THREE.Matrix4().makeBasis(x, y, z).setPosition(o);
}

function placeBetween(mesh, a, b, radius) {
  const along = b.clone().sub(a), length = along.length();
  mesh.visible = length > 1e-3 * radius;
  if (!mesh.visible) return;
  mesh.position.copy(a).addScaledVector(along, 0.5);
  mesh.quaternion.setFromUnitVectors(UP, along.divideScalar(length));
  mesh.scale.set(radius, length, radius);
}

/* A rigid link: rods from node to node, with round ends. */
class Rods {
  constructor(line, look) {
    this.line = line;
    this.group = new THREE.Group();
    this.rods = line.nodes.slice(1).map(() => look.mesh("rod"));
    this.ends = line.nodes.map(() => look.mesh("ball"));
    this.group.add(...this.rods, ...this.ends);
    this.rods.forEach((rod, k) => { rod.userData.node = line.nodes[k + 1 === this.rods.length ? k + 1 : k]; }); // the last is the child's
  }

  show(at) {
    const places = this.line.nodes.map(at), radius = this.line.width / 2;
    this.rods.forEach((rod, k) => placeBetween(rod, places[k], places[k + 1], radius));
    this.ends.forEach((end, k) => {
      end.position.copy(places[k]);
      end.scale.setScalar(radius);
    });
  }
}

/* A flexible link as a solid: its section, a rounded rectangle, at every node; sides are nodes one metre along z of the section. */
class Beam {
  constructor(line, look) {
    this.line = line;
    const n = line.nodes.length, corners = this.corners(), m = corners.length, faces = [];
    this.ring = corners;
    for (let k = 0; k + 1 < n; k++) {
      for (let i = 0; i < m; i++) {
        const j = (i + 1) % m, [a, b, c, d] = [k * m + i, k * m + j, (k + 1) * m + i, (k + 1) * m + j];
        faces.push(a, c, b, b, c, d);
      }
    }
    for (let i = 1; i + 1 < m; i++) faces.push(0, i, i + 1, (n - 1) * m, (n - 1) * m + i + 1, (n - 1) * m + i);
    this.geometry = new THREE.BufferGeometry();
    this.geometry.setIndex(faces);
    this.places = new THREE.BufferAttribute(new Float32Array(3 * n * m), 3);
    this.colors = new THREE.BufferAttribute(new Float32Array(3 * n * m).fill(1), 3);
    this.geometry.setAttribute("position", this.places);
    this.geometry.setAttribute("color", this.colors);
    this.mesh = look.solid(this.geometry);
    this.mesh.frustumCulled = false;
    this.mesh.userData.nodes = line.nodes;
    this.group = new THREE.Group();
    this.group.add(this.mesh);
  }

  corners() {
    const [y, z] = this.line.section, round = 0.35 * Math.min(y, z), found = [];
    for (const [sy, sz, start] of [[1, 1, 0], [-1, 1, 1], [-1, -1, 2], [1, -1, 3]]) {
      for (let i = 0; i < 4; i++) {
        const angle = (start + i / 3) * Math.PI / 2;
        found.push([sy * (y - round) + round * Math.cos(angle), sz * (z - round) + round * Math.sin(angle)]);
      }
    }
    return found;
  }

  show(at, strains, largest) {
    const { nodes, sides } = this.line, places = nodes.map(at), last = nodes.length - 1;
    let index = 0;
    for (let k = 0; k <= last; k++) {
      const tangent = places[Math.min(k + 1, last)].clone().sub(places[Math.max(k - 1, 0)]).normalize();
      const z = at(sides[k]).sub(places[k]), y = new THREE.Vector3().crossVectors(z, tangent).normalize();
      z.crossVectors(tangent, y).normalize();
      const color = strains ? strainColor(largest > 0 ? strains[this.line.first + k] / largest : 0) : BARE;
      for (const [a, b] of this.ring) {
        const p = places[k];
        this.places.setXYZ(index, p.x + a * y.x + b * z.x, p.y + a * y.y + b * z.y, p.z + a * y.z + b * z.z);
        this.colors.setXYZ(index, ...color.map((part) => (part / 255) ** 2.2));
        index++;
      }
    }
    this.places.needsUpdate = this.colors.needsUpdate = true;
    this.geometry.computeVertexNormals();
    this.geometry.computeBoundingSphere();
  }
}

/* A mesh or a primitive that a description gives a link. */
class Skin {
  constructor(skin, geometry, look) {
    this.nodes = skin.nodes;
    this.mesh = look.solid(geometry, skin.color);
    this.mesh.matrixAutoUpdate = false;
    this.mesh.userData.node = skin.nodes[0];
    this.skin = skin;
    this.group = new THREE.Group();
    this.group.add(this.mesh);
  }

  show(at) {
    this.mesh.matrix.copy(linkFrame(at, this.nodes));
    this.mesh.matrixWorldNeedsUpdate = true;
  }
}

/* The surface of a link by a mesh: nodes that its joint holds carry its frame, other nodes tell its elastic coordinates. */
class ElasticSkin {
  constructor(skin, look) {
    this.skin = skin;
    this.bends = true;
    if (!skin.decoded) {
      for (const key of ["vertices", "displacements", "strains", "places", "solution"]) skin[key] = decode(skin[key], Float32Array);
      skin.triangles = decode(skin.triangles, Uint32Array);
      skin.decoded = true;
    }
    this.geometry = new THREE.BufferGeometry();
    this.places = new THREE.BufferAttribute(new Float32Array(skin.vertices), 3);
    this.colors = new THREE.BufferAttribute(new Float32Array(skin.vertices.length).fill(1), 3);
    this.geometry.setIndex(new THREE.BufferAttribute(skin.triangles, 1));
    this.geometry.setAttribute("position", this.places);
    this.geometry.setAttribute("color", this.colors);
    this.mesh = look.solid(this.geometry);
    this.mesh.material.flatShading = true;
    this.mesh.matrixAutoUpdate = false;
    this.mesh.frustumCulled = false;
    this.mesh.userData.nodes = skin.nodes;
    this.group = new THREE.Group();
    this.group.add(this.mesh);
  }

  /* The frame of the link if its held nodes were where they belong. */
  frame(at) {
    const basis = (a, b, c) => {
      const e = b.clone().sub(a).normalize(), n = new THREE.Vector3().crossVectors(e, c.clone().sub(a)).normalize();
      return new THREE.Matrix4().makeBasis(e, n, new THREE.Vector3().crossVectors(e, n)).setPosition(a);
    };
    const own = basis(...[0, 1, 2].map((k) => new THREE.Vector3(...this.skin.places.subarray(3 * k, 3 * k + 3))));
    return basis(...this.skin.nodes.slice(0, 3).map(at)).multiply(own.invert());
  }

  /* Frame and elastic coordinates by least squares; twice, as the frame may turn by what its nodes move. */
  state(at) {
    const { nodes, places, solution, modes } = this.skin, rows = 3 * nodes.length;
    let frame = this.frame(at), found = null;
    for (let round = 0; round < 2; round++) {
      const inward = frame.clone().invert(), moved = nodes.flatMap((node, k) => {
        const p = at(node).applyMatrix4(inward);
        return [p.x - places[3 * k], p.y - places[3 * k + 1], p.z - places[3 * k + 2]];
      });
      found = Array.from({ length: 6 + modes }, (_, j) => moved.reduce((sum, value, row) => sum + solution[j * rows + row] * value, 0));
      const turn = new THREE.Vector3(...found.slice(3, 6)), angle = turn.length(), axis = angle > 0 ? turn.divideScalar(angle) : UP;
      frame = frame.multiply(new THREE.Matrix4().makeRotationAxis(axis, angle).setPosition(...found.slice(0, 3)));
    }
    return { frame, x: Float64Array.from(found.slice(6)) };
  }

  /* Von Mises' strain sqrt(2/3 e:e) of every vertex at elastic coordinates x. */
  equivalent(x) {
    const { strains, vertices } = this.skin, count = vertices.length / 3, found = new Float32Array(count), e = new Float64Array(6);
    for (let v = 0; v < count; v++) {
      e.fill(0);
      for (let j = 0; j < x.length; j++) for (let c = 0; c < 6; c++) e[c] += strains[6 * (j * count + v) + c] * x[j];
      const mean = (e[0] + e[1] + e[2]) / 3;
      const sum = (e[0] - mean) ** 2 + (e[1] - mean) ** 2 + (e[2] - mean) ** 2 + 2 * (e[3] ** 2 + e[4] ** 2 + e[5] ** 2);
      found[v] = Math.sqrt(2 / 3 * sum);
    }
    return found;
  }

  /* The largest strain at a state of the nodes. */
  largest(at) {
    return this.equivalent(this.state(at).x).reduce((most, value) => Math.max(most, value), 0);
  }

  /* At nodes as drawn; colours are those of the state that ``actual`` gives, if they are shown. */
  show(at, colored) {
    const { frame, x } = this.state(at), { vertices, displacements } = this.skin, n = vertices.length, array = this.places.array;
    array.set(vertices);
    for (let j = 0; j < x.length; j++) for (let i = 0; i < n; i++) array[i] += displacements[j * n + i] * x[j];
    this.places.needsUpdate = true;
    const strains = colored ? this.equivalent(this.state(colored.at).x) : null;
    for (let v = 0; v < n / 3; v++) {
      const color = strains ? strainColor(colored.largest > 0 ? strains[v] / colored.largest : 0) : BARE;
      this.colors.setXYZ(v, ...color.map((part) => (part / 255) ** 2.2));
    }
    this.colors.needsUpdate = true;
    this.geometry.computeBoundingSphere();
    this.mesh.matrix.copy(frame);
    this.mesh.matrixWorldNeedsUpdate = true;
  }
}

/* A joint: a drum about its axis, or a block that slides. */
class JointMark {
  constructor(joint, size, look) {
    this.joint = joint;
    this.size = size;
    this.mesh = look.mesh(joint.kind === "slide" ? "box" : joint.axis < 0 ? "ball" : "drum", COLORS.joint);
    this.mesh.userData.node = joint.node;
    this.group = new THREE.Group();
    this.group.add(this.mesh);
  }

  show(at) {
    const { joint, size, mesh } = this, place = at(joint.node);
    mesh.position.copy(place);
    if (joint.axis >= 0) mesh.quaternion.setFromUnitVectors(UP, at(joint.axis).sub(place).normalize());
    if (joint.kind === "slide") mesh.scale.set(size, 1.4 * size, size);
    else mesh.scale.set(size, joint.axis < 0 ? size : 2.2 * size, size);
  }
}

/* How a robot's solids are made: its own materials, or one that lets others show through. */
class SolidLook {
  constructor(studio, ghost) {
    this.studio = studio;
    this.ghost = ghost;
  }

  material(color, more = {}) {
    if (this.ghost !== null) {
      const behind = { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }; // where both are at one place
      return new THREE.MeshStandardMaterial({ color: this.ghost, transparent: true, opacity: 0.3, depthWrite: false, roughness: 0.9, ...behind });
    }
    return new THREE.MeshStandardMaterial({ color, roughness: 0.5, metalness: 0.12, side: THREE.DoubleSide, ...more });
  }

  mesh(kind, color = COLORS.rigid) {
    return this.lit(new THREE.Mesh(this.studio.unit[kind], this.material(color)));
  }

  /* With a colour, or with that of each vertex. */
  solid(geometry, rgba) {
    if (!rgba) return this.lit(new THREE.Mesh(geometry, this.material(0xffffff, { vertexColors: true, metalness: 0.0, roughness: 0.6 })));
    const [r, g, b, a] = rgba, color = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
    return this.lit(new THREE.Mesh(geometry, this.material(color, a < 1 ? { transparent: true, opacity: a } : {})));
  }

  lit(mesh) {
    mesh.castShadow = this.ghost === null;
    mesh.receiveShadow = this.ghost === null;
    return mesh;
  }
}

/* A whole robot. Where a link has a skin, the rods of its skeleton are hidden. */
class RobotSolids {
  constructor(studio, scene, skins, ghost = null) {
    const look = new SolidLook(studio, ghost);
    this.look = look;
    this.scene = scene;
    this.group = new THREE.Group();
    this.rods = scene.lines.filter((line) => line.kind === "rigid").map((line) => new Rods(line, look));
    this.beams = scene.lines.filter((line) => line.kind === "beam").map((line) => new Beam(line, look));
    this.joints = ghost === null ? scene.joints.map((joint) => new JointMark(joint, 0.03 * scene.size, look)) : [];
    this.elastic = skins.filter(({ skin }) => skin.modes).map(({ skin }) => new ElasticSkin(skin, look));
    this.skins = [...skins.filter(({ skin }) => !skin.modes).map(({ skin, geometry }) => new Skin(skin, geometry, look)), ...this.elastic];
    this.covered = this.skins.length > this.elastic.length; // links that are drawn as they look need no rods
    this.tip = look.mesh("ball", COLORS.tip);
    this.tip.userData.node = scene.tip;
    this.bones(!this.covered);
    for (const solid of [...this.rods, ...this.beams, ...this.joints, ...this.skins]) this.group.add(solid.group);
    this.group.add(this.tip);
  }

  bones(visible) {
    for (const solid of [...this.rods, ...this.joints]) solid.group.visible = visible;
  }

  static places(positions) {
    return (node) => new THREE.Vector3(positions[3 * node], positions[3 * node + 1], positions[3 * node + 2]);
  }

  /* The largest strain of links by meshes at these nodes. */
  strained(positions) {
    return Math.max(0, ...this.elastic.map((skin) => skin.largest(RobotSolids.places(positions))));
  }

  /* strains of beams by their largest one; skins: {positions, largest} without enlargement, for links by meshes. */
  show(positions, strains, largest, skins) {
    const at = RobotSolids.places(positions), colored = skins ? { at: RobotSolids.places(skins.positions), largest: skins.largest } : null;
    for (const solid of [...this.rods, ...this.joints, ...this.skins]) if (solid.group.visible) solid.show(at, colored);
    for (const beam of this.beams) beam.show(at, strains, largest);
    this.tip.position.copy(at(this.scene.tip));
    const { size } = this.scene, hidden = this.scene.joints.some(({ node }) => at(node).distanceTo(this.tip.position) < 0.03 * size);
    this.tip.scale.setScalar((this.covered || this.elastic.length ? 0.015 : hidden ? 0.05 : 0.038) * size);
  }

  quick(quick) {
    if (!quick && !this.plain) return;
    if (!this.plain) this.plain = new QuickLook(this, this.look.studio);
    this.plain.show(quick);
  }
}
