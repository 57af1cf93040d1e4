"""Numbers of the joints alone on flexible robots: in Python as on the command line; gains and tensors that cannot be."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen import PD, BangBang, ComputedTorque, Table, Waypoints

DURATION = 0.02


def full(bender: elastogen.Model, values: Any) -> Any:
    found = np.zeros((*np.shape(values)[:-1], bender.nv))
    found[..., [k for k in range(bender.nv) if k not in bender.elastic]] = values
    return found


@pytest.mark.parametrize(
    "make",
    [
        lambda of: of([0.3]),
        lambda of: BangBang(of([0.4]), DURATION),
        lambda of: Table([0.0, 0.01], of([[0.2], [-0.1]]), "linear"),
        lambda of: PD(of([0.1]), of([3.0]), of([0.2])),
        lambda of: ComputedTorque(Waypoints([0.0, DURATION], of([[0.0], [0.01]])), of([30.0]), of([8.0])),
    ],
    ids=["constant", "bang-bang", "table", "PD", "computed torque"],
)
def test_joints_only_is_zero_for_the_elastic_ones(bender: elastogen.Model, make: Any) -> None:
    by_joints = bender.simulate([0.05], [0.4], t=DURATION, F=make(np.asarray), samples=5)
    by_all = bender.simulate(
        full(bender, [0.05]), full(bender, [0.4]), t=DURATION, F=make(lambda values: full(bender, values)), samples=5
    )
    assert bender.elastic
    np.testing.assert_array_equal(by_joints.q, by_all.q)
    np.testing.assert_array_equal(by_joints.F, by_all.F)


def test_joints_only_in_batches(bender: elastogen.Model) -> None:
    batch = bender.simulate([[0.0], [0.1]], t=DURATION, samples=3)
    np.testing.assert_array_equal(batch.q[1], bender.simulate([0.1], t=DURATION, samples=3).q)


def test_other_numbers_are_refused_with_both_counts(bender: elastogen.Model) -> None:
    counts = ", or 1 of the joints"
    with pytest.raises(elastogen.ModelError, match=rf"q0 has shape \(7,\), expected \(\.\.\., {bender.nv}\){counts}"):
        bender.simulate(np.zeros(7), t=DURATION)
    for F in (np.zeros(7), PD(np.zeros(7), 1.0, 1.0), PD([0.0], np.zeros(7), 1.0)):
        with pytest.raises(elastogen.ModelError, match=counts):
            bender.simulate([0.0], t=DURATION, F=F)


@pytest.mark.parametrize("law", [PD, ComputedTorque])
def test_negative_gains_are_refused(bender: elastogen.Model, law: Any) -> None:
    for gains in ((-1.0, 1.0), (1.0, [-1e-9]), (np.full(bender.nv, -1.0), 1.0)):
        with pytest.raises(elastogen.ModelError, match="negative gain"):
            bender.simulate([0.0], t=DURATION, F=law([0.0], *gains))


@pytest.fixture(scope="module")
def loaded(cache_dir: Any) -> elastogen.Model:
    """An arm with a live payload, and one live moment of a link whose other moments are fixed."""
    robot = elastogen.load("two_link", live=["payload", "links.lower.inertia.xy"])
    return elastogen.build_model(robot, outputs=["mass_matrix"])


def test_a_tensor_that_no_body_has_is_refused(loaded: elastogen.Model) -> None:
    loaded.parameters.reset()
    message = r"payload_inertia_xy=0.5: the inertia of the payload would have a principal moment of -0.5 kg m\^2"
    with pytest.raises(elastogen.ModelError, match=message):
        loaded.parameters["payload_inertia_xy"] = 0.5
    assert loaded.parameters["payload_inertia_xy"] == 0.0
    with pytest.raises(elastogen.ModelError, match=message):
        loaded.mass_matrix([0.0, 0.0], parameters={"payload_inertia_xy": 0.5})
    with pytest.raises(elastogen.ModelError, match=r"of -0\.5"):
        loaded.mass_matrix([0.0, 0.0], parameters={"payload_inertia_xy": np.array([0.0, 0.5, 0.1])})
    with pytest.raises(elastogen.ModelError, match="principal moment of -1"):
        loaded.parameters["payload_inertia_zz"] = -1.0
    with pytest.raises(elastogen.ModelError, match="inertia of link lower"):
        loaded.parameters["lower_inertia_xy"] = 100.0
    for other in (pickle.loads(pickle.dumps(loaded.parameters)), copy.deepcopy(loaded.parameters)):
        with pytest.raises(elastogen.ModelError, match="principal moment"):
            other["payload_inertia_xy"] = 0.5


def test_tensors_of_bodies_are_taken(loaded: elastogen.Model) -> None:
    loaded.parameters.reset()
    moments = {"payload_inertia_xx": 0.6, "payload_inertia_yy": 0.6, "payload_inertia_zz": 1.0, "payload_inertia_xy": 0.5}
    before = loaded.mass_matrix([0.0, 0.0])
    loaded.parameters.update(moments)
    np.testing.assert_allclose(loaded.mass_matrix([0.0, 0.0]) - before, 1.0, rtol=1e-12)  # about z: the joints' axes
    loaded.parameters.reset()
    batch = {name: value * np.array([0.0, 1.0]) for name, value in moments.items()}
    np.testing.assert_allclose(loaded.mass_matrix([0.0, 0.0], parameters=batch)[1] - before, 1.0, rtol=1e-12)


def test_short_texts_of_robots() -> None:
    robot = elastogen.load("flexible_two_link")
    assert repr(robot).startswith("Robot('flexible_two_link', 2 moving joints, 8 coordinates, 6 of them elastic, ")
    assert repr(elastogen.load("puma560").joints[0]) == "Joint('waist', revolute, 'base' -> 'trunk')"
    assert all(len(repr(thing)) < 160 for thing in (robot, *robot.joints, *robot.links))


def test_linearizations_unpack(bender: elastogen.Model) -> None:
    zero = np.zeros(bender.nv)
    A, B = bender.linearize(zero, zero, zero)
    assert A.shape == (2 * bender.nv, 2 * bender.nv)
    assert B.shape == (2 * bender.nv, 1)
