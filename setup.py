"""Maps the four top-level rooms of the pipeline into one import package, ``elastogen``."""

from setuptools import setup

ROOMS = ("generator", "templates", "build", "runtime")

setup(
    packages=["elastogen", *(f"elastogen.{room}" for room in ROOMS)],
    package_dir={"elastogen": "elastogen", **{f"elastogen.{room}": room for room in ROOMS}},
    package_data={
        "elastogen": ["py.typed"],
        "elastogen.generator": ["robots/*.yaml", "robot.schema.json"],
        "elastogen.templates": ["*.j2"],
    },
)
