"""Many simulations of one robot: in one process and on a cluster, interrupted, with a lost worker, as a table."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulated_robots import PENDULUM

import elastogen
from elastogen import ModelError, Simulation

OPTIONS: dict[str, Any] = {"outputs": "simulation", "lanes": True}
RECIPE = elastogen.Recipe(PENDULUM, OPTIONS)
MOTION: dict[str, Any] = {"t": 0.5, "samples": 2, "method": "rk4"}
CASES = [{"q0": [0.1 * k], "parameters": {"m": 1.0 + 0.1 * k}, **MOTION} for k in range(7)]  # blocks of lanes, by chunk

SAMPLED = ("t", "q", "qd", "F", "kinetic", "potential", "work", "dissipated", "steps", "time_reached", "largest_slopes")


def last_angle(simulation: Simulation) -> float:
    return float(simulation.q[-1, 0])


def end_of(simulation: Simulation) -> dict[str, Any]:
    return {"angle": simulation.q[-1, 0], "path": simulation.q[:, 0]}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def angles() -> list[float]:
    """What the cases come to, one by one."""
    return [last_angle(RECIPE.model().simulate(**case)) for case in CASES]  # type: ignore[arg-type]


def test_a_study_in_this_process(angles: list[float]) -> None:
    assert RECIPE.model() is elastogen.Recipe(PENDULUM, OPTIONS).model()
    assert elastogen.run_study(RECIPE, CASES, reduce=last_angle, chunk=3) == angles
    failing = {"q0": [0.0], "t": 1.0, "parameters": {"m": 0.0, "Izz": 0.0}}
    results = elastogen.run_study(RECIPE, [{"q0": [0.3], "t": 1.0}, failing])
    assert [result.status for result in results] == ["OK", "SINGULAR"]
    assert elastogen.run_study(RECIPE, []) == []


def test_cases_that_differ_in_state_and_parameters_are_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """In any order, beside others; with the bits of one by one, a failure among them."""
    model, simulate = RECIPE.model(), elastogen.Model.simulate
    sizes: list[int] = []

    @functools.wraps(simulate)
    def counted(self: Any, q0: Any, *arguments: Any, **options: Any) -> Simulation:
        result = simulate(self, q0, *arguments, **options)
        sizes.append(np.size(result.status))
        return result

    cases: list[dict[str, Any]] = [{**case, "t": 0.3 + 0.1 * (k % 2)} for k, case in enumerate(CASES)]
    cases[4] = {**cases[4], "q0": [np.nan]}
    cases += [{"q0": [0.2], "t": 0.3}, {"q0": [[0.1], [0.2]], **MOTION}, {"q0": [0.2], "F": lambda t, q, qd: -qd, **MOTION}]
    cases += [{"q0": [0.2], "stops": "end", **MOTION}, {"q0": [0.3], "qd0": [0.1], **MOTION}]
    expected = [model.simulate(**{"on_failure": "keep", **case}) for case in cases]
    monkeypatch.setattr(elastogen.Model, "simulate", counted)
    found = elastogen.run_study(RECIPE, cases)
    assert sorted(sizes) == [1, 1, 1, 1, 2, 3, 4]
    for one, other in zip(found, expected, strict=True):
        for name in (
            "t",
            "q",
            "qd",
            "F",
            "kinetic",
            "potential",
            "work",
            "dissipated",
            "steps",
            "time_reached",
            "largest_slopes",
        ):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert type(one.status) is type(other.status)
        assert np.array_equal(one.status, other.status)
    with pytest.raises(ModelError, match=r"q0 has shape \(2,\)"):
        elastogen.run_study(RECIPE, [*cases, {"q0": [0.1, 0.2], **MOTION}])
    with pytest.raises(ModelError, match=r"parameters\['m'\]: got nan"):
        elastogen.run_study(RECIPE, [*CASES, {**CASES[0], "parameters": {"m": np.nan}}])
    for wrong in ((), (7,), (0, 0)):
        with pytest.raises(ModelError, match="expected an index of the batch"):
            found[8].motion(*wrong)
    assert found[8].motion(-1).q.tobytes() == found[8].q[1].tobytes()


def test_a_study_on_a_cluster(client: Any, angles: list[float]) -> None:
    assert elastogen.run_study(RECIPE, CASES, reduce=last_angle, client=client, chunk=3) == angles


class Dying:
    """Kills the worker that meets the third case, once."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, simulation: Simulation) -> dict[str, Any]:
        if abs(simulation.q[0, 0] - 0.3) < 1e-12 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return end_of(simulation)


