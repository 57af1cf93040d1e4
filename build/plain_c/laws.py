"""C that is made from the registry of controllers: their declarations, and the choice of their files."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from elastogen.runtime.loop.laws.registry import Law, emitted

DECLARATIONS, FILES = "robot_loop_law_functions.h", "robot_loop_laws.h"
_ARGUMENTS = "(void *context, const robot_loop_view_t *view, robot_real_t *F);"


def law_files(entries: Sequence[Law] | None = None) -> dict[str, str]:
    """The two parts of a loop by their names, for the sample robot."""
    laws = emitted() if entries is None else entries
    declared = ['#include "robot_loop_io_types.h"']
    for law in laws:
        brief = "\n * ".join(textwrap.wrap(f"@brief Controller: {law.equation}", 113))
        declared += ["", f"/** {brief} */", f"int robot_loop_{law.name}{_ARGUMENTS}"]
    included = [f'#include "robot_loop_{law.name}.h"' for law in laws]
    return {
        DECLARATIONS: _guarded(DECLARATIONS, "Part of robot_loop.h: the controllers.", declared),
        FILES: _guarded(FILES, "Part of robot_loop.c: the controllers.", included),
    }


def _guarded(file: str, brief: str, lines: Sequence[str]) -> str:
    guard = file.replace(".", "_").upper()
    return "\n".join([f"/* {brief} */", f"#ifndef {guard}", f"#define {guard}", "", *lines, "", f"#endif /* {guard} */", ""])
