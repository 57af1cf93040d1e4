"""Output error: elastic numbers and hidden states from forces, gauges and accelerometers."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import elastogen

pytest.importorskip("scipy")

SOFT = {
    "elastogen": 1,
    "name": "soft_arm",
    "parameters": {"spring": 0.4},
    "links": [
        {"name": "base"},
        {"name": "column", "mass": 1.0, "com": [0, 0, 0.1], "inertia": [0.02, 0.02, 0.02]},
        {"name": "boom", "mass": 0.5, "inertia": [0.01, 0.01, 0.01],
         "flexible": {"type": "modes", "length": 0.6, "mass_per_length": 0.3, "EI": 4.0,
                      "damping": {"rayleigh": {"alpha": 0.0, "beta": 0.002}},
                      "modes": [{"direction": "y", "shape": "(x/L)**2"}, {"direction": "y", "shape": "(x/L)**3"}]}},
        {"name": "hand", "mass": 0.4, "com": [0.1, 0, 0], "inertia": [0.002, 0.004, 0.004]},
    ],
    "joints": [
        {"name": "swing", "type": "revolute", "child": "column", "axis": [0, 0, 1], "motor": {"inertia": 0.05},
         "elasticity": {"stiffness": 300.0, "damping": 0.8}, "friction": {"viscous": 0.5}},
        {"name": "lift", "type": "revolute", "child": "boom", "axis": [0, 0, 1], "placement": {"xyz": [0.3, 0, 0]}},
        {"name": "wrist", "type": "revolute", "child": "hand", "axis": [0, 0, 1]},
    ],
    "points": [
        {"name": "gauge", "link": "boom", "x": 0.05, "strain": {"direction": "y", "offset": 0.002}},
        {"name": "imu", "link": "hand", "xyz": [0.1, 0, 0]},
    ],
}  # fmt: skip
WANTED = [
    "EI",
    "mass_per_length",
    "stiffness",
    "joint_damping",
    "link_damping",
    "links.hand.mass",
    "joints.swing.friction.viscous",
]
TRUE = {
    "links.boom.flexible.EI": 4.0,
    "links.boom.flexible.mass_per_length": 0.3,
    "links.boom.flexible.damping.rayleigh.beta": 0.002,
    "joints.swing.elasticity.stiffness": 300.0,
    "joints.swing.elasticity.damping": 0.8,
    "links.hand.mass": 0.4,
    "joints.swing.friction.viscous": 0.5,
}


def described(factor):
    """The robot with first values that are off by that factor."""
    robot = copy.deepcopy(SOFT)
    boom, swing = robot["links"][2]["flexible"], robot["joints"][0]
    boom["EI"] *= factor
    boom["mass_per_length"] /= factor
    boom["damping"]["rayleigh"] = {"beta": 0.002 * factor}
    swing["elasticity"]["stiffness"] /= factor
    swing["elasticity"]["damping"] *= factor
    swing["friction"]["viscous"] *= factor
    robot["links"][3]["mass"] *= factor
    return robot


@pytest.fixture(scope="module")
def truth():
    """Signals of the true robot along a motion, at 200 Hz."""
    robot = copy.deepcopy(SOFT)
    robot["live"] = ["spring", "links.hand.mass"]
    model = elastogen.build_model(
        robot, outputs=["inverse_dynamics", "point_strains", "accelerometers"], identification=["elastic_states"]
    )
    dt = 0.005
    t = np.arange(0, 4, dt)
    q, qd, qdd = (np.zeros((len(t), model.nv)) for _ in range(3))
    rng = np.random.default_rng(4)
    for k in model.driven:
        for w in (1.7, 4.1, 7.3, 11.9):
            a, p = 0.4 * rng.uniform(0.3, 1) / w, rng.uniform(0, 6)
            q[:, k] += a * np.sin(w * t + p)
            qd[:, k] += a * w * np.cos(w * t + p)
            qdd[:, k] -= a * w * w * np.sin(w * t + p)
    states = model.elastic_states(dt / 7, *(_finer(x, 7) for x in ((t, q, qd, qdd), (t, qd, qdd, None), (t, qdd, None, None))))
    return model, t, q, qd, qdd, states


def _finer(signals, m):
    t, x, *_ = signals
    from scipy.interpolate import make_interp_spline

    fine = np.linspace(t[0], t[-1], m * (len(t) - 1) + 1)
    return make_interp_spline(t, x, k=7)(fine)


def table(truth, noise=0.0, seed=0):
    model, t, q, qd, qdd, states = truth
    rng = np.random.default_rng(seed)
    part = slice(None, None, 7)
    names = [model.velocity_names[k] for k in model.driven]
    run = {"time": t}
    for i, k in enumerate(model.driven):
        run |= {f"q.{names[i]}": q[:, k], f"qd.{names[i]}": qd[:, k], f"qdd.{names[i]}": qdd[:, k]}
        run[f"F.{names[i]}"] = states.F[part, k]
    x = [a[part] for a in states[:3]]
    run["point.gauge"] = model.point_strains(x[0])[:, 0]
    accelerations = model.accelerometers(*x)[:, model.point_names.index("imu")]
    run |= {"point.imu.ax": accelerations[:, 0], "point.imu.ay": accelerations[:, 1]}
    for name in run:
        if name.startswith(("F.", "point.")):
            run[name] = run[name] + noise * np.std(run[name]) * rng.normal(size=len(t))
    return run


def test_without_noise_the_numbers_are_found(truth):
    found = elastogen.identify(described(1.3), table(truth), parameters=WANTED, cutoff=0)
    for name, value in TRUE.items():
        assert found[name].value == pytest.approx(value, rel=2e-5), name  # steps of the integration differ in size
        assert found[name].determined_by == "data"
    assert all(error < 1e-4 for error in found.trained[0].channels.values())
    assert found.robot.link("hand").body.mass == pytest.approx(0.4, rel=1e-4)


def test_errors_are_as_large_as_they_are_said_to_be(truth):
    inside = []
    for seed in range(3):
        found = elastogen.identify(described(1.1), table(truth, 0.02, seed), parameters=WANTED, cutoff=0)
        inside += [abs(found[name].value - value) < 2.6 * found[name].standard_error for name, value in TRUE.items()]
        assert all(found[name].standard_error < 0.3 * value for name, value in TRUE.items() if "damping" not in name)
    assert np.mean(inside) >= 0.9


def test_sensors_that_lag_and_are_biased(truth):
    run = table(truth)
    from elastogen.identification.output_error.prediction import lagged

    run["point.gauge"] = 1.05 * lagged(run["point.gauge"], 0.03, 0.005) + 1e-4
    del run["point.imu.ax"], run["point.imu.ay"]
    wanted = ["EI", "sensor_lag", "sensor_gain", "sensor_offset"]
    found = elastogen.identify(SOFT, run, parameters=wanted, cutoff=0)
    assert found["point.gauge.sensor_lag"].value == pytest.approx(0.03, rel=1e-3)
    assert found["point.gauge.sensor_gain"].value == pytest.approx(1.05, rel=1e-3)
    assert found["point.gauge.sensor_offset"].value == pytest.approx(1e-4, rel=1e-2)


def test_the_file_keeps_its_comments_and_only_the_numbers_differ(truth, tmp_path):
    from ruamel.yaml import YAML

    path = tmp_path / "soft.yaml"
    with path.open("w") as stream:
        stream.write("# a soft arm\n")
        YAML().dump(described(1.2), stream)
    before = path.read_text().splitlines()
    found = elastogen.identify(path, table(truth), parameters=["EI", "stiffness"], cutoff=0)
    saved = found.save(tmp_path / "new.yaml")
    after = saved.read_text().splitlines()
    assert path.read_text().splitlines() == before
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert [a.split(":")[0].strip() for a, _ in changed] == ["EI", "stiffness"]
    assert after[0] == "# a soft arm"
    assert "gauge" in found.table()
    assert '"estimates"' in found.json()


def test_what_is_wrong_is_said(truth):
    run = table(truth)
    cases = [
        ({"parameters": ["links.boom.flexible.EJ"]}, run, "links.boom.flexible.EI"),
        ({"parameters": ["GJ"]}, run, "a robot that has it"),
        ({"parameters": ["EI", "viscous"]}, run, "name friction and inertia by their paths"),
        ({"parameters": ["EI"], "loss": "square"}, run, "one of linear"),
        ({"parameters": ["EI"]}, {**run, "point.gage": run["point.gauge"]}, "gauge"),
        ({"parameters": ["EI"]}, {**run, "point.imu": run["point.gauge"]}, "point.imu.ax"),
        ({"parameters": ["EI"]}, {**run, "point.gauge": 0 * run["point.gauge"]}, "check the column"),
        ({"parameters": ["EI"]}, {k: v for k, v in run.items() if k[0] not in "Fp"}, "F.swing"),
    ]
    for options, data, said in cases:
        with pytest.raises(elastogen.ElastogenError) as caught:
            elastogen.identify(SOFT, data, cutoff=0, **options)
        assert said in str(caught.value)


def test_gauges_alone_are_enough_for_what_they_show(truth):
    run = {k: v for k, v in table(truth).items() if not k.startswith("F.")}
    found = elastogen.identify(described(1.05), run, parameters=["EI", "link_damping"], cutoff=0)
    assert "no forces were measured" in " ".join(found.notes)
    assert set(found.channels) == {"point.gauge", "point.imu.ax", "point.imu.ay"}
