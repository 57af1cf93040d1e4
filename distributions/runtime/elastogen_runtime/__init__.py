"""Where ``import elastogen`` finds the runtime: in this folder, unless elastogen itself is installed, in whatever way.

A .pth file imports this when Python starts, so it costs next to nothing. A plain entry of the path would not do: it comes
before editable installs, and after folders that happen to be called elastogen.
"""

from __future__ import annotations

import sys


class RuntimeFinder:
    """Finds the package ``elastogen``: that of another distribution first, then the one in this folder."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> object:
        """The package; None for every other name."""
        if name != "elastogen":
            return None
        from importlib.machinery import PathFinder

        for finder in sys.meta_path:
            spec = None if finder is cls else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None and spec.origin is not None:  # not merely a folder of that name
                return spec
        return PathFinder.find_spec(name, __path__)


if RuntimeFinder not in sys.meta_path:
    sys.meta_path.insert(0, RuntimeFinder)
