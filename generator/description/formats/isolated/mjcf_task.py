"""Compiles MJCF by MuJoCo itself, in the process of :mod:`.process`, and answers with the numbers of the compiled model.

The text comes without includes, textures and what else only draws or senses, but for colours. Mesh files that inertia is
computed from are asked for by name (an answer ``need``) and come with the next request: this process opens no file of the
description.
"""

import base64
import os
from collections.abc import Callable
from typing import Any

_TETRAHEDRON = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]  # in place of meshes that have no part
SHAPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")
UNPAINTED = [0.5, 0.5, 0.5, 1.0]  # what MuJoCo gives geoms without a colour, whose material then shows


def answer(request: dict[str, Any], text_of: Callable[[str, int], str], close: Callable[[], None]) -> dict[str, Any]:
    """The compiled model as plain lists; or the meshes it needs; or what MuJoCo says is wrong."""
    import mujoco

    mujoco.MjSpec()  # loads what it needs
    close()
    try:
        spec = mujoco.MjSpec.from_string(request["xml"])
        drawn = _drawn(spec, mujoco)
        needed = _prepared(spec, mujoco)
        if needed and request["meshes"] is None:
            return {"need": needed}
        for mesh in spec.meshes:
            if mesh.name in needed:
                mesh.file = mesh.name.encode().hex() + os.path.splitext(mesh.file)[1]
                spec.assets[mesh.file] = base64.b64decode(request["meshes"][mesh.name])
        spec.meshdir = ""
        model = spec.compile()
    except Exception as problem:  # of MuJoCo, of Python in between: the caller names the file
        return {"error": str(problem) or type(problem).__name__}
    looks = [_look(geom, given, model, mujoco) for geom, given in drawn]
    return {"model": {**_numbers(model, mujoco), "looks": looks}, "need": {}}


def _drawn(spec: Any, mujoco: Any) -> list[tuple[Any, dict[str, Any]]]:
    """The geoms that pictures show, with what preparing takes away from them or compiling does not say."""
    shapes = {getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}"): name for name in SHAPES}
    meshes = {mesh.name: mesh for mesh in spec.meshes}
    colors = {material.name: [round(part, 6) for part in material.rgba.tolist()] for material in spec.materials}
    found = []
    for geom in spec.geoms:
        mesh = meshes.get(geom.meshname)
        shape = "mesh" if geom.meshname else shapes.get(geom.type)
        if shape is None or (geom.meshname and (mesh is None or not mesh.file)):
            continue
        painted = [round(part, 6) for part in geom.rgba.tolist()]
        color = colors.get(geom.material) if painted == UNPAINTED else painted
        given = {"shape": shape, "color": color, "group": int(geom.group)}
        if mesh is not None:
            given |= {"file": _file(spec, mesh), "scale": mesh.scale.tolist()}
            given |= {"refpos": mesh.refpos.tolist(), "refquat": mesh.refquat.tolist()}
        found.append((geom, given))
    return found


def _look(geom: Any, given: dict[str, Any], model: Any, mujoco: Any) -> dict[str, Any]:
    """A geom where the compiled model has it; ``moved``: how the compiler moved a mesh whose inertia counts."""
    i = int(geom.id)
    given |= {"body": int(model.geom_bodyid[i]) - 1, "pos": model.geom_pos[i].tolist(), "quat": model.geom_quat[i].tolist()}
    if given["shape"] != "mesh":
        return {**given, "size": model.geom_size[i].tolist()}
    mesh = int(model.geom_dataid[i]) if int(model.geom_type[i]) == int(mujoco.mjtGeom.mjGEOM_MESH) else -1
    return {**given, "moved": [model.mesh_pos[mesh].tolist(), model.mesh_quat[mesh].tolist()] if mesh >= 0 else None}


def _file(spec: Any, mesh: Any) -> str:
    """The file of a mesh, seen from the folder of the description."""
    return os.path.basename(mesh.file) if spec.strippath else os.path.join(spec.compiler.meshdir or "", mesh.file)


