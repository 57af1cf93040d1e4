"""Files that are deep or long: chains of joints, of poses and of followers, elements and values in each other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from fuzz.corpus import Original

SIZES = (1, 2, 30, 61, 399, 401, 1001, 3000)
_MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def _urdf(n: int, rng: random.Random) -> str:
    """Joints in a row, each of which may follow the one before it."""
    n = min(n, 401)
    follow = rng.random() < 0.5
    links = "".join(f'<link name="l{i}">{_MASS}</link>' for i in range(n + 1))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/>'
        + (f'<mimic joint="j{i - 1}" multiplier="{rng.choice((1, -1, 0.5, 2))}" offset="0.1"/>' if follow and i else "")
        + "</joint>"
        for i in range(n)
    )
    return f'<robot name="row">{links}{joints}</robot>'


def _circle(n: int, rng: random.Random) -> str:
    """Joints that follow each other in a circle."""
    return _urdf(max(2, n), random.Random(0)).replace("</joint>", f'<mimic joint="j{min(n, 401) - 1}"/></joint>', 1)


def _mjcf(n: int, rng: random.Random) -> str:
    joint = rng.choice(("<joint/>", "", "<joint/><joint type='slide'/>"))
    return f"<mujoco><worldbody>{f'<body>{joint}<geom size=%s/>' % repr('1') * n}{'</body>' * n}</worldbody></mujoco>"


def _sdf(n: int, rng: random.Random) -> str:
    """Frames that are relative to each other, the last perhaps to the first."""
    start = f"f{n - 1}" if rng.random() < 0.2 else "hub"
    names = [start, *(f"f{i}" for i in range(n))]
    frames = "".join(
        f"<frame name='{name}' attached_to='{before}'><pose>0.1 0 0 0 0 0.1</pose></frame>"
        for before, name in itertools.pairwise(names)
    )
    ends = f"<parent>f{n - 1}</parent><child>rod</child>"
    joint = f"<joint name='turn' type='revolute'>{ends}<axis><xyz>0 0 1</xyz></axis></joint>"
    return f"<sdf version='1.9'><model name='row'>{frames}<link name='hub'/><link name='rod'/>{joint}</model></sdf>"


def _xml(n: int, rng: random.Random) -> str:
    tag = rng.choice(("link", "body", "model", "default"))
    return f"<robot name='deep'>{f'<{tag}>' * n}{f'</{tag}>' * n}</robot>"


def _yaml(n: int, rng: random.Random) -> str:
    start, end = rng.choice((("[", "]"), ("{a: ", "}"), ("(", ")")))
    return f"elastogen: 1\nname: deep\nparameters: {{k: {start * n}1{end * n}}}\njoints: [{{name: j, type: revolute}}]\n"


KINDS: tuple[tuple[str, Callable[[int, random.Random], str]], ...] = (
    (".urdf", _urdf), (".urdf", _circle), (".xml", _mjcf), (".sdf", _sdf), (".urdf", _xml), (".yaml", _yaml),
)  # fmt: skip


def grown(rng: random.Random) -> Original:
    """A deep or long file."""
    suffix, make = rng.choice(KINDS)
    return Original("grown", make(rng.choice(SIZES), rng), suffix)
