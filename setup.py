"""Maps the four top-level rooms of the pipeline, with their sub-rooms, into one import package, ``elastogen``."""

from pathlib import Path

from setuptools import setup

ROOMS = ("generator", "templates", "build", "runtime")
HERE = Path(__file__).resolve().parent


def folders(room: str) -> list[str]:
    """Return the room and its sub-rooms: every folder with an ``__init__.py``, as paths from the root."""
    return sorted(file.parent.relative_to(HERE).as_posix() for file in (HERE / room).rglob("__init__.py"))


PACKAGES = {"elastogen." + folder.replace("/", "."): folder for room in ROOMS for folder in folders(room)}
IN_FRONT = sorted(path.name for path in (HERE / "elastogen").iterdir() if path.is_dir() and not path.is_symlink())
FRONT_DOOR = [folder.replace("/", ".") for room in IN_FRONT for folder in folders(f"elastogen/{room}")]

setup(
    packages=["elastogen", *FRONT_DOOR, *PACKAGES],
    package_dir={"elastogen": "elastogen", **PACKAGES},
    package_data={
        "elastogen": ["py.typed"],
        "elastogen.generator.description": ["robots/*.yaml", "robot.schema.json"],
        "elastogen.runtime.functions": ["*.json", "*.pyi"],
        "elastogen.build.export": ["cmake/*.cmake"],
        "elastogen.build.bridges": ["xla_handler.c", "crocoddyl_action.cpp"],
        "elastogen.templates": [
            "**/*.j2",
            "**/robot*.c",
            "**/robot*.h",
            "pages/viewer/*.js",
            "pages/three/*",
            "pages/*.css",
            "pages/*.h",
            "shared/*.h",
            "export/**/*.h",
            "size/board.*",
            "size/*.ld",
        ],
    },
)
