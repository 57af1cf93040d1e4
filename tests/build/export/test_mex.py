"""The gateway for MATLAB and Octave, built and called by Octave."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.generator.functions.derivation import derive_model

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
pytestmark = pytest.mark.skipif(
    OCTAVE is None or shutil.which("mkoctfile") is None,
    reason="Octave with mkoctfile is not installed: apt-get install octave-dev",
)
OUTPUTS = [
    "inverse_dynamics",
    "forward_dynamics",
    "forward_kinematics",
    "jacobian",
    "forward_dynamics_derivatives",
    "point_forces",
]
SCRIPT = """
example_two_link;
q = [0.1; 0.2]; qd = [0.3; -0.4]; qdd = [0.5; 0.6]; w = reshape(1:12, 2, 6);
p = two_link.parameters(); p.payload_mass = 1.5;
r.F = two_link.inverse_dynamics(q, qd, qdd);
r.loaded = two_link.inverse_dynamics(q, qd, qdd, struct('payload_mass', 1.5));
r.same = two_link.inverse_dynamics(q, qd, qdd, p);
r.many = two_link.inverse_dynamics([q, 2 * q, 3 * q], qd, qdd);
T = two_link.forward_kinematics(q);
r.T = reshape(T(:, :, 3), 1, 16);
J = two_link.jacobian(q);
r.J = J(1, :);
[a, b, c] = two_link.forward_dynamics_derivatives(q, qd, qdd);
r.derivatives = [a(1, :), b(1, :), c(1, :)];
r.Q = two_link.point_forces(q, w);
wrong = {@() two_link.jacobian([1 2 3]), @() two_link.jacobian(), @() two_link.jacobian(q, struct('x', 1)), ...
         @() two_link.jacobian(single(q)), @() two_link_mex('no'), @() two_link.inverse_dynamics([q q q], [q q], q), ...
         @() two_link.jacobian(q, struct('payload_mass', [1 2]))};
r.reported = cell(1, numel(wrong));
for k = 1:numel(wrong)
    try
        wrong{k}();
    catch failure
        r.reported{k} = failure.message;
    end
end
disp(['JSON' jsonencode(r)]);  % fifteen digits
"""


def test_octave_calls_the_model(tmp_path: Path) -> None:
    robot = elastogen.load("two_link")
    points = [elastogen.Point("mid", link="lower", pose=np.eye(4)), elastogen.Point("low", link="upper", pose=np.eye(4))]
    robot = robot.with_points(*points)
    elastogen.export(robot, tmp_path, format="mex", outputs=OUTPUTS)
    (tmp_path / "calls.m").write_text(SCRIPT)
    command = [str(OCTAVE), "--no-gui", "--quiet", "--norc", "--eval", "calls"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    assert "JSON" in done.stdout, done.stdout + done.stderr
    got = json.loads(done.stdout.partition("JSON")[2])

    functions = {f.name: f for f in derive_model(robot, OUTPUTS).functions}
    nominal = {p.name: p.value for p in robot.live_parameters}
    q, qd, qdd = np.array([0.1, 0.2]), np.array([0.3, -0.4]), np.array([0.5, 0.6])
    w = np.arange(1.0, 13.0).reshape(2, 6, order="F")

    def value(name: str, *, payload: float = 0.0, **given: np.ndarray) -> list[np.ndarray]:
        return list(functions[name].evaluate(given, nominal | {"payload_mass": payload}).values())

    def equal(key: str, expected: np.ndarray) -> None:
        assert np.allclose(np.ravel(got[key]), np.ravel(expected), rtol=1e-12, atol=1e-14), key

    equal("F", value("inverse_dynamics", q=q, qd=qd, qdd=qdd)[0])
    equal("loaded", value("inverse_dynamics", q=q, qd=qd, qdd=qdd, payload=1.5)[0])
    equal("same", value("inverse_dynamics", q=q, qd=qd, qdd=qdd, payload=1.5)[0])
    equal("many", np.array([value("inverse_dynamics", q=k * q, qd=qd, qdd=qdd)[0] for k in (1, 2, 3)]).T)
    equal("T", value("forward_kinematics", q=q)[0][2].T)  # by columns
    equal("J", value("jacobian", q=q)[0][0])
    equal("derivatives", np.hstack(value("forward_dynamics_derivatives", q=q, qd=qd, F=qdd))[0])
    equal("Q", value("point_forces", q=q, wrenches=w)[0])
    words = ("3 numbers, expected 2", "got 0 inputs, expected 1", "no live parameter 'x'", "not a full array of real doubles",
             "no function 'no'", "2 states, other inputs 3", "'payload_mass' is not one real double")  # fmt: skip
    for said, word in zip(got["reported"], words, strict=True):
        assert word in said
    assert "F[0] = " in done.stdout  # the example
