"""Contexts for the inverse kinematics of chosen frames: coordinates, limits, constants, signatures."""

from __future__ import annotations

from elastogen.build.c.expression import literal
from elastogen.build.c.names import comment_text
from elastogen.build.files.contexts import Identity, KinematicsContext, Prototype
from elastogen.build.files.templating import fill, origin
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import ModelFacts

NEEDED = "frame_pose_and_jacobian"
"""Without this function there is no inverse kinematics; with quasi-velocities two more are needed."""
ON_MANIFOLDS = ("integrate", "difference")
NO_LIMIT = 1e30
INSIDE = 1e-6  # of its range: how far a joint whose range excludes 0 stays from it


def kinematics_context(derivation: ModelDerivation, identity: Identity) -> KinematicsContext | None:
    """Return the context of inverse kinematics, or None if the frames' function was not emitted."""
    functions = {function.name: function for function in derivation.functions}
    quasi = derivation.robot.has_quasi_velocities
    if NEEDED not in functions or (quasi and not functions.keys() >= {*ON_MANIFOLDS}):
        return None
    prefix = f"{identity.name}_ik"

    def number(value: float) -> str:
        return literal(value, identity.real)

    return KinematicsContext(
        identity=identity,
        prefix=prefix,
        macro=prefix.upper(),
        frames=tuple(f"{k}: {comment_text(name)}" for k, name in enumerate(derivation.frames)),
        moved=tuple(", ".join([str(v), str(q), *map(number, limits)]) for v, q, limits in _moved(derivation)),
        quasi=quasi,
        can_fail=functions[NEEDED].can_fail,
        solve=f"{identity.name}_inverse_kinematics",
        module_solve=Prototype("void", "eg_inverse_kinematics", _MODULE),
    )


def kinematics_files(context: KinematicsContext | None) -> dict[str, str]:
    """Return the text of the header and the source by file name."""
    if context is None:
        return {}
    identity = context.identity
    features = {
        "QUATERNIONS": int(context.quasi),
        "IK_CAN_FAIL": int(context.can_fail),
        "SINGLE": int(identity.real == "float"),
    }
    generated = {f"robot_ik_{part}.h": fill(f"inverse_kinematics/{part}.h.j2", context) for part in ("frames", "moved")}
    emission = Emission(identity.name, identity.real, features, origin(identity), generated)
    return {f"{context.prefix}.{kind}": emission.file(f"inverse_kinematics/robot_ik.{kind}") for kind in ("h", "c")}


def position_limits(derivation: ModelFacts) -> list[tuple[float | None, float | None]]:
    """Return lower and upper limit of every coordinate [rad, m]; None means no limit."""
    joints = {joint.name: joint.limits for joint in derivation.robot.moving_joints}
    known = [joints.get(name) for name in derivation.coordinate_names]
    return [(None, None) if limits is None else (limits.lower, limits.upper) for limits in known]


def drive_limits(derivation: ModelFacts) -> list[tuple[float | None, float | None]]:
    """Return greatest speed [rad/s, m/s] and force [N m, N] of every velocity; None means no limit."""
    joints = {joint.name: joint.limits for joint in derivation.robot.moving_joints}
    known = [joints.get(name) for name in derivation.velocity_names]
    return [(None, None) if limits is None else (limits.velocity, limits.effort) for limits in known]


def _moved(derivation: ModelDerivation) -> list[tuple[int, int, tuple[float, ...]]]:
    """Return the velocities of joints, the coordinate of each or -1, and its limits; with sliding joints also their ranges."""
    limits = position_limits(derivation)
    ranges = {s.coordinate: (INSIDE * s.upper if s.positive else 0.0, s.upper) for s in derivation.selectors}
    found = []
    for velocity, position in _beside(derivation):
        low, high = limits[position] if position >= 0 else (None, None)
        pair = (-NO_LIMIT if low is None else low, NO_LIMIT if high is None else high)
        beam = ranges.get(position, (-NO_LIMIT, NO_LIMIT)) if derivation.selectors else ()
        found.append((velocity, position, (*pair, *beam)))
    return found


def _beside(derivation: ModelDerivation) -> list[tuple[int, int]]:
    """Return the index of each joint's velocity, and of the coordinate whose rate it is."""
    robot, found = derivation.robot, []
    v = q = 0
    for joint in robot.joints:
        velocities, coordinates = len(joint.type.velocities), len(joint.type.coordinates)
        found += [(v + k, q + k if velocities == coordinates else -1) for k in range(velocities)]
        flexible = robot.link(joint.child).flexible
        elastic = (joint.elasticity is not None) + (0 if flexible is None else len(flexible.coordinates))
        v, q = v + velocities + elastic, q + coordinates + elastic
    return found


_MODULE = (
    "const eg_real_t *params",
    "size_t params_stride",
    "size_t n",
    "int iterations",
    "const eg_real_t *settings",  # damping, tolerances of position and rotation, gain of the posture, longest step
    "const eg_real_t *weights",  # of position and rotation, per frame
    "const eg_real_t *lower",
    "const eg_real_t *upper",
    "const eg_real_t *position",
    "const eg_real_t *rotation",
    "const eg_real_t *q0",
    "const eg_real_t *posture",
    "eg_real_t *q",
    "eg_real_t *error",  # of position and rotation, per item
    "int32_t *outcome",  # status and iterations, per item
)
