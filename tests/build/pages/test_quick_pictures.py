"""A browser that draws slowly: pictures of a motion are simple ones, and what stands is drawn whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, Browser

import elastogen
from elastogen.build.pages.view import view_page

trimesh = pytest.importorskip("trimesh", reason="no trimesh: pip install 'elastogen[meshes]'")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
URDF = """<robot name="ball">
  <material name="red"><color rgba="0.9 0.1 0.1 1"/></material>
  <link name="base"/>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="ball.stl"/></geometry><material name="red"/></visual>
  </link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>"""
SEEN = """(() => {
  const { viewer } = window.poser, { width, height } = viewer.canvas;
  const { data } = viewer.context.getImageData(0, 0, width, height);
  let red = 0;
  for (let k = 0; k < data.length; k += 4) red += data[k] > 2 * data[k + 1] + 20 ? 1 : 0;
  return { red, triangles: viewer.studio.renderer.info.render.triangles, shadows: viewer.sun.castShadow };
})()"""
SLOWLY = """(() => {  // as if every picture took long
  for (let k = 0; k < 8; k++) {
    window.poser.viewer.studio.cost = 1e6;
    window.poser.viewer.render();
  }
})()"""


def test_a_slow_browser_draws_simple_pictures_until_the_robot_stands(tmp_path: Path) -> None:
    (tmp_path / "ball.urdf").write_text(URDF)
    trimesh.creation.icosphere(subdivisions=5, radius=0.5).export(tmp_path / "ball.stl")  # 20480 triangles
    page = tmp_path / "view.html"
    page.write_text(view_page(elastogen.load(tmp_path / "ball.urdf")), encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.open(page)
        whole = browser.ask(SEEN)
        browser.ask(SLOWLY)
        assert browser.ask("[window.poser.viewer.studio.quick, window.poser.viewer.studio.part]") == [True, 0.5]
        browser.ask("window.poser.viewer.render()")
        simple = browser.ask(SEEN)
        browser.wait_for("window.poser.viewer.sun.castShadow")  # the robot stands
        stands = browser.ask(SEEN)
        assert not browser.errors
    assert whole["triangles"] > 2 * 20480  # with those of the shadows
    assert stands["triangles"] == whole["triangles"]
    assert stands["red"] == pytest.approx(whole["red"], rel=0.01)
    assert not simple["shadows"]
    assert 6_000 < simple["triangles"] < 13_000
    assert simple["red"] == pytest.approx(whole["red"], rel=0.03)
