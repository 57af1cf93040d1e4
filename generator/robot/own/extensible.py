"""Methods of a robot: extensions, SymPy included, and views for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from elastogen.runtime.interface.provided import provided

if TYPE_CHECKING:
    from elastogen.generator.robot.loops.loop import ClosedLoop
    from elastogen.generator.robot.robot import Point, Robot
    from elastogen.generator.robot.views.pinocchio_order import PinocchioOrder


class Extensible:
    """Methods of a robot that return an extended one."""

    @property
    def _robot(self) -> Robot:
        return cast("Robot", self)

    @property
    def pinocchio_order(self) -> PinocchioOrder:
        """Where Pinocchio has the coordinates when it reads the same URDF: ``robot.pinocchio_order.q(q)``, ``.v(qd)``."""
        from elastogen.generator.robot.views.pinocchio_order import pinocchio_order

        return pinocchio_order(self._robot)

    def _repr_html_(self) -> str:
        """The robot as a table, for notebooks."""
        from elastogen.generator.robot.views.html import robot_html

        return robot_html(self._robot)

    def show(self) -> Any:
        """The robot as a picture whose joints move by sliders, for notebooks: an object with ``_repr_html_``."""
        return provided("robot_picture")(self._robot)

    def with_points(self, *points: Point) -> Robot:
        """The robot with further points."""
        return replace(self._robot, points=(*self._robot.points, *points))

    def with_loops(self, *loops: ClosedLoop) -> Robot:
        """The robot with further loops, which close it to a mechanism."""
        return replace(self._robot, loops=(*self._robot.loops, *loops))

    def with_terms(
        self,
        *,
        name: str | None = None,
        potential: Any = 0,
        dissipation: Any = 0,
        forces: Mapping[str, Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        live: Iterable[str] = (),
    ) -> Robot:
        """Return the robot with a term of the user's own in its equations of motion.

        In SymPy, with ``elastogen.symbols(robot)``: ``potential`` V(q, t) [J], Rayleigh's ``dissipation`` R(q, qd, t) [W],
        ``forces`` on coordinates (scalars [N m] or [N]) or at origins of frames (columns of three, base components [N]).
        F then is M qdd + ... + dV/dq + dR/dqd - Q. ``parameters`` are new named numbers, those in ``live`` stay inputs.
        """
        from elastogen.generator.robot.own.with_terms import with_terms

        return with_terms(
            self._robot,
            name=name,
            potential=potential,
            dissipation=dissipation,
            forces=forces,
            parameters=parameters,
            live=live,
        )

    def with_function(
        self,
        name: str,
        *,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any],
        doc: str = "",
        states: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
    ) -> Robot:
        """Return the robot with a function of the user's own: a control law, an observer, a cost.

        ``outputs`` are SymPy expressions and matrices of the robot's symbols and of ``inputs`` (name to size, (rows, columns)
        or None; symbols by ``s.input(name, size)``), with calls such as ``s.f.inverse_dynamics(q, qd, a)``.
        ``states`` (as ``inputs``) are inputs that a loop keeps from cycle to cycle: the output ``<state>_next`` is its value in
        the next one, or ``<state>_rate`` its time derivative, which the loop integrates; it begins with ``initial`` (0).
        """
        from elastogen.generator.robot.own.functions import with_function

        return with_function(self._robot, name, inputs, outputs, doc, states, initial)

    def derivatives_of(self, name: str, *, by: str | Iterable[str]) -> Robot:
        """Return the robot with ``<name>_derivatives``: the Jacobians of an own function's outputs by some of its inputs."""
        from elastogen.generator.robot.own.functions import derivatives_of

        return derivatives_of(self._robot, name, by)

    def with_contacts(self, *contacts: Any) -> Robot:
        """Return the robot with contacts: names of frames, or mappings with ``frame``, ``rows`` and ``normal``.

        ``rows`` is 3 for a point that may rotate, 6 for a flat foot; ``normal`` is that of what is touched, in the base frame,
        (0, 0, 1) by default. The model then has ``contact_dynamics``, ``contact_impulse`` and ``contact_inverse_dynamics``.
        """
        from elastogen.generator.robot.loops.contacts import with_contacts

        return with_contacts(self._robot, contacts)

    def with_ground(self, *points: Any, **numbers: Any) -> Robot:
        """Return the robot on a ground that these frames touch: names, or mappings with ``frame`` and ``radius`` [m].

        ``normal`` and ``height`` [m] say where the plane is; ``stiffness`` [N/m^exponent], ``exponent`` and ``damping`` [s/m]
        are those of Hunt and Crossley's normal force, ``friction`` and ``slip_speed`` [m/s] those of regularized Coulomb
        friction.
        """
        from elastogen.generator.robot.own.ground import with_ground

        return with_ground(self._robot, points, numbers)

    def with_sensors(self, *sensors: str) -> Robot:
        """Return the robot with the functions ``measurement`` and ``measurement_derivatives`` of these sensors.

        A sensor is "encoders" or a joint's name (positions of drives), "tachometers" (their velocities), the name of a point
        (its strain where it has a gauge, else gyroscope and accelerometer, in its axes), a part of it ("imu.gyroscope",
        "imu.accelerometer", "imu.position", "gauge.strain"), or "tip" (its position in the base frame). None: all encoders and
        all points. Accelerometers read the acceleration that the forces F give.
        """
        from elastogen.generator.robot.own.sensors import with_sensors

        return with_sensors(self._robot, sensors)
