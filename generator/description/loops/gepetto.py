"""Loops from the robot.yaml beside a URDF, as Gepetto's collection of parallel robots has it.

closed_loop: [[frame_a, frame_b], ...]   # each the name of a joint, meaning its child's frame, or of a link
type: [6d, 3d, ...]                      # per loop: 6d fixes the frames to each other, 3d their origins
name_mot: [joint, ...]                   # the joints with drives; all others are passive
joint_name: [joint, ...]                 # joints of the URDF that are of other kinds than a URDF can say:
joint_type: [SPHERICAL, UJOINT_XY, ...]  # per joint: a ball, a universal joint about two of its frame's axes, or FIXED
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elastogen.generator.description.file.read_yaml import read_yaml
from elastogen.generator.description.files import MAX_YAML_BYTES, Files, decoded
from elastogen.generator.joints import kinds
from elastogen.generator.robot.drive.actuation import Actuation, Limits
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.loops.loop import ClosedLoop, LoopEnd
from elastogen.generator.robot.robot import Joint, Robot

_TYPES = {"6d": "fixed", "3d": "spherical"}
_AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}
_UNIVERSAL = tuple(f"UJOINT_{a}{b}" for a in _AXES for b in _AXES if a != b)
_KINDS = ("SPHERICAL", "FIXED", *_UNIVERSAL)
_KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")


def with_gepetto_loops(robot: Robot, path: Path, files: Files) -> Robot:
    """The robot of a URDF with the loops of a robot.yaml, and drives on the joints that this names."""
    where = Location(str(path))
    if not os.path.isfile(path):
        raise where.error("no such file", "a robot.yaml with closed_loop, type and name_mot", "check the path")
    data = read_yaml(decoded(files.read(path, MAX_YAML_BYTES), str(path)), where)
    if not isinstance(data, Mapping) or "closed_loop" not in data:
        raise where.error(type(data).__name__, f"a mapping with the keys {', '.join(_KEYS)}", "give closed_loop: [[a, b]]")
    for key in map(str, data):
        if key not in _KEYS:
            where.warn(key, f"one of {', '.join(_KEYS)}: it is ignored", did_you_mean(key, _KEYS, "remove it"))
    robot = _with_kinds(robot, data.get("joint_name") or [], data.get("joint_type") or [], where)
    pairs = data["closed_loop"]
    if not isinstance(pairs, Sequence) or not all(_is_names(pair) and len(pair) == 2 for pair in pairs):
        raise where.at("closed_loop").error(pairs, "pairs of names", "write [[frame_a, frame_b], ...]")
    types = data.get("type", ["6d"] * len(pairs))
    if not _is_names(types) or len(types) != len(pairs):
        raise where.at("type").error(types, f"{len(pairs)} types, one for each loop", "write 6d or 3d for each")
    loops = []
    for k, (pair, given) in enumerate(zip(pairs, types, strict=True)):
        if given.lower() not in _TYPES:
            raise where.at("type", k).error(given, " or ".join(_TYPES), "6d fixes two frames, 3d their origins")
        a, b = (LoopEnd(_link(robot, name, where.at("closed_loop", k))) for name in pair)
        loops.append(ClosedLoop(f"loop{len(robot.loops) + k + 1}", _TYPES[given.lower()], a, b))
    return _with_drives(replace(robot, loops=(*robot.loops, *loops)), data.get("name_mot"), where.at("name_mot"))


def _is_names(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)


def _link(robot: Robot, name: str, where: Location) -> str:
    """The link whose frame a name means."""
    children = {joint.name: joint.child for joint in robot.joints}
    links = [link.name for link in robot.links]
    if name in children:
        return children[name]
    if name in links:
        return name
    raise where.error(name, "the name of a joint or of a link", did_you_mean(name, [*children, *links], "check the URDF"))


def _with_kinds(robot: Robot, names: Any, given: Any, where: Location) -> Robot:
    """The robot whose named joints are of the kinds that a URDF cannot say; without limits and drives of the old ones."""
    if not _is_names(names):
        raise where.at("joint_name").error(names, "names of joints", "list the joints that joint_type is about")
    if not _is_names(given) or len(given) != len(names):
        raise where.at("joint_type").error(given, f"{len(names)} types, one for each of joint_name", f"use {', '.join(_KINDS)}")
    wanted = dict(zip(names, given, strict=True))
    known = {joint.name: joint for joint in robot.joints}
    for name, kind in wanted.items():
        if name not in known:
            raise where.at("joint_name").error(name, "the name of a joint", did_you_mean(name, known, "check the URDF"))
        if kind not in _KINDS:
            raise where.at("joint_type").error(kind, f"one of {', '.join(_KINDS)}", did_you_mean(kind, _KINDS, "choose one"))
        if known[name].coupling is not None:
            raise where.at("joint_name").error(name, "a joint that moves by itself", "it follows others: remove its mimic")
    return replace(robot, joints=tuple(_of_kind(joint, wanted.get(joint.name)) for joint in robot.joints))


def _of_kind(joint: Joint, kind: str | None) -> Joint:
    if kind is None:
        return joint
    plain = replace(joint, limits=Limits(), actuation=Actuation(), elasticity=None, details={}, driven=None, axis=_AXES["Z"])
    if kind in _UNIVERSAL:
        return replace(plain, type=kinds.UNIVERSAL, axis=_AXES[kind[-2]], details={"axis2": _AXES[kind[-1]]})
    return replace(plain, type=kinds.SPHERICAL if kind == "SPHERICAL" else kinds.FIXED)


def _with_drives(robot: Robot, names: Any, where: Location) -> Robot:
    if names is None:
        return robot
    moving = [joint.name for joint in robot.moving_joints]
    if not _is_names(names):
        raise where.error(names, "names of joints", "list the joints with drives")
    following = {joint.name: joint.coupling for joint in robot.joints if joint.coupling is not None}
    for name in names:
        if name in following:
            where.warn(name, "a joint that moves by itself: it is ignored", "it follows others, whose drives move it")
        elif name not in moving:
            raise where.error(name, "the name of a joint that moves", did_you_mean(name, moving, "check the URDF"))
    joints = tuple(replace(joint, driven=joint.name in names) if joint.name in moving else joint for joint in robot.joints)
    return replace(robot, joints=joints)
