"""Applies the changes of a robot file to the robot of another description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from elastogen.generator.description.changes.make_flexible import is_mesh, make_flexible, mesh_link
from elastogen.generator.description.file.changes_file import ChangedJoint, ChangedLink, ChangesFile
from elastogen.generator.description.files import Files
from elastogen.generator.description.loops.read import read_loops
from elastogen.generator.description.points import on_nodes, read_points
from elastogen.generator.description.section_values import SectionValues, moved_to_com, read_parameters
from elastogen.generator.description.solids.mesh_links import MeshLink, with_meshes
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Body, Joint, Robot
from elastogen.generator.robot.tree import unique_names


def apply_changes(base: Robot, file: ChangesFile, where: Location, folder: Path, files: Files) -> Robot:
    """Return the robot with what the file says, not yet validated; couplings, locks, terms and live parameters come later.

    Paths in the file are relative to ``folder``.
    """
    robot = replace(
        base,
        name=file.name,
        parameters={**base.parameters, **read_parameters(file.parameters, where.at("parameters"))},
        description=" ".join(file.description.split()) or base.description,
        source=where.source,
    )
    values = SectionValues(robot.parameters)
    if file.gravity is not None:
        robot = replace(robot, gravity=values.vector(file.gravity, where.at("gravity")))
    if file.payload is not None:
        robot = replace(robot, payload=values.body(file.payload, where.at("payload")))
    robot = _with_joints(robot, file.joints, values, where.at("joints"))
    robot, meshes = _with_links(robot, file.links, values, where.at("links"))
    if file.tip is not None:
        here, link = where.at("tip"), file.tip.link or robot.tip
        _check_known(link, [known.name for known in robot.links], here.at("link"), "link")
        robot = replace(robot, tip=link, tool=values.frame(file.tip, here))
    robot = with_meshes(robot, meshes, values, folder, files)
    points = read_points(file.points, values.frame, values.parameters, where.at("points"))
    points = on_nodes(robot, points, file.points, where.at("points"))
    loops = read_loops(file.loops, values, where.at("loops"))
    return replace(robot, points=(*robot.points, *points), loops=(*robot.loops, *loops))


def _check_known(name: str, known: Sequence[str], here: Location, kind: str) -> None:
    if name not in known:
        fix = did_you_mean(name, known, f"its {kind}s are {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}")
        raise here.error(name, f"the name of a {kind} of the base description", fix)


def _with_joints(robot: Robot, changes: Sequence[ChangedJoint], values: SectionValues, where: Location) -> Robot:
    unique_names((change.name for change in changes), where, "joint")
    joints = {joint.name: joint for joint in robot.joints}
    for change in changes:
        here = where.at(change.name)
        _check_known(change.name, list(joints), here, "joint")
        followers = [joint.name for joint in robot.joints if joint.coupling and change.name in joint.coupling.leaders]
        if change.follows is not None and followers:
            expected = f"a joint that no other follows ({', '.join(followers)} does)"
            raise here.at("follows").error(change.follows, expected, f"let {followers[0]} follow as well, in this file")
        joints[change.name] = _changed_joint(joints[change.name], change, values, here)
    return replace(robot, joints=tuple(joints.values()))


def _changed_joint(joint: Joint, change: ChangedJoint, values: SectionValues, here: Location) -> Joint:
    if change.limits is not None:
        found = values.limits(change.limits, here.at("limits"))
        given = {key: getattr(found, key) for key in change.limits.model_fields_set}
        joint = replace(joint, limits=replace(joint.limits, **given))
    drive = joint.actuation
    for section, names in ((change.motor, {"inertia": "motor_inertia"}), (change.friction, {})):
        if section is not None:
            inside = here.at("motor" if section is change.motor else "friction")
            given = {names.get(key, key): values.scalar(value, inside.at(key)) for key, value in _given(section).items()}
            drive = replace(drive, **given)
    elasticity = joint.elasticity
    if change.elasticity is not None:
        elasticity = values.elasticity(change.elasticity, here.at("elasticity"))
    driven = joint.driven if change.driven is None else change.driven
    return replace(joint, actuation=drive, elasticity=elasticity, driven=driven)


def _given(section: BaseModel) -> dict[str, int | float | str]:
    return {key: getattr(section, key) for key in sorted(section.model_fields_set)}


def _with_links(
    robot: Robot, changes: Sequence[ChangedLink], values: SectionValues, where: Location
) -> tuple[Robot, dict[str, MeshLink]]:
    """The robot with other links, and those that meshes are to make flexible when all others are known."""
    meshes: dict[str, MeshLink] = {}
    unique_names((change.name for change in changes), where, "link")
    for change in changes:
        here = where.at(change.name)
        _check_known(change.name, [link.name for link in robot.links], here, "link")
        link = robot.link(change.name)
        changed = replace(link, body=_changed_body(link.body, change, values, here))
        robot = replace(robot, links=tuple(changed if other is link else other for other in robot.links))
        if is_mesh(change):
            meshes[link.name] = mesh_link(robot, change, here)
        elif change.flexible is not None:
            robot = make_flexible(robot, change, values, here)
    return robot, meshes


def _changed_body(body: Body, change: ChangedLink, values: SectionValues, here: Location) -> Body:
    mass = body.mass if change.mass is None else values.scalar(change.mass, here.at("mass"))
    com = body.com if change.com is None else values.vector(change.com, here.at("com"))
    if change.inertia is None:
        return Body(mass, com, body.inertia)
    inertia = tuple(values.vector(row, here.at("inertia")) for row in change.inertia)
    return Body(mass, com, inertia if change.inertia_about == "com" else moved_to_com(inertia, mass, com))