def _prepared(spec: Any, mujoco: Any) -> dict[str, str]:
    """Leave what dynamics are computed from; return the files of the meshes among it, by the names of the meshes."""
    compiler = spec.compiler
    spec.compiler.fusestatic = spec.compiler.discardvisual = spec.compiler.usethread = False
    low, high = compiler.inertiagrouprange
    whole = compiler.settotalmass > 0  # then what does not move counts as well
    kinds = mujoco.mjtGeom
    for body in list(spec.bodies):
        counts = (whole or _moves(body)) and (compiler.inertiafromgeom == 1 or not body.explicitinertial)
        counts = counts and compiler.inertiafromgeom != 0
        for geom in list(body.geoms):
            weight = counts and low <= geom.group <= high and geom.mass != 0 and (geom.mass > 0 or geom.density != 0)
            if geom.type == kinds.mjGEOM_HFIELD or (geom.meshname and not weight):  # deleting takes 40 ms each
                geom.type, geom.size, geom.mass = kinds.mjGEOM_SPHERE, [1, 0, 0], 0
                geom.meshname = geom.hfieldname = ""
    for actuator in list(spec.actuators):
        if not any(_any(getattr(actuator, key, 0)) for key in ("armature", "damping", "dampingpoly")):
            spec.delete(actuator)
    used = {geom.meshname for geom in spec.geoms if geom.meshname}
    for mesh in spec.meshes:
        if mesh.name not in used:
            mesh.file, mesh.uservert = "", _TETRAHEDRON
    return {mesh.name: _file(spec, mesh) for mesh in spec.meshes if mesh.file}


def _any(value: Any) -> bool:
    """Whether a number, or one of several, is not 0."""
    return any(value) if hasattr(value, "__iter__") else bool(value)


def _moves(body: Any) -> bool:
    while body.name != "world":  # whose parent older versions of MuJoCo crash on
        if body.joints:
            return True
        body = body.parent
    return False


def _numbers(model: Any, mujoco: Any) -> dict[str, Any]:
    kinds = {int(value): name[len("mjJNT_") :].lower() for name, value in mujoco.mjtJoint.__members__.items()}
    ties = {int(value): name[len("mjEQ_") :].lower() for name, value in mujoco.mjtEq.__members__.items()}
    acts = _acting(int(model.opt.disableflags), mujoco)
    found: dict[str, Any] = {
        "gravity": model.opt.gravity.tolist() if acts["gravity"] else [0.0, 0.0, 0.0],
        "fluid": [float(model.opt.density), float(model.opt.viscosity)] if acts["passive"] else [0.0, 0.0],
        "flexes": int(model.nflex),
        "bodies": [_body(model, i) for i in range(1, model.nbody)],
        "joints": [_joint(model, i, kinds) for i in range(model.njnt)],
        "equalities": [_equality(model, i, ties, mujoco) for i in range(model.neq) if model.eq_active0[i] and acts["equality"]],
        "tendons": [_tendon(model, i, mujoco) for i in range(model.ntendon)],
        "sites": [_site(model, i) for i in range(model.nsite)],
        "actuators": [_actuator(model, i, mujoco) for i in range(model.nu)],
    }
    for group in ("joints", "tendons", "actuators"):
        for numbers in found[group]:
            numbers |= {key: 0.0 for key in ("stiffness", "damping", "frictionloss") if key in numbers and not acts[key]}
            numbers |= {"dampingpoly": []} if not acts["damping"] else {}
    if not acts["gravity"] or not acts["passive"]:
        for body in found["bodies"]:
            body["gravcomp"] = 0.0
    return found


def _acting(disabled: int, mujoco: Any) -> dict[str, bool]:
    """What the flags of the file leave on, as MuJoCo reads them."""

    def on(name: str) -> bool:
        bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", None)
        return bit is None or not disabled & int(bit)

    if not on("PASSIVE"):  # in older versions one flag for springs and dampers
        spring = damper = False
    else:
        spring, damper = on("SPRING"), on("DAMPER")
    return {
        "gravity": on("GRAVITY"), "equality": on("EQUALITY") and on("CONSTRAINT"), "stiffness": spring, "damping": damper,
        "frictionloss": on("FRICTIONLOSS") and on("CONSTRAINT"), "passive": spring or damper,
    }  # fmt: skip


