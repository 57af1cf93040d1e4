"""A browser that draws slowly: pictures of a motion are simple ones, and what stands is drawn whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, Browser

import elastogen
from elastogen.build.pages.view import view_page

trimesh = pytest.importorskip("trimesh", reason="no trimesh: pip install 'elastogen[meshes]'")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
LINK = """<link name="{name}">
  <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="ball.stl"/></geometry><material name="red"/></visual>
</link>"""
JOINT = """<joint name="{name}" type="continuous">
  <parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 {z}"/><axis xyz="0 1 0"/>
</joint>"""


def balls(count: int, folder: Path, subdivisions: int) -> Path:
    """A page with a chain of red balls, 1 m apart."""
    links = [LINK.format(name=f"arm{k}") for k in range(count)]
    parents = ["base", *(f"arm{k}" for k in range(count))]
    joints = [JOINT.format(name=f"turn{k}", parent=parents[k], child=parents[k + 1], z=min(k, 1)) for k in range(count)]
    red = '<material name="red"><color rgba="0.9 0.1 0.1 1"/></material>'
    (folder / "balls.urdf").write_text(
        "\n".join(['<robot name="balls">', red, '<link name="base"/>', *links, *joints, "</robot>"])
    )
    trimesh.creation.icosphere(subdivisions=subdivisions, radius=0.5).export(folder / "ball.stl")
    page = folder / "view.html"
    page.write_text(view_page(elastogen.load(folder / "balls.urdf")), encoding="utf-8")
    return page


SEEN = """(() => {
  const { viewer } = window.poser, { width, height } = viewer.canvas;
  const { data } = viewer.context.getImageData(0, 0, width, height);
  let red = 0;
  for (let k = 0; k < data.length; k += 4) red += data[k] > 2 * data[k + 1] + 20 ? 1 : 0;
  const { render } = (viewer.sun.castShadow ? viewer.studio.renderer : viewer.studio.plain).info;
  return { red, triangles: render.triangles, calls: render.calls, shadows: viewer.sun.castShadow };
})()"""
SLOWLY = """(() => {  // as if every picture took long
  for (let k = 0; k < 8; k++) {
    window.poser.viewer.studio.cost = 1e6;
    window.poser.viewer.render();
  }
})()"""


def test_a_slow_browser_draws_simple_pictures_until_the_robot_stands(tmp_path: Path) -> None:
    page = balls(1, tmp_path, 5)  # 20480 triangles
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        browser.ask("window.poser.viewer.still = true; window.poser.show()")
        whole = browser.ask(SEEN)
        browser.ask("window.poser.viewer.still = false")
        browser.ask(SLOWLY)
        assert browser.ask("[window.poser.viewer.studio.quick, window.poser.viewer.studio.part]") == [True, 0.5]
        browser.ask("window.poser.viewer.render()")
        simple = browser.ask(SEEN)
        browser.wait_for("window.poser.viewer.sun.castShadow")  # the robot stands
        stands = browser.ask(SEEN)
        assert not browser.errors
    assert whole["triangles"] > 2 * 20480  # with those of the shadows
    assert 20480 < stands["triangles"] < whole["triangles"]  # its shadows are as they were
    assert stands["red"] == pytest.approx(whole["red"], rel=0.01)
    assert not simple["shadows"]
    assert 6_000 < simple["triangles"] < 13_000
    assert simple["red"] == pytest.approx(whole["red"], rel=0.03)


PULLED = """(() => {  // what a pointer hits at the middle of a ball, as seen
  const { viewer } = window.poser, box = viewer.canvas.getBoundingClientRect();
  const [x, y] = viewer.project(...viewer.robot.skins[%d].mesh.getWorldPosition(new THREE.Vector3()).toArray());
  const hit = viewer.pick({ clientX: box.left + x, clientY: box.top + y });
  return hit && viewer.scene.frames.find(({ nodes }) => nodes[0] === hit.node).name;
})()"""


def test_many_links_are_few_meshes_where_pictures_must_be_quick(tmp_path: Path) -> None:
    """Counts, no clock: a browser without a graphics card pays for each mesh, each triangle and each shadow."""
    page = balls(12, tmp_path, 3)  # 1280 triangles each
    move = "window.poser.q[3] = %s; window.poser.show()"
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        browser.ask("window.poser.viewer.still = true; window.poser.show()")
        whole = browser.ask(SEEN)
        browser.ask("window.poser.viewer.turn(0.01, 0, 1); window.poser.viewer.render()")
        turned = browser.ask(SEEN)
        browser.ask(move % 1.2)
        bent = browser.ask(SEEN)
        browser.ask("window.poser.viewer.still = false; window.poser.viewer.studio.quick = true; window.poser.viewer.render()")
        simple, hit = browser.ask(SEEN), browser.ask(PULLED % 11)
        browser.ask(move % 0.0)
        straight = browser.ask(SEEN)
        assert not browser.errors
    assert whole["triangles"] > 2 * 12 * 1280  # with those of the shadows
    assert whole["calls"] > 2 * 12
    assert 12 * 1280 < turned["triangles"] < 13 * 1280  # another view of the same shadows
    assert simple["triangles"] <= 12_500
    assert simple["calls"] <= 5
    assert simple["red"] == pytest.approx(bent["red"], rel=0.04)
    assert straight["red"] != simple["red"]  # it moves
    assert hit == "arm11"


JUDGED = """(() => {
  const { studio } = window.poser.viewer, seen = [];
  Object.assign(studio, { part: 1, quick: false, cost: 0, fast: 0, patience: 45 });
  for (const [times, took] of [[60, 80], [80, 12], [600, 2], [60, 80], [120, 2], [1000, 2]]) {
    for (let k = 0; k < times; k++) studio.judge(took);
    seen.push([studio.quick, studio.part]);
  }
  return seen;
})()"""


def test_pictures_get_better_again_when_the_machine_has_time(tmp_path: Path) -> None:
    """No clock: pictures that took so long, as if."""
    page = balls(1, tmp_path, 1)
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        busy, average, idle, busy_again, at_first, later = browser.ask(JUDGED)
    assert busy == average == busy_again == [True, 0.5]
    assert idle == later == [False, 1]
    assert at_first[0]  # what was too slow twice is tried later than at first
