"""Collisions by the momentum observer: found within 5 ms, and no false alarm with a payload that is 10 % wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen

DT, STEPS, MOVES, PAYLOAD = 1e-3, 600, 100, 2.0
UNCERTAIN = {"payload_mass": 0.1 * PAYLOAD}


@pytest.fixture(scope="module")
def arm(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(
        "two_link", identification=["external_forces"], outputs=["simulation", "mass_matrix", "coriolis_matrix"]
    )


def moves(arm: elastogen.Model, push: Any, seed: int = 1, steps: int = STEPS) -> tuple[Any, Any, Any]:
    """Random moves by computed torque with the nominal payload, of arms that carry 10 % more or less; all at once."""
    rng = np.random.default_rng(seed)
    start, goal = rng.uniform(-1.5, 1.5, (2, MOVES, 2))
    carried = {"payload_mass": PAYLOAD * np.where(rng.random(MOVES) < 0.5, 0.9, 1.1)}
    nominal = {"payload_mass": PAYLOAD}
    q, qd, T = start.copy(), np.zeros((MOVES, 2)), steps * DT
    rows = []
    F = np.zeros((MOVES, 2))
    for k in range(steps):
        rows.append((q, qd, F))
        s = (k + 1) / steps
        way = goal - start
        ref = start + way * s**3 * (10 - 15 * s + 6 * s**2)
        ref_d = way * 30 * s**2 * (1 - s) ** 2 / T
        ref_dd = way * 60 * s * (1 - s) * (1 - 2 * s) / T**2
        F = arm.inverse_dynamics(q, qd, ref_dd + 400 * (ref - q) + 40 * (ref_d - qd), parameters=nominal)
        outer = push(k)
        for _ in range(2):
            h = DT / 2
            a = arm.forward_dynamics(q, qd, F + outer, parameters=carried)
            b = arm.forward_dynamics(q + h / 2 * qd, qd + h / 2 * a, F + outer, parameters=carried)
            c = arm.forward_dynamics(q + h / 2 * qd + h * h / 4 * a, qd + h / 2 * b, F + outer, parameters=carried)
            d = arm.forward_dynamics(q + h * qd + h * h / 2 * b, qd + h * c, F + outer, parameters=carried)
            q, qd = q + h * qd + h * h / 6 * (a + b + c), qd + h / 6 * (a + 2 * b + 2 * c + d)
    return tuple(np.array(part) for part in zip(*rows, strict=True))  # type: ignore[return-value]


def detected(arm: elastogen.Model, states: tuple[Any, Any, Any], uncertain: dict[str, float], floor: float) -> list[int | None]:
    arm.parameters["payload_mass"] = PAYLOAD
    found = []
    for k in range(MOVES):
        detector = arm.collision_detector(DT, 500.0, uncertain=uncertain, floor=floor)
        found.append(detector.update(*(part[:, k] for part in states)).first)
    return found


def test_a_wrong_payload_is_not_a_collision(arm: elastogen.Model) -> None:
    states = moves(arm, lambda k: 0.0)
    assert detected(arm, states, UNCERTAIN, 0.5) == [None] * MOVES
    assert sum(first is not None for first in detected(arm, states, {}, 0.5)) > MOVES // 2  # they would be without it


def test_collisions_are_found_within_5_ms(arm: elastogen.Model) -> None:
    begins = 300
    states = moves(arm, lambda k: np.array([0.0, 0.0]) if k < begins else np.array([0.0, -40.0]), seed=2)
    found = detected(arm, states, UNCERTAIN, 0.5)
    late = [first - begins for first in found if first is not None]
    assert len(late) == MOVES
    assert min(late) > 0
    assert max(late) * DT <= 5e-3


def test_in_fast_moves_a_collision_is_found_that_the_payload_cannot_hide(arm: elastogen.Model) -> None:
    """The wrong payload may show a force against it as great as the threshold allows; what exceeds both is seen at once."""
    begins, steps, push = 200, 400, 40.0
    arm.parameters["payload_mass"] = PAYLOAD
    hidden = 0
    for force in (0.0, push):
        states = moves(arm, lambda k, force=force: np.array([0.0, -force if k >= begins else 0.0]), seed=2, steps=steps)
        for k in range(MOVES):
            seen = arm.collision_detector(DT, 500.0, uncertain=UNCERTAIN, floor=0.5).update(*(part[:, k] for part in states))
            if force == 0.0:
                assert seen.first is None
            elif push > 2.2 * seen.threshold[begins : begins + 6, 1].max():
                assert seen.first is not None
                assert 0 < seen.first - begins <= 5
            else:
                hidden += 1
                assert seen.first is None or seen.first > begins
    assert 0 < hidden < MOVES // 5


def test_constant_forces_are_found_to_a_thousandth(arm: elastogen.Model) -> None:
    arm.parameters["payload_mass"] = PAYLOAD
    q, qd, outer = np.array([0.3, -0.2]), np.zeros(2), np.array([3.0, -1.5])
    detector = arm.collision_detector(DT, 100.0, uncertain={}, floor=1.0)
    for _ in range(300):
        F = arm.inverse_dynamics(q, qd, -20 * qd)
        qdd = arm.forward_dynamics(q, qd, F + outer)
        q, qd = q + DT * qd + DT * DT / 2 * qdd, qd + DT * qdd
        seen = detector.update(q, qd, F)
    assert seen.force[0] == pytest.approx(outer, rel=1e-3)  # 7e-4 of it is the coarse step above; the low pass has settled
    assert seen.hit[0].all()


def test_wrong_arguments_are_named(arm: elastogen.Model) -> None:
    for changed, message in [
        ({"uncertain": {"payload_mas": 0.1}}, "payload_mass"),
        ({"uncertain": {"payload_mass": -0.1}}, "from 0"),
        ({"uncertain": ["payload_mass"]}, "live parameters"),
        ({"floor": 0.0}, "above 0"),
        ({"margin": -1.0}, "from 0"),
        ({"dt": 0.0}, "above zero"),
    ]:
        with pytest.raises(elastogen.ModelError, match=message):
            arm.collision_detector(**{"dt": DT, "uncertain": UNCERTAIN, "floor": 1.0, **changed})  # type: ignore[arg-type]
    with pytest.raises(elastogen.ModelError, match="external_forces"):
        elastogen.build_model("two_link", outputs=["mass_matrix"]).collision_detector(DT, uncertain={}, floor=1.0)
