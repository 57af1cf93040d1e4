"""Pages: what they carry is what the model says; nothing of others is replaced; they need no network."""

from __future__ import annotations

import base64
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM, Browser

import elastogen
from elastogen.build.pages.animation import animate, drawn_model
from elastogen.build.pages.home import home
from elastogen.build.pages.page_text import script_json, write_page
from elastogen.build.pages.recording import FEWEST_PICTURES, MOST_PICTURES, chosen_pictures
from elastogen.build.pages.report.report import report
from elastogen.build.pages.skeleton import BEAM_NODES, skeleton
from elastogen.commands.motion.report_evidence import certificate, real_time
from elastogen.verification.findings import Certificate, Finding

CERTIFICATE = Certificate("par_table3", {"robot": "0a1b"}, (Finding("identities", "M symmetric", "passed", "1e-16", "1e-13"),))
ROBOTS = ("two_link", "par_table3", "rpb_table3")


def drawn(name: str) -> tuple[elastogen.Robot, np.ndarray]:
    """A robot, and a state of it at which every joint is where it may be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load(name)
    names, experiment = robot.coordinate_names, robot.experiment
    q = np.full(len(names), 0.02)
    for name_, value in (experiment.q0 if experiment else {}).items():
        q[names.index(name_)] = value
    return robot, q


@pytest.mark.parametrize("name", ROBOTS)
def test_nodes_are_where_the_frames_are(name: str, cache_dir: Path) -> None:
    robot, q = drawn(name)
    drawing = skeleton(robot)
    nodes = np.asarray(drawn_model(drawing).point_positions(q))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        model = elastogen.build_model(robot, outputs=["forward_kinematics"])
    frames = np.asarray(model.forward_kinematics(q))[:, :3, 3]
    by_link = {point.link: nodes[k] for k, point in reversed(list(enumerate(drawing.robot.points))) if point.link}
    for frame, link in zip(frames, model.frame_names, strict=False):
        if robot.links[0].name != link and link in by_link:
            assert by_link[link] == pytest.approx(frame, rel=1e-12, abs=1e-14)
    assert nodes[drawing.tip] == pytest.approx(frames[-1], rel=1e-12, abs=1e-14)
    beams = [line for line in drawing.lines if line.kind == "beam"]
    assert len(beams) == sum(link.flexible is not None for link in robot.links)
    assert all(len(line.nodes) == BEAM_NODES for line in beams)
    scene = json.loads(drawing.scene(nodes[None]))
    off = np.abs(nodes[drawing.drawn_nodes] - scene["center"]).max(axis=0)
    assert np.all(off + 0.06 * scene["size"] <= scene["half"])  # the camera sees the marks of base and tip, too


def arrays(page: str) -> dict[str, np.ndarray]:
    found = re.findall(r'(\w+): \[?decode\("([^"]+)", Float32Array\)', page)
    return {name: np.frombuffer(base64.b64decode(text), dtype="<f4") for name, text in found}


def test_an_animation_carries_the_simulated_motion(tmp_path: Path, bender: elastogen.Model) -> None:
    motion = bender.simulate(np.full(bender.nq, 0.01), t=0.2, samples=21)
    page = motion.animate(tmp_path / "motion.html", title="a < b & c")
    text = page.read_text(encoding="utf-8")
    assert "<title>a &lt; b &amp; c</title>" in text
    data = arrays(text)
    assert data["times"] == pytest.approx(motion.t, abs=1e-7)
    frames = np.asarray(bender.forward_kinematics(motion.q))[:, -1, :3, 3]
    assert data["trace"].reshape(-1, 3) == pytest.approx(frames, abs=1e-6)
    positions, still = (data[key].reshape(21, -1, 3) for key in ("positions", "still"))
    assert np.abs(positions - still).max() > 1e-4
    assert "ghosts" not in data  # it is the robot without deformation


def test_pages_need_no_network(tmp_path: Path, arm: elastogen.Model) -> None:
    text = arm.simulate([0.3, 0.1], t=0.1, samples=3).animate(tmp_path / "a.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)\s*=\s*[\"']?\s*(?:https?:)?//", text)
    assert "@import" not in text
    assert "without deformation" not in text  # a rigid robot has no ghost


def test_long_motions_are_thinned_evenly() -> None:
    chosen = chosen_pictures(600_001, 20)
    assert len(chosen) == MOST_PICTURES
    assert (chosen[0], chosen[-1]) == (0, 600_000)
    assert np.ptp(np.diff(chosen)) <= 1
    assert len(chosen_pictures(10**6, 5000)) == FEWEST_PICTURES
    assert np.array_equal(chosen_pictures(5, 20), np.arange(5))


def test_a_film(tmp_path: Path, arm: elastogen.Model) -> None:
    film = arm.simulate([0.3, 0.1], t=0.2, samples=5).animate(tmp_path / "a.gif")
    assert film.read_bytes()[:6] in (b"GIF87a", b"GIF89a")


def test_foreign_files_and_other_endings_are_refused(tmp_path: Path, arm: elastogen.Model) -> None:
    motion = arm.simulate([0.3, 0.1], t=0.1, samples=3)
    mine = tmp_path / "mine.html"
    mine.write_text("<p>my own page</p>")
    with pytest.raises(elastogen.BuildError, match=r"mine\.html: is not a page of elastogen"):
        motion.animate(mine)
    assert mine.read_text() == "<p>my own page</p>"
    motion.animate(mine, force=True)
    motion.animate(mine)  # now it is ours
    with pytest.raises(elastogen.BuildError, match=r"got the ending '\.txt', expected a page"):
        motion.animate(tmp_path / "page.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(elastogen.BuildError, match="is not a page"):
        write_page(tmp_path / "folder.html", "x")


def test_batches_and_loaded_models_say_why_not(tmp_path: Path, arm: elastogen.Model) -> None:
    with pytest.raises(elastogen.ModelError, match=r"got 1 batch axes .* expected one motion"):
        arm.simulate(np.zeros((2, 2)), t=0.1, samples=3).animate(tmp_path / "a.html")
    loaded = elastogen.load_model(arm.extension)
    with pytest.raises(elastogen.ModelError, match="does not know how the robot looks"):
        loaded.simulate([0.3, 0.1], t=0.1, samples=3).animate(tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_names_cannot_end_a_script() -> None:
    text = script_json({"name": "</script><script>alert(1)"})
    assert "<" not in text
    assert json.loads(text) == {"name": "</script><script>alert(1)"}


def test_a_report_has_all_sections(tmp_path: Path, cache_dir: Path) -> None:
    robot, q = drawn("par_table3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        model = elastogen.build_model(robot)
    motion = model.simulate(q, t=0.05, samples=5)
    evidence = [real_time(model, home(robot, model), 0.05), certificate(CERTIFICATE, "par_table3")]
    page = report(
        robot, tmp_path / "r.html", motion=motion, messages=["mind the <gap>"], robot_text="# as <measured>", more=evidence
    )
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles == [
        "The robot", "Warnings", "Description", "Vibrations", "Frequencies over configurations",
        "Convergence of the frequencies", "Workspace of the tip", "Simulation", "Mass matrix", "Cost of the functions",
        "Emitted functions", "Real time", "Certificate",
    ]  # fmt: skip
    assert "# as &lt;measured&gt;" in text
    assert "<td>passed</td><td>identities</td><td>M symmetric</td>" in text
    assert re.search(r'<td>99 %</td><td class="number">[\d.]+</td><td class="number">[\d.]+</td>', text)
    assert "mind the &lt;gap&gt;" in text
    first = float(model.modes(home(robot, model), joints="locked").hertz[0])
    assert f'<td class="number">{first:.5g}</td>' in text
    assert len(text) < 2_000_000
    assert text.count("new Player(document") == 2 + 3  # the robot, the simulation, three modes
    assert "No joint changes the frequencies" in text  # of one flexible link
    names, frames = frames_of_the_picture(text)
    expected = np.asarray(model.forward_kinematics(home(robot, model)))
    for name, frame in zip(model.frame_names, expected, strict=True):
        assert frames[names.index(name)] == pytest.approx(frame[:3], abs=1e-6)
    if CHROMIUM is not None:
        the_report_works_in_a_browser(page, tmp_path)


def frames_of_the_picture(text: str) -> tuple[list[str], np.ndarray]:
    """Names and frames (n, 3, 4) of the first picture, from the nodes that span them."""
    start = text[text.index("new Player(document") :]
    data, scene = arrays(start.partition("\n});")[0]), json.loads(start[start.index("{") :].partition(", {\n")[0])
    nodes = data["positions"].reshape(len(data["times"]), -1, 3)[0]
    o, y, z = (nodes[[frame["nodes"][k] for frame in scene["frames"]]] for k in range(3))
    return [frame["name"] for frame in scene["frames"]], np.stack([np.cross(y - o, z - o), y - o, z - o, o], axis=-1)


def the_report_works_in_a_browser(page: Path, folder: Path) -> None:
    """Opened as on a desk and as on a phone: no error, nothing from the network, nothing wider than the screen; it plays."""
    charts, part = "[...document.querySelectorAll('figure.chart > svg')]", "document.getElementById('simulation')"
    slider, play = (f"{part}.querySelector('[data-role={name}]')" for name in ("time", "play"))
    clock = f"{part}.querySelector('[data-role=clock]').textContent"
    pixels = f"{part}.querySelector('canvas').toDataURL()"
    with Browser(folder / "profile") as browser:
        for width, phone in ((1200, False), (390, True)):
            browser.open(page, width=width, phone=phone)
            assert browser.ask("document.documentElement.scrollWidth") <= width
            assert not browser.errors
            assert {address.partition(":")[0] for address in browser.requests} <= {"file", "data", "blob"}
        assert browser.ask(f"{charts}.length") >= 6
        assert browser.ask(f"{charts}.every((chart) => chart.querySelector('polyline, path').getBBox().width > 50)")
        before = browser.ask(pixels)
        browser.ask(f"{slider}.value = 4, {slider}.dispatchEvent(new Event('input'))")
        assert browser.ask(clock) == "0.050 s"
        assert browser.ask(pixels) != before
        browser.ask("void (window.requestAnimationFrame = (next) => setTimeout(() => next(performance.now()), 1))")  # unpainted
        assert browser.ask(f"{play}.click(), {play}.textContent") == "Pause"  # from the end it starts again ...
        browser.wait_for(f"{play}.textContent === 'Play' && {clock} === '0.050 s'")  # ... and stops there
        assert not browser.errors


def test_animate_writes_a_page_beside_the_rigid_robot(tmp_path: Path, cache_dir: Path) -> None:
    robot, q = drawn("par_table3")
    comparison = elastogen.compare_with_rigid(robot, q0=q, t=0.05, samples=6, F=None)
    data = arrays(animate(robot, comparison.flexible, tmp_path / "m.html", rigid=comparison.rigid).read_text(encoding="utf-8"))
    assert data["ghosts"].shape == data["positions"].shape
    assert not np.array_equal(data["ghosts"], data["still"])


def test_a_recorded_run_is_drawn_like_a_simulation(tmp_path: Path, arm: elastogen.Model) -> None:
    loop = arm.loop(free_running=True, rate=1000)
    loop.move_to([0.5, -0.3], seconds=0.05)
    loop.step(60)
    records = loop.read()
    motion = loop.motion(records)
    assert motion.q == pytest.approx(records["q"], abs=0)
    data = arrays(motion.animate(tmp_path / "run.html").read_text(encoding="utf-8"))
    assert data["times"] == pytest.approx(records["tick"] / 1000.0, abs=1e-6)
    shoulder, elbow = records["q"].T
    tips = np.stack([np.cos(shoulder) + np.cos(shoulder + elbow), np.sin(shoulder) + np.sin(shoulder + elbow)], axis=-1)
    assert data["trace"].reshape(-1, 3)[:, :2] == pytest.approx(tips, abs=1e-6)  # links of 1 m
    with pytest.raises(elastogen.ModelError, match="got no records"):
        loop.motion(records[:0])


def test_notebooks_show_robots_models_and_motions(arm: elastogen.Model) -> None:
    robot, _ = drawn("two_link")
    shown = robot._repr_html_()
    assert "<td>shoulder</td><td>revolute</td>" in shown
    assert shown.count("<tr>") == 1 + len(robot.joints)
    table = arm._repr_html_()
    count = arm.functions["inverse_dynamics"].count
    assert f"<td>inverse_dynamics</td><td>q[2], qd[2], qdd[2]</td><td>F[2]</td><td>{count['mul']}</td>" in table
    motion = arm.simulate([0.3, 0.1], t=0.1, samples=3)
    inline = motion._repr_html_()
    assert 'srcdoc="&lt;!DOCTYPE html&gt;' in inline.replace("\n", "")
    assert "<iframe" not in elastogen.load_model(arm.extension).simulate([0.3, 0.1], t=0.1, samples=3)._repr_html_()
