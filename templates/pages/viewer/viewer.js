"use strict";

const STANDS = 300; // [ms] without a new picture: what is shown stands still
const SUN = [0.9, 2.4, 1.3]; // where it is from the robot; y is up
const [SKY_LIGHT, SUN_LIGHT] = [1.9, 1.7];

/* A robot in a lit scene. Drag to turn it, use the wheel or two fingers to zoom, the right button or two fingers to move it.
 *
 * scene: {lines: [{nodes, kind: "rigid" | "beam", width, sides, section, first}], joints: [{node, axis, kind}], frames: [{name,
 * nodes}], skins: [{nodes, vertices, triangles, color}, or of links that bend {nodes, modes, ...}] in MESHES of the page, tip, planar, up, floor, size, center, half, labels}. */
class Viewer {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.scene = scene;
    this.context = canvas.getContext("2d");
    this.studio = Studio.get();
    this.shown = { shadows: true, bones: false };
    this.still = false; // whether all pictures are whole, however long they take
    if (this.studio === null) {
      canvas.replaceWith(Object.assign(document.createElement("p"), { className: "warning", textContent: "This browser has no WebGL, which the picture needs." }));
      return;
    }
    this.skins = MESHES.map((skin) => ({ skin, geometry: Viewer.geometry(skin) }));
    this.world = this.furnish();
    this.robot = new RobotSolids(this.studio, scene, this.skins);
    this.ghosts = [];
    this.world.add(this.robot.group);
    this.look();
    this.resize();
    new ResizeObserver(() => { this.resize(); this.render(); }).observe(canvas);
  }

  /* Meshes are decoded once for all drawings of a page. */
  static geometry(skin) {
    if (skin.modes) return null; // each drawing bends its own
    if (!skin.geometry) {
      const made = new THREE.BufferGeometry();
      made.setAttribute("position", new THREE.BufferAttribute(decode(skin.vertices, Float32Array), 3));
      made.setIndex(new THREE.BufferAttribute(decode(skin.triangles, Uint32Array), 1));
      skin.geometry = THREE.toCreasedNormals(made, 0.7);
    }
    return skin.geometry;
  }

  /* Light, a floor across the weight's direction, and a grid on it. */
  furnish() {
    const world = new THREE.Scene(), { size, floor } = this.scene, up = new THREE.Vector3(...this.scene.up);
    const turned = new THREE.Quaternion().setFromUnitVectors(UP, up), center = new THREE.Vector3(...this.scene.center);
    const foot = center.clone().addScaledVector(up, floor - center.dot(up)), sky = new THREE.Color(0xe9eef3);
    world.background = sky;
    world.fog = new THREE.Fog(sky, 7 * size, 15 * size);
    const skylight = new THREE.HemisphereLight(0xffffff, 0xc9d0d8, SKY_LIGHT);
    skylight.position.copy(up); // it shines from there
    world.add(skylight);
    const sun = new THREE.DirectionalLight(0xffffff, SUN_LIGHT);
    sun.position.copy(new THREE.Vector3(...SUN).applyQuaternion(turned).multiplyScalar(1.6 * size).add(center));
    sun.target.position.copy(center);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    const reach = 1.6 * size;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * size, far: 9 * size });
    sun.shadow.normalBias = 0.004 * size;
    sun.shadow.radius = 4;
    this.sun = sun;
    world.add(sun, sun.target);
    const behind = { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }; // of the grid's lines
    const lit = new THREE.MeshLambertMaterial({ color: COLORS.floor, ...behind }), ground = new THREE.Mesh(new THREE.CircleGeometry(16 * size, 64), lit);
    const light = (SKY_LIGHT + SUN_LIGHT * SUN[1] / Math.hypot(...SUN)) / Math.PI, plain = new THREE.MeshBasicMaterial({ color: COLORS.floor, ...behind });
    plain.color.multiplyScalar(light); // as the lit one where there is no shadow
    this.floor = { ground, lit, plain };
    ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
    ground.position.copy(foot).addScaledVector(up, -0.002 * size);
    ground.receiveShadow = true;
    this.step = 10 ** Math.round(Math.log10(0.25 * size));
    const cells = 2 * Math.ceil(5 * size / this.step), grid = new THREE.GridHelper(cells * this.step, cells, 0x9aa7b3, 0xcfd7de);
    grid.quaternion.copy(turned);
    grid.position.copy(foot).addScaledVector(up, -0.0005 * size);
    this.ground = new THREE.Group();
    this.ground.add(ground, grid);
    const post = this.post(up, turned);
    if (post) this.ground.add(post);
    world.add(this.ground);
    this.line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: COLORS.trace }));
    this.line.frustumCulled = false;
    this.arrows = new THREE.Group();
    world.add(this.line, this.arrows);
    return world;
  }

  /* What a fixed base stands on, where it is a little above the floor. */
  post(up, turned) {
    const { size, floor, base } = this.scene, high = base ? new THREE.Vector3(...base).dot(up) - floor : 0;
    if (high < 1e-3 * size || high > 0.4 * size) return null;
    const post = new SolidLook(this.studio, null).mesh("drum", COLORS.joint);
    post.quaternion.copy(turned);
    post.position.set(...base).addScaledVector(up, -high / 2);
    post.scale.set(0.06 * size, high, 0.06 * size);
    return post;
  }

  /* The camera, where it stands at first: in front of what is planar, else at the side and above. */
  look() {
    const { size, planar } = this.scene, up = new THREE.Vector3(...this.scene.up), center = new THREE.Vector3(...this.scene.center);
    this.camera = this.camera || new THREE.PerspectiveCamera(32, 1, 0.02 * size, 40 * size);
    const flat = Math.abs(up.z) > 0.9;
    const from = planar && flat ? new THREE.Vector3(0, -0.45, 1) : planar ? new THREE.Vector3(0.28, 0, 1).addScaledVector(up, 0.22) :
      new THREE.Vector3(0.95, -1.25, 0).addScaledVector(up, flat ? 0.62 : 0.4);
    if (!planar && !flat) from.set(0.6, 0.45, 1.2);
    this.camera.up.copy(up);
    from.normalize();
    this.camera.position.copy(center).addScaledVector(from, this.distance(from));
    if (!this.controls) {
      this.controls = new THREE.OrbitControls(this.camera, this.canvas);
      this.controls.addEventListener("change", () => this.render());
      this.controls.minDistance = 0.1 * size;
      this.controls.maxDistance = 12 * size;
      this.canvas.addEventListener("keydown", (event) => this.key(event));
    }
    this.controls.target.copy(center);
    this.controls.update();
  }

  /* From which, along a direction, the box around the robot fills the picture. */
  distance(direction) {
    const wide = (this.canvas.clientWidth || 600) / (this.canvas.clientHeight || 400), high = Math.tan(this.camera.fov * Math.PI / 360);
    const right = new THREE.Vector3().crossVectors(new THREE.Vector3(...this.scene.up), direction).normalize();
    const above = new THREE.Vector3().crossVectors(direction, right), [x, y, z] = this.scene.half;
    const needed = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
      const corner = new THREE.Vector3(k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z);
      return corner.dot(direction) + Math.max(Math.abs(corner.dot(right)) / (high * wide), Math.abs(corner.dot(above)) / high);
    });
    return 0.2 * this.scene.size + 1.06 * Math.max(...needed);
  }

  key(event) {
    const turn = { a: [-0.1, 0], d: [0.1, 0], w: [0, -0.1], s: [0, 0.1] }[event.key];
    if (event.key === "0") this.look();
    else if (event.key === "+" || event.key === "-") this.turn(0, 0, event.key === "+" ? 0.9 : 1 / 0.9);
    else if (turn) this.turn(...turn, 1);
    else return;
    event.preventDefault();
  }

  turn(around, over, nearer) {
    const { camera, controls } = this, arm = camera.position.clone().sub(controls.target);
    const up = new THREE.Vector3(...this.scene.up), side = new THREE.Vector3().crossVectors(up, arm).normalize();
    arm.applyAxisAngle(up, around).applyAxisAngle(side, over).multiplyScalar(nearer);
    camera.position.copy(controls.target).add(arm);
    controls.update();
    this.render();
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = this.canvas.clientWidth || 600;
    this.height = this.canvas.clientHeight || 400;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.camera.aspect = this.width / this.height;
    this.camera.updateProjectionMatrix();
  }

  /* positions: 3 numbers for each node; more: {strains, largest, skins, ghosts: [positions or null], trace: [x, y, z, ...], arrows:
   * [{from, to, text}], frames: shown or not, points: {names, values}}. */
  draw(positions, more = {}) {
    this.last = { positions, more };
    this.moved = true; // since its shadows were drawn
    if (this.studio === null) return;
    this.robot.bones(!this.robot.covered || this.shown.bones);
    this.robot.show(positions, more.strains, more.largest, more.skins);
    (more.ghosts || []).forEach((ghost, k) => this.ghost(ghost, k));
    this.trail(more.trace);
    this.forces(more.arrows || []);
    this.render();
  }

  ghost(positions, k) {
    if (!positions && !this.ghosts[k]) return;
    if (!this.ghosts[k]) {
      this.ghosts[k] = new RobotSolids(this.studio, this.scene, this.skins, COLORS.ghosts[k % COLORS.ghosts.length]);
      this.world.add(this.ghosts[k].group);
    }
    this.ghosts[k].group.visible = Boolean(positions);
    if (positions) this.ghosts[k].show(positions);
  }

  trail(points) {
    this.line.visible = Boolean(points) && points.length > 3;
    if (!this.line.visible) return;
    this.line.geometry.dispose();
    this.line.geometry = new THREE.BufferGeometry();
    this.line.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(points), 3));
  }

  /* Forces as shafts with heads; their numbers are written beside them. */
  forces(arrows) {
    const thick = 0.008 * this.scene.size, look = this.arrowLook || (this.arrowLook = new SolidLook(this.studio, null));
    while (this.arrows.children.length < 2 * arrows.length) this.arrows.add(look.mesh("rod", COLORS.force), look.mesh("cone", COLORS.force));
    this.arrows.children.forEach((part, k) => { part.visible = k < 2 * arrows.length; });
    arrows.forEach(({ from, to }, k) => {
      const a = new THREE.Vector3(...from), b = new THREE.Vector3(...to), [shaft, head] = this.arrows.children.slice(2 * k, 2 * k + 2);
      const along = b.clone().sub(a), length = along.length(), tip = Math.min(5 * thick, length), neck = b.clone().addScaledVector(along, -tip / (length || 1));
      placeBetween(shaft, a, neck, thick);
      placeBetween(head, neck, b, 2.4 * thick);
    });
  }

  /* Draws what was last shown; where pictures of a motion are poor, once more when it stands. */
  render(whole = this.still) {
    if (this.studio === null || !this.last) return;
    const quick = this.studio.quick && !whole;
    for (const robot of [this.robot, ...this.ghosts.filter(Boolean)]) robot.quick(quick);
    this.sun.castShadow = this.shown.shadows && !quick;
    this.floor.ground.material = quick ? this.floor.plain : this.floor.lit;
    this.ground.visible = this.camera.position.dot(new THREE.Vector3(...this.scene.up)) > this.scene.floor;
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.studio.picture(this.world, this.camera, this.context, this.canvas.width, this.canvas.height, whole, this.moved);
    if (this.sun.castShadow) this.moved = false;
    clearTimeout(this.again);
    if (!whole && this.studio.poor) this.again = setTimeout(() => this.render(true), STANDS);
    const ratio = this.canvas.width / this.width;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    new Overlay(this).draw(this.last.positions, this.last.more);
  }

  /* Where a place is on the canvas, in its pixels [x, y, depth]. */
  project(x, y, z) {
    const p = new THREE.Vector3(x, y, z).project(this.camera);
    return [(p.x + 1) / 2 * this.width, (1 - p.y) / 2 * this.height, p.z];
  }

  ray(event) {
    const box = this.canvas.getBoundingClientRect(), caster = new THREE.Raycaster();
    const at = new THREE.Vector2((event.clientX - box.left) / box.width * 2 - 1, 1 - (event.clientY - box.top) / box.height * 2);
    caster.setFromCamera(at, this.camera);
    caster.layers.enable(HIDDEN);
    return caster;
  }

  /* What a pointer hits of the robot: the nearest node of the part, and the place. null: nothing. */
  pick(event) {
    const hit = this.ray(event).intersectObject(this.robot.group, true).find(({ object }) => object.visible && object.parent.visible);
    if (!hit) return null;
    const { node, nodes } = hit.object.userData, { positions } = this.last;
    const away = (k) => hit.point.distanceTo(new THREE.Vector3(...positions.subarray(3 * k, 3 * k + 3)));
    const nearest = nodes ? nodes.reduce((best, k) => (away(k) < away(best) ? k : best)) : node === undefined ? this.scene.tip : node;
    return { node: nearest, point: hit.point };
  }
}
