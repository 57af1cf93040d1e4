"""Reading and cleaning of measurements: what is mended is reported, what is not is refused with the fix."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import elastogen

pytest.importorskip("scipy")

from elastogen.identification.measurements.clean import clean
from elastogen.identification.measurements.columns import match_columns
from elastogen.identification.measurements.read_table import read_table
from elastogen.identification.measurements.signals import LowPass, prepare

ROBOT = {
    "elastogen": 1, "name": "pair",
    "links": [{"name": "base"}, {"name": "upper", "mass": 3.0, "com": [0.2, 0, 0], "inertia": [0.01, 0.05, 0.05]},
              {"name": "lower", "mass": 2.0, "com": [0.15, 0, 0], "inertia": [0.005, 0.02, 0.02]}],
    "joints": [{"name": "shoulder", "type": "revolute", "axis": [0, 1, 0], "limits": {"lower": -3, "upper": 3}},
               {"name": "elbow", "type": "revolute", "axis": [0, 1, 0], "placement": {"xyz": [0.4, 0, 0]}}],
}  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    return elastogen.load(ROBOT)


def run(**changes):
    """Half a minute of motion that nothing is wrong with."""
    t = np.arange(0, 20, 0.01)
    q = np.stack([np.sin(1.1 * t), 0.7 * np.cos(1.7 * t)], axis=1)
    rng = np.random.default_rng(0)
    return {
        "time": t,
        "q": q,
        "qd": np.gradient(q, t, axis=0),
        "F": 5 * np.sin(q) + 0.1 * rng.standard_normal(q.shape),
    } | changes


def matched(robot, table, **options):
    return match_columns(
        read_table(table), robot, options.pop("columns", None), options.pop("gains", None), degrees=False, **options
    )


def identified(robot, table, **options):
    return elastogen.identify(robot, table, **options)


def test_files_of_all_kinds_hold_the_same(robot, tmp_path):
    table = run()
    names = [f"{signal}.{joint}" for signal in ("q", "qd", "F") for joint in ("shoulder", "elbow")]
    rows = np.column_stack([table["time"], table["q"], table["qd"], table["F"]])
    text = ",".join(["time", *names]) + "\n" + "\n".join(",".join(f"{x:.17g}" for x in row) for row in rows)
    (tmp_path / "a.csv").write_text(text + "\n")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write(text)
    np.savez(tmp_path / "a.npz", **table)
    found = [matched(robot, tmp_path / name) for name in ("a.csv", "a.csv.gz", "a.npz")]
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(dict(zip(["time", *names], rows.T, strict=True))), tmp_path / "a.parquet")
    found.append(matched(robot, tmp_path / "a.parquet"))
    for each in found:
        np.testing.assert_array_equal(each.q, table["q"])
        np.testing.assert_array_equal(each.F, table["F"])


def test_a_map_finds_columns_without_names(robot, tmp_path):
    table = run()
    rows = np.column_stack([table["time"], table["q"], table["qd"], table["F"]])
    (tmp_path / "bare.csv").write_text("\n".join(";".join(map(repr, map(float, row))) for row in rows) + "\n3.0;1.0")
    columns = {"time": 1, "q": "2-3", "qd": [4, 5], "current": {"shoulder": 6, "elbow": 7}}
    found = matched(robot, tmp_path / "bare.csv", columns={k: v for k, v in columns.items() if k != "current"} | {"F": "6-7"})
    np.testing.assert_array_equal(found.q, table["q"])
    assert "the last line is cut off: left out" in found.notes
    columns["current"] = {"shoulder": "6", "elbow": "7"}
    found = matched(robot, tmp_path / "bare.csv", columns=columns, gains={"shoulder": 10.0, "elbow": 5.0})
    np.testing.assert_allclose(found.F, table["F"] * [10, 5])


def test_stamps_are_mended_and_reported(robot):
    table = run()
    t = table["time"].copy()
    t += np.random.default_rng(1).uniform(-2e-3, 2e-3, len(t))
    t[700:] += 1.0
    repeated = np.insert(np.arange(len(t)), 300, 300)
    changed = {"time": t[repeated], **{key: table[key][repeated] for key in ("q", "qd", "F")}}
    changed["F"] = changed["F"].copy()
    changed["F"][50, 0] = np.nan
    pieces, notes = clean(matched(robot, changed), robot)
    assert len(pieces) == 2
    said = "; ".join(notes)
    for words in ("1 samples with missing numbers", "time stamp of the one before", "1 gaps longer", "uneven time stamps"):
        assert words in said
    for piece in pieces:
        np.testing.assert_allclose(np.diff(piece.time), piece.step)
        shift = 1.0 if piece.time[0] > 7 else 0.0
        np.testing.assert_allclose(piece.q[:, 0], np.sin(1.1 * (piece.time - shift)), atol=4e-3)


@pytest.mark.parametrize(("unit", "factor"), [("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_stamps_that_are_no_seconds_are_refused_and_can_be_declared(robot, unit, factor):
    log = {key: value for key, value in run().items() if key != "qd"} | {"time": factor * run()["time"]}
    with pytest.raises(elastogen.IdentificationError, match=f"columns={{'time_unit': '{unit}'}}"):
        clean(matched(robot, log), robot)
    declared = matched(robot, log, columns={"time_unit": unit})
    np.testing.assert_allclose(declared.time, run()["time"], atol=1e-9)
    clean(declared, robot)


def test_numbers_of_lines_are_no_time_and_short_motions_are_named(robot):
    log = {key: value for key, value in run().items() if key != "qd"}
    with pytest.raises(elastogen.IdentificationError, match="divide by the rate"):
        clean(matched(robot, log | {"time": np.arange(2000.0)}), robot)
    with pytest.raises(elastogen.IdentificationError, match="one of s, ms, us, ns"):
        matched(robot, log, columns={"time_unit": "min"})
    with pytest.raises(elastogen.IdentificationError, match=r"got 0\.59 s, expected at least 1 s"):
        clean(matched(robot, {key: value[:60] for key, value in log.items()}), robot)


def test_differentiation_is_exact_without_noise(robot):
    t = np.arange(0, 10, 0.001)
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    (piece,), _ = clean(matched(robot, {"time": t, "q": q, "F": 1.0 + q}), robot)
    motion = prepare(piece, 0.0)
    inner = slice(20, -20)
    np.testing.assert_allclose(motion.qd[inner], np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=1)[inner], atol=1e-10)
    np.testing.assert_allclose(motion.qdd[inner], np.stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t)], axis=1)[inner], atol=1e-6)


def test_the_low_pass_has_no_phase():
    t = np.arange(0, 20, 0.01)
    low_pass = LowPass(10.0, 0.01)
    inner = slice(low_pass.margin, -low_pass.margin)
    np.testing.assert_allclose(low_pass(np.sin(t))[inner], np.sin(t)[inner], atol=1e-6)
    assert np.abs(low_pass(np.sin(2 * np.pi * 40 * t))[100:-100]).max() < 1e-5


def bad_names(table):
    return {"time": table["time"], "q.shoulder": table["q"][:, 0], "q.elbo": table["q"][:, 1], "F": table["F"]}


def backward(table):
    return table | {"time": np.where(np.arange(len(table["time"])) == 500, 0.0, table["time"])}


BAD = {
    "no forces": (lambda t: {k: v for k, v in t.items() if k != "F"}, {}, "expected F.shoulder"),
    "names": (bad_names, {}, "did you mean 'q.elbo'"),
    "width": (lambda t: t | {"q": t["q"][:, :1]}, {}, "1 columns, expected 2: shoulder, elbow"),
    "length": (lambda t: t | {"F": t["F"][:-3]}, {}, "1997 samples, expected 2000 as time has"),
    "currents": (lambda t: {"time": t["time"], "q": t["q"], "current": t["F"]}, {}, "currents without gains"),
    "gain": (lambda t: {"time": t["time"], "q": t["q"], "current": t["F"]}, {"gains": {"shoulder": 1.0}}, "none for elbow"),
    "gain's name": (lambda t: {"time": t["time"], "q": t["q"], "current": t["F"]}, {"gains": {"sholder": 1.0}}, "did you mean"),
    "degrees": (lambda t: t | {"q": np.degrees(t["q"]), "qd": np.degrees(t["qd"])}, {}, "if these are degrees, say so"),
    "rates": (lambda t: t | {"qd": np.degrees(t["qd"])}, {}, "57.3 times the rate of q.shoulder"),
    "sign": (lambda t: t | {"qd": -t["qd"]}, {}, "turn its sign"),
    "backward": (backward, {}, "cut the file there"),
    "few": (lambda t: {k: v[:30] for k, v in t.items()}, {}, "30 samples, expected at least 50"),
    "short": (lambda t: {k: v[:120] for k, v in t.items()}, {"cutoff": 10.0}, "samples"),
    "still": (lambda t: t | {"q": t["q"] * [1, 0], "qd": t["qd"] * [1, 0]}, {}, "a joint that does not move"),
    "dead": (lambda t: t | {"F": t["F"] * [1, 0]}, {}, "0 all the time, expected a measured force"),
    "saturated": (lambda t: t | {"F": np.clip(t["F"], -2, 2)}, {}, "expected a force that is not cut off"),
    "words": (lambda t: t, {"parameters": "inertias"}, "did you mean 'inertia'"),
    "both": (lambda t: t, {"parameters": ["inertia", "payload"]}, "a payload cannot be distinguished from the link"),
    "cutoff": (lambda t: t, {"cutoff": 80.0}, "less than 45 Hz at this rate"),
    "negative": (lambda t: t, {"cutoff": -1.0}, "a frequency"),
    "prior": (lambda t: t, {"prior": 0.0}, "relative uncertainty"),
    "loss": (lambda t: t, {"loss": "cubic"}, "one of linear, huber"),
    "gains": (lambda t: t, {"gains": "some"}, "numbers by joint, or 'commanded'"),
    "map": (lambda t: t, {"columns": {"position": "q"}}, "expected a signal of the robot"),
    "mapped": (lambda t: t, {"columns": {"q": "p"}}, "no column 'p'"),
    "kind": (lambda t: 7, {}, "expected a file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_measurements_are_refused_with_the_fix(robot, case):
    spoil, options, words = BAD[case]
    with pytest.raises(elastogen.IdentificationError) as caught:
        identified(robot, spoil(run()), **options)
    assert words in str(caught.value)
    assert "Fix: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", "", "an empty file"),
        ("head.csv", "time,q\n", "no line of numbers"),
        ("text.csv", "time,q.shoulder\n1,2\na,b\nc,d\n3,4\n", "lines without 2 numbers"),
        ("twice.csv", "time,q,q\n1,2,3\n", "two columns 'q'"),
        ("data.xls", "x", "expected one of .csv"),
        ("cut.csv.gz", "not gzip", "cannot be read"),
        ("cut.npz", "not an archive", "cannot be read"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(elastogen.IdentificationError, match=words):
        read_table(tmp_path / name)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(elastogen.IdentificationError, match="no such file"):
        read_table(tmp_path / "nothing.csv")


def test_nothing_at_all_is_refused(robot):
    with pytest.raises(elastogen.IdentificationError, match="no run"):
        elastogen.identify(robot, [])
    with pytest.raises(elastogen.IdentificationError, match="no samples"):
        elastogen.identify(robot, {"time": [], "q": np.zeros((0, 2)), "F": np.zeros((0, 2))})
