"""Robots of a public collection: Gauss' principle on matrices of Pinocchio, which reads the URDF, too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from closed_mechanism import gauss, null_space
from test_loop_descriptions import COLLECTION

import elastogen
from elastogen.generator.functions.derivation import derive_model

LARGE = [pytest.param(name, marks=pytest.mark.nightly) for name in ("cassie_like", "digit_like")]
NAMES = ("5bar_linkage", "robot_delta", "talos_like", *LARGE)
TOLERANCE = 1e-9  # of the largest acceleration


class ByPinocchio:
    """Rows of loops, configurations that close them and accelerations, by Pinocchio's frames and plain linear algebra."""

    def __init__(self, pin: Any, folder: Any) -> None:
        yaml = pytest.importorskip("yaml")
        self.pin, self.model = pin, pin.buildModelFromUrdf(str(folder / "robot.urdf"))
        self.data = self.model.createData()
        file = yaml.safe_load((folder / "robot.yaml").read_text())
        self.pairs = [[self.model.getFrameId(name) for name in pair] for pair in file["closed_loop"]]
        assert max(max(pair) for pair in self.pairs) < self.model.nframes
        self.sizes = [{"6d": 6, "3d": 3}[kind.lower()] for kind in file["type"]]

    def _rows(self, of_frame: Any) -> Any:
        pairs = zip(self.pairs, self.sizes, strict=True)
        return np.concatenate([(of_frame(a) - of_frame(b))[:size] for (a, b), size in pairs])

    def jacobian(self, q: Any) -> Any:
        self.pin.computeJointJacobians(self.model, self.data, q)
        self.pin.updateFramePlacements(self.model, self.data)
        axes = self.pin.LOCAL_WORLD_ALIGNED
        return self._rows(lambda frame: self.pin.getFrameJacobian(self.model, self.data, frame, axes))

    def bias(self, q: Any, v: Any) -> Any:
        self.pin.forwardKinematics(self.model, self.data, q, v, 0 * v)
        self.pin.updateFramePlacements(self.model, self.data)
        axes = self.pin.LOCAL_WORLD_ALIGNED
        return self._rows(lambda k: self.pin.getFrameClassicalAcceleration(self.model, self.data, k, axes).vector)

    def gaps(self, q: Any) -> Any:
        """Distances, and turns in the world's axes."""
        self.pin.framesForwardKinematics(self.model, self.data, q)
        found = []
        for (a, b), size in zip(self.pairs, self.sizes, strict=True):
            A, B = self.data.oMf[a], self.data.oMf[b]
            turn = B.rotation @ self.pin.log3(B.rotation.T @ A.rotation)
            found.append(np.concatenate([A.translation - B.translation, turn])[:size])
        return np.concatenate(found)

    def closed(self, rng: np.random.Generator, count: int) -> list[Any]:
        """Random configurations, closed by Newton's method; those near a singular one are left out."""
        found: list[Any] = []
        for _ in range(400):
            q = self.pin.integrate(self.model, self.pin.neutral(self.model), rng.uniform(-0.6, 0.6, self.model.nv))
            for _ in range(100):
                J, gap = self.jacobian(q), self.gaps(q)
                if np.abs(gap).max() < 1e-15:
                    break
                step = np.linalg.lstsq(J, -gap, rcond=1e-6)[0]
                q = self.pin.integrate(self.model, q, step * min(1.0, 0.5 / (1e-9 + np.abs(step).max())))
            sizes = np.linalg.svd(self.jacobian(q), compute_uv=False)
            firm = not ((sizes > 1e-9 * sizes[0]) & (sizes < 3e-4 * sizes[0])).any()
            if np.abs(self.gaps(q)).max() < 1e-13 and firm:
                found.append(q)
            if len(found) == count:
                return found
        raise AssertionError(f"{len(found)} closed configurations")

    def forward_dynamics(self, q: Any, v: Any, forces: Any) -> Any:
        M = self.pin.crba(self.model, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        bias = self.pin.nonLinearEffects(self.model, self.data, q, v)
        return gauss(self.jacobian(q), self.bias(q, v), M, forces - bias)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
def test_forward_dynamics_of_the_collection(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    folder = COLLECTION / name
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    robot = elastogen.load(folder / "robot.urdf", loops=folder / "robot.yaml", name="mechanism")
    functions = {function.name: function.program for function in derive_model(robot, ("forward_dynamics",)).functions}
    oracle, order, rng = ByPinocchio(pin, folder), robot.pinocchio_order, np.random.default_rng(7501)
    inverse_q, inverse_v = np.argsort(order.q(np.arange(oracle.model.nq))), np.argsort(order.v(np.arange(oracle.model.nv)))
    for q in oracle.closed(rng, 4):
        N = null_space(oracle.jacobian(q))
        v, forces = N @ rng.normal(size=N.shape[1]), rng.normal(size=len(N))
        expected = oracle.forward_dynamics(q, v, forces)
        state = {"q": q[inverse_q], "qd": v[inverse_v], "F": forces[inverse_v]}
        (found,) = functions["forward_dynamics"].evaluate(state).values()
        error = np.abs(order.v(found) - expected).max()
        assert error < TOLERANCE * np.abs(expected).max()


@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
def test_forward_dynamics_of_the_digit_like_leg_takes_at_most_twice_that_of_its_tree() -> None:
    folder = COLLECTION / "digit_like"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    robot = elastogen.load(folder / "robot.urdf", loops=folder / "robot.yaml", name="mechanism")
    closed, tree = (derive_model(each, ("forward_dynamics",)).functions[0] for each in (robot, replace(robot, loops=())))
    assert (closed.name, tree.name) == ("forward_dynamics", "forward_dynamics")
    assert closed.count.total <= 2 * tree.count.total
