"""Files that SDF includes: ``model://name``, ``package://name``, or a path beside the file; nothing outside these folders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from elastogen.generator.description.files import MAX_INCLUDES, MAX_XML_BYTES, Files, decoded
from elastogen.generator.description.formats.xml_elements import MAX_ELEMENTS, attribute, parsed
from elastogen.generator.robot.location import Location

_NAME = re.compile(r"[A-Za-z0-9_.\- ]{1,200}")
_SCHEMES = ("model://", "package://")


class Included:
    """Finds and reads included files, within limits; ``files`` knows them afterwards."""

    def __init__(self, path: Path, packages: Mapping[str, str], files: Files) -> None:
        self.path, self.packages, self.files = path, packages, files
        self._count = self._elements = 0

    def root(self, uri: str, folder: Path, inside: tuple[Path, ...], where: Location) -> tuple[Element, Path]:
        """The outermost element that a URI leads to, and its file; ``inside`` are the files that led here."""
        found = self._file(uri, folder, where)
        if found.resolve() in [other.resolve() for other in inside]:
            circle = " -> ".join(other.name for other in (*inside, found))
            raise where.error(circle, "files that do not include each other in a circle", "remove this include")
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise where.error(uri, f"at most {MAX_INCLUDES} included files", "join some")
        root = parsed(decoded(self.files.read(found, MAX_XML_BYTES), str(found)), "sdf", Location(str(found)))
        self._elements += sum(1 for _ in root.iter())
        if self._elements > MAX_ELEMENTS:
            raise where.error("more elements", f"at most {MAX_ELEMENTS} XML elements", "is this a robot?")
        return root, found

    def _file(self, uri: str, folder: Path, where: Location) -> Path:
        scheme = next((scheme for scheme in _SCHEMES if uri.startswith(scheme)), "")
        if not scheme and "://" in uri:
            raise where.error(uri, f"{', '.join(_SCHEMES)} or a path beside the file", "fetch the model, and name its folder")
        if scheme:
            name, _, rest = uri[len(scheme) :].partition("/")
            top = self._package(name, uri, folder, where)
        else:
            top, rest = folder, uri
        found = self._within(top, rest, uri, where)
        return self._in_folder(found, uri, where) if found.is_dir() else found

    def _package(self, name: str, uri: str, folder: Path, where: Location) -> Path:
        """The folder of a model: as the caller says, else beside the file or beside its folder, as Gazebo lays models out."""
        if name in self.packages:
            return Path(self.packages[name])
        if _NAME.fullmatch(name) and name not in (".", ".."):
            for place in (folder, folder.absolute().parent):
                if (place / name).is_dir():
                    return self._within(place, name, uri, where)
        raise where.error(uri, "a model whose folder is known", f"load(..., package_path={{{name!r}: 'FOLDER'}})")

    def _within(self, top: Path, rest: str, uri: str, where: Location) -> Path:
        """The path below a folder, which neither dots nor links leave."""
        try:
            found = top / rest
            there, inside = found.exists(), found.resolve().is_relative_to(top.resolve())
        except (OSError, ValueError, RuntimeError):  # too long, a null character, links in a circle
            raise where.error(uri, "the path of a file", "correct it") from None
        if not inside:
            raise where.error(uri, "a file inside the folder of its model", "give that folder by package_path")
        if not there:
            raise where.error(uri, "a file or folder that is there", "correct the path")
        return found

    def _in_folder(self, folder: Path, uri: str, where: Location) -> Path:
        """The file that model.config names for the newest version; without one model.sdf."""
        config = folder / "model.config"
        name = "model.sdf"
        if config.is_file():
            here = Location(str(config))
            root = parsed(decoded(self.files.read(config, MAX_XML_BYTES), str(config)), "model", here)
            named = [(_version(element, here), (element.text or "").strip()) for element in root.findall("sdf")]
            if named:
                name = max(named, key=lambda pair: pair[0])[1]
        found = self._within(folder, name, f"{uri}/{name}", where)
        if not found.is_file():
            raise where.error(uri, "a folder with model.config or model.sdf", "name the file")
        return found


def _version(element: Element, where: Location) -> tuple[int, int]:
    return version_of(element, where) if element.get("version") else (0, 0)


def version_of(root: Element, where: Location) -> tuple[int, int]:
    """The version of SDFormat."""
    text = attribute(root, "version", where.at("sdf"))
    parts = text.split(".")
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 5 for part in parts):
        raise where.at("sdf", "version").error(text, "a version such as 1.9", "correct it")
    return int(parts[0]), int(parts[1])