def test_a_lost_worker_costs_no_results(client: Any, angles: list[float], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    mark = tmp_path / "died"
    folder = elastogen.run_study(RECIPE, CASES, reduce=Dying(mark), client=client, chunk=2, table=tmp_path / "table")
    assert mark.exists()
    assert parquet.read_table(folder)["angle"].to_pylist() == angles


def test_a_table_holds_every_case_and_goes_on_where_it_was(angles: list[float], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    seen: list[float] = []

    def row(simulation: Simulation) -> dict[str, Any]:
        if len(seen) == 4:
            raise KeyboardInterrupt
        seen.append(float(simulation.q[0, 0]))
        return end_of(simulation)

    with pytest.raises(KeyboardInterrupt):
        elastogen.run_study(RECIPE, CASES, reduce=row, chunk=3, table=tmp_path / "study")
    assert [path.name for path in sorted((tmp_path / "study").glob("part*"))] == ["part-00000.parquet"]
    seen[:] = [0.0] * 5
    folder = elastogen.run_study(RECIPE, CASES, reduce=row, chunk=3, table=tmp_path / "study")
    assert folder == tmp_path / "study"
    assert len(seen) == 5 + 4  # three of the seven were there
    table = parquet.read_table(folder)
    assert table["case"].to_pylist() == list(range(7))
    assert set(table["status"].to_pylist()) == {"OK"}
    assert table["angle"].to_pylist() == angles
    assert [len(path) for path in table["path"].to_pylist()] == [2] * 7
    again = elastogen.run_study(RECIPE, CASES, reduce=row, chunk=3, table=folder)
    assert len(seen) == 9
    assert again == folder


def write_pendulum(path: Path, mass: float) -> None:
    path.write_text(
        "elastogen: 1\nname: pendulum\njoints: [{name: j, type: revolute, axis: [0, 1, 0]}]\n"
        f"links: [{{name: base}}, {{name: rod, mass: {mass}, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1]}}]\n"
    )


def test_a_file_that_changes_is_another_robot(tmp_path: Path) -> None:
    """In this process, and in a table that was left half done: no rows of two robots in one."""
    pytest.importorskip("pyarrow")
    file, cases = tmp_path / "pendulum.yaml", [{"q0": [0.3], "t": 0.2, "samples": 2}] * 2
    write_pendulum(file, 1.0)
    recipe = elastogen.Recipe(file, {"outputs": "simulation"})
    light = elastogen.run_study(recipe, cases, reduce=last_angle)
    elastogen.run_study(recipe, cases, reduce=end_of, chunk=1, table=tmp_path / "table")
    (tmp_path / "table" / "part-00001.parquet").unlink()
    write_pendulum(file, 50.0)
    assert abs(elastogen.run_study(recipe, cases, reduce=last_angle)[0] - light[0]) > 1e-3
    with pytest.raises(ModelError, match="another study"):
        elastogen.run_study(recipe, cases, reduce=end_of, chunk=1, table=tmp_path / "table")
    write_pendulum(file, 1.0)
    elastogen.run_study(recipe, cases, reduce=end_of, chunk=1, table=tmp_path / "table")


def test_robots_that_differ_in_a_formula_are_two() -> None:
    """A joint by formula does not show its formula in its text."""

    def cam(angle: str) -> elastogen.Robot:
        joint = {"name": "j", "type": "formula", "coordinates": {"a": "rad"}, "turns": [{"axis": [0, 1, 0], "angle": angle}]}
        links = [{"name": "base"}, {"name": "rod", "mass": 1, "com": [0.3, 0, 0], "inertia": [0.1, 0.1, 0.1]}]
        return elastogen.load({"elastogen": 1, "name": "cam", "links": links, "joints": [joint]})

    once, twice = (
        elastogen.Recipe(cam(angle), {"outputs": ["mass_matrix"]}).model().mass_matrix([0.0]) for angle in ("a", "2*a")
    )
    np.testing.assert_allclose(twice, 4 * once, rtol=1e-14)


def test_a_reduction_that_was_edited_is_another_study(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    one, other = (lambda s: {"x": s.q[-1, 0]}), (lambda s: {"x": s.q[-1, 0] + 1.0})
    folder = elastogen.run_study(RECIPE, CASES[:1], reduce=one, table=tmp_path / "study")
    with pytest.raises(ModelError, match="another study"):
        elastogen.run_study(RECIPE, CASES[:1], reduce=other, table=folder)


def test_a_reduction_with_another_number_in_it_is_another_study(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")

    def above(least: float) -> Any:
        return lambda s: {"above": bool(s.q[-1, 0] > least)}

    folder = elastogen.run_study(RECIPE, CASES[:1], reduce=above(0.1), table=tmp_path / "study")
    assert elastogen.run_study(RECIPE, CASES[:1], reduce=above(0.1), table=folder) == folder
    with pytest.raises(ModelError, match="another study"):
        elastogen.run_study(RECIPE, CASES[:1], reduce=above(0.2), table=folder)


def test_columns_that_some_cases_leave_out_are_in_the_table(tmp_path: Path) -> None:
    """Not even the first row, or the first part, has them; numbers are whole in one part only; lists are empty there."""
    parquet = pytest.importorskip("pyarrow.parquet")

    def row(s: Simulation) -> dict[str, Any]:
        case = int(np.flatnonzero([s.q[0, 0] == given["q0"][0] for given in CASES])[0])
        least: dict[str, Any] = (
            {"none": None, "number": 1, "list": []} if case < 2 else {"none": 2.5, "number": 0.5, "list": [1.5]}
        )
        return least if case in (0, 2) else {"late": f"case {case}", **least}

    table = parquet.read_table(
        elastogen.run_study(RECIPE, CASES[:4], reduce=row, chunk=2, table=tmp_path / "study")
    ).to_pydict()
    assert table["late"] == [None, "case 1", None, "case 3"]
    assert table["none"] == [None, None, 2.5, 2.5]
    assert table["number"] == [1.0, 1.0, 0.5, 0.5]
    assert table["list"] == [[], [], [1.5], [1.5]]


def test_columns_of_two_kinds_are_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")

    def row(s: Simulation) -> dict[str, Any]:
        return {"end": "text" if s.q[0, 0] == CASES[0]["q0"][0] else 1.0}

    with pytest.raises(ModelError, match="column 'end' cannot be one of a table"):
        elastogen.run_study(RECIPE, CASES[:2], reduce=row, table=tmp_path / "one", chunk=2)
    with pytest.raises(ModelError, match="Field end has incompatible types"):
        elastogen.run_study(RECIPE, CASES[:2], reduce=row, table=tmp_path / "two", chunk=1)


def test_a_study_that_was_killed_before_its_note_begins_again(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "_unfinished-123-_study.json").write_text("{")
    assert elastogen.run_study(RECIPE, CASES[:1], reduce=end_of, table=tmp_path) == tmp_path


def test_tables_of_others_are_left_alone(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    folder = elastogen.run_study(RECIPE, CASES[:2], reduce=end_of, table=tmp_path / "study")
    other = {"q0": np.array([0.11]), "t": 0.5, "samples": 2}
    for cases, options in (([CASES[0], other], {}), (CASES[:2], {"chunk": 1}), (CASES[:2], {"reduce": last_angle})):
        with pytest.raises(ModelError, match="another study"):
            elastogen.run_study(RECIPE, cases, **{"reduce": end_of, "table": folder, **options})  # type: ignore[call-overload]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(ModelError, match="a new or empty folder"):
        elastogen.run_study(RECIPE, CASES, reduce=end_of, table=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chunk": 0}, "chunk=0, expected how many"),
        ({"reduce": None}, "without reduce"),
        ({"reduce": last_angle}, "returned float for case 0"),
        ({"reduce": lambda s: {"case": 1}}, "a column that every table has"),
        ({"reduce": lambda s: {"all": s}}, "column 'all' is Simulation"),
        ({"chunk": True}, "chunk=True, expected how many"),
        ({"reduce": 3}, "reduce=3, expected a function"),
        ({"cases": ({} for _ in range(2))}, "cases is generator, expected a list"),
        ({"cases": [3]}, "case 0 is 3, expected arguments"),
        ({"cases": [CASES[0], {"q": [0.1], "t": 1.0}]}, "case 1 has 'q', expected arguments of Model.simulate: q0, qd0"),
        ({"cases": [{"q0": [0.1]}]}, "case 0 has no 't'"),
        ({"recipe": "two_link"}, "recipe='two_link', expected for example Recipe"),
        ({"table": "/dev/null/study"}, "is not writable"),
        ({"reduce": type("Odd", (), {"__call__": end_of})()}, "cannot be identified"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(ModelError, match=words):
        elastogen.run_study(**{"recipe": RECIPE, "cases": CASES[:1], "reduce": end_of, "table": tmp_path / "study", **options})
    assert not list(tmp_path.glob("study/part*"))


def test_progress_is_shown_on_request(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elastogen.runtime.simulation.progress_bar.PATIENCE", 0.0)
    elastogen.run_study(RECIPE, CASES, reduce=last_angle, chunk=4, progress=True)
    shown = capsys.readouterr().err
    assert "study [" in shown
    assert "57% of 7 cases" in shown
    assert shown.endswith("\r")