def _body(model: Any, i: int) -> dict[str, Any]:
    return {
        "name": model.body(i).name, "parent": int(model.body_parentid[i]) - 1, "pos": model.body_pos[i].tolist(),
        "quat": model.body_quat[i].tolist(), "mass": float(model.body_mass[i]), "ipos": model.body_ipos[i].tolist(),
        "iquat": model.body_iquat[i].tolist(), "inertia": model.body_inertia[i].tolist(),
        "gravcomp": float(model.body_gravcomp[i]), "mocap": int(model.body_mocapid[i]) >= 0,
    }  # fmt: skip


def _joint(model: Any, i: int, kinds: dict[int, str]) -> dict[str, Any]:
    dof, place = int(model.jnt_dofadr[i]), int(model.jnt_qposadr[i])
    poly, springs = _poly(model, "dof_dampingpoly", dof), _poly(model, "jnt_stiffnesspoly", i)
    return {
        "name": model.joint(i).name, "type": kinds[int(model.jnt_type[i])], "body": int(model.jnt_bodyid[i]) - 1,
        "pos": model.jnt_pos[i].tolist(), "axis": model.jnt_axis[i].tolist(), "reference": float(model.qpos0[place]),
        "range": model.jnt_range[i].tolist() if model.jnt_limited[i] else None, "armature": float(model.dof_armature[dof]),
        "damping": float(model.dof_damping[dof]), "frictionloss": float(model.dof_frictionloss[dof]), "dampingpoly": poly,
        "stiffness": float(model.jnt_stiffness[i]) or max(springs, key=abs, default=0.0),
    }  # fmt: skip


def _equality(model: Any, i: int, ties: dict[int, str], mujoco: Any) -> dict[str, Any]:
    kind = ties[int(model.eq_type[i])]
    ends = [int(model.eq_obj1id[i]), int(model.eq_obj2id[i])]
    by_site = int(model.eq_objtype[i]) == int(mujoco.mjtObj.mjOBJ_SITE)
    return {
        "name": model.equality(i).name, "type": kind, "ends": ends, "data": model.eq_data[i].tolist(), "sites": by_site,
    }  # fmt: skip


def _site(model: Any, i: int) -> dict[str, Any]:
    return {
        "body": int(model.site_bodyid[i]) - 1, "pos": model.site_pos[i].tolist(), "quat": model.site_quat[i].tolist(),
    }  # fmt: skip


def _tendon(model: Any, i: int, mujoco: Any) -> dict[str, Any]:
    start, count = int(model.tendon_adr[i]), int(model.tendon_num[i])
    parts = range(start, start + count)
    plain = all(int(model.wrap_type[k]) == int(mujoco.mjtWrap.mjWRAP_JOINT) for k in parts)
    joints = [[int(model.wrap_objid[k]), float(model.wrap_prm[k])] for k in parts] if plain else None
    keys = ("stiffness", "damping", "armature", "frictionloss")
    springs = _poly(model, "tendon_stiffnesspoly", i)
    found = {key: float(getattr(model, f"tendon_{key}", [0.0] * (i + 1))[i]) for key in keys}
    found["stiffness"] = found["stiffness"] or max(springs, key=abs, default=0.0)
    powers = _poly(model, "tendon_dampingpoly", i)
    return {"name": model.tendon(i).name or f"tendon{i + 1}", **found, "dampingpoly": powers, "joints": joints}


def _actuator(model: Any, i: int, mujoco: Any) -> dict[str, Any]:
    """Its joint, if it is on one with one coordinate, and what that has of it through the gear."""
    on, joint = int(model.actuator_trntype[i]), int(model.actuator_trnid[i][0])
    plain = on in (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    gear = float(model.actuator_gear[i][0]) ** 2 if plain else 1.0
    inertia, damping = (getattr(model, f"actuator_{key}", [0.0] * (i + 1))[i] for key in ("armature", "damping"))
    return {
        "name": model.actuator(i).name or f"actuator{i + 1}", "joint": joint if plain else None,
        "armature": float(inertia) * gear, "damping": float(damping) * gear,
        "dampingpoly": _poly(model, "actuator_dampingpoly", i),
    }  # fmt: skip


def _poly(model: Any, key: str, i: int) -> list[float]:
    """Coefficients of higher powers, which older versions do not have."""
    return [float(x) for x in getattr(model, key)[i]] if hasattr(model, key) else []
