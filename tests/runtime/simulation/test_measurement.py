"""Measured motions beside simulated ones: figures of known signals, files, and what cannot be compared."""

from types import SimpleNamespace

import numpy as np
import pytest

import elastogen
from elastogen.runtime.simulation.measurement import damping_ratio, fits, read_measurement, strongest_frequency


def vibration(t, frequency, ratio, amplitude=0.01):
    omega = 2 * np.pi * frequency
    return amplitude * np.exp(-ratio * omega * t) * np.cos(omega * np.sqrt(1 - ratio**2) * t)


def test_figures_of_a_known_vibration():
    t = np.linspace(0, 4, 2001)
    x = 0.3 + 0.1 * t + vibration(t, 3.2, 0.01)
    assert strongest_frequency(t, x) == pytest.approx(3.2, rel=2e-3)
    assert damping_ratio(t, x, 3.2) == pytest.approx(0.01, rel=0.05)
    assert np.isnan(strongest_frequency(t, 0 * t))
    assert np.isnan(damping_ratio(t, x, np.nan))


@pytest.mark.parametrize(
    ("frequency", "ratio", "step"), [(2.0, 0.0, 0.01), (2.0, 0.01, 0.005), (2.0, 0.1, 0.005), (20.0, 0.01, 0.02)]
)
def test_damping_of_a_noisy_vibration(frequency, ratio, step):
    """A sensor's noise of 1 % has a maximum in every few samples; the last case has 2.5 samples in a period."""
    t = np.arange(0, 10, step)
    noise = 1e-4 * np.random.default_rng(91).normal(size=len(t))
    for error, x in ((5e-4, vibration(t, frequency, ratio)), (1e-3, vibration(t, frequency, ratio) + noise)):
        damped = frequency * np.sqrt(1 - ratio**2)
        assert damping_ratio(t, x, damped) == pytest.approx(ratio, abs=error)


def simulation(t, *columns):
    names = tuple(f"j{k}" for k in range(1, len(columns) + 1))
    return SimpleNamespace(name="arm", t=t, q=np.stack(columns, axis=1), coordinate_names=names)


def write(path, header, rows):
    path.write_text("\n".join([header, *(",".join(repr(float(x)) for x in row) for row in rows)]) + "\n")
    return path


def test_deviation_and_names(tmp_path):
    t = np.linspace(0, 4, 801)
    ours = simulation(t, vibration(t, 3.0, 0.02), 0.2 * t)
    real = vibration(t, 3.1, 0.01) + 0.001
    measured = read_measurement(write(tmp_path / "m.csv", "t [s],q j1 [rad],flex", zip(t, real, 2 * real, strict=True)))
    first, gauge = fits(measured, ours, {"flex": 2 * ours.q[:, 0]})
    assert (first.name, gauge.name) == ("j1", "flex")
    assert first.rms == pytest.approx(np.sqrt(np.mean((real - ours.q[:, 0]) ** 2)), rel=1e-12)
    assert gauge.rms == pytest.approx(2 * first.rms, rel=1e-12)
    assert first.measured_frequency == pytest.approx(3.1, rel=5e-3)
    assert first.simulated_frequency == pytest.approx(3.0, rel=5e-3)
    assert first.simulated_damping == pytest.approx(0.02, rel=0.1)
    assert "RMS" in str(first)


BAD = {
    "no header": ("1,2\n2,3\n", "8 rows"),
    "text": ("t,j1\n" + "0,a\n" * 9, "numbers"),
    "times": ("t,j1\n" + "1,2\n" * 9, "do not grow"),
    "unknown": ("t,wrist\n" + "".join(f"{k},1\n" for k in range(9)), "wrist"),
    "twice": ("t,j1,j1\n" + "".join(f"{k},1,2\n" for k in range(9)), "twice"),
    "empty": ("", "expected a time"),
    "beyond": ("t,j1\n" + "".join(f"{k + 100},1\n" for k in range(9)), "fewer than 8 samples"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case, tmp_path):
    text, message = BAD[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    t = np.linspace(0, 10, 101)
    with pytest.raises(elastogen.ModelError, match=message):
        fits(read_measurement(path), simulation(t, t), {})


def test_a_missing_file(tmp_path):
    with pytest.raises(elastogen.ModelError, match="cannot be read"):
        read_measurement(tmp_path / "none.csv")


def test_the_command_compares_the_experiment(tmp_path, monkeypatch, capsys, cache_dir):
    """The simulation itself, saved and read back, is met exactly; node 2 of the link and the flex sensors are columns."""
    from elastogen.command_line import main

    monkeypatch.chdir(tmp_path)
    model = elastogen.build_model("par_experiment")  # as the command does
    run = model.simulate(**elastogen.experiment_arguments(elastogen.load("par_experiment")))
    strains = model.point_strains(run.q)
    node = run.q[:, run.coordinate_names.index("link2.y1")]
    write(tmp_path / "m.csv", "t,link2.y1,flex1", zip(run.t, node, strains[:, 0], strict=True))
    assert main(["simulate", "par_experiment", "--measured", "m.csv", "--no-beside-rigid", "--no-plot"]) == 0
    shown = capsys.readouterr().out
    assert "link2.y1: RMS deviation" in shown
    assert "flex1: RMS deviation" in shown
