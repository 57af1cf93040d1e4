/* What the viewer uses of three.js: ``make viewer`` bundles it into three.min.js beside this file. */
export {
  BufferAttribute, BufferGeometry, CircleGeometry, Color, ConeGeometry,
  CylinderGeometry, DirectionalLight, DoubleSide, Fog, GridHelper, Group, HemisphereLight, BoxGeometry, Line,
  LineBasicMaterial, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, MeshStandardMaterial, PCFShadowMap, PerspectiveCamera, Quaternion,
  Raycaster, Scene, SphereGeometry, SRGBColorSpace, Vector2, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
