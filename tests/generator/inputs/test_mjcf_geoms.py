"""How the links of an MJCF file look: shapes, places and colors of its geoms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import elastogen

pytest.importorskip("mujoco")
MJCF = """<mujoco model="painted">
  <asset><material name="red" rgba="0.8 0.1 0.2 1"/></asset>
  <worldbody><body name="arm"><joint name="j" axis="0 0 1"/>
    <geom name="own" type="box" size="0.1 0.2 0.3" pos="0.5 0 0" rgba="0.25 0.5 0.75 0.9"/>
    <geom name="by_material" type="sphere" size="0.05" material="red"/>
    <geom name="both" type="capsule" size="0.02 0.1" material="red" rgba="0 1 0 1"/>
    <geom name="plain" type="cylinder" size="0.03 0.2"/>
    <geom name="unseen" type="sphere" size="0.4" rgba="1 1 1 0"/>
  </body></worldbody>
</mujoco>
"""


def test_a_geom_has_its_own_color_else_that_of_its_material(tmp_path: Path) -> None:
    path = tmp_path / "painted.xml"
    path.write_text(MJCF)
    looks = {look.shape: look for look in elastogen.load(path).looks}
    assert {shape: look.color for shape, look in looks.items()} == {
        "box": (0.25, 0.5, 0.75, 0.9),
        "sphere": (0.8, 0.1, 0.2, 1.0),
        "capsule": (0.0, 1.0, 0.0, 1.0),
        "cylinder": None,
    }
    assert {look.link for look in looks.values()} == {"arm"}
    np.testing.assert_allclose(looks["box"].scale, (0.2, 0.4, 0.6))  # MuJoCo has half of a side
    np.testing.assert_allclose(np.array(looks["box"].pose)[:3, 3], (0.5, 0.0, 0.0))
    np.testing.assert_allclose(looks["cylinder"].scale, (0.03, 0.03, 0.4))
