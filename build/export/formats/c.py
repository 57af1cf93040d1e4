"""The format ``c``: C99 files that can be added to any project."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.files.render import EXAMPLE
from elastogen.build.known_numbers import CHECK, known_numbers


def files(project: Project, choices: Choices) -> Files:
    """Return all files of the project except the README."""
    example, check = project.model.bundle[EXAMPLE], known_numbers(project.derivation, project.context)
    if not choices.header_only:
        return {**project.c_files, EXAMPLE: example, CHECK: check}
    own = f'#include "{project.name}.h"'
    sources = {name: text for name, text in project.c_files.items() if name.endswith(".c")}
    headers = {name: text for name, text in project.c_files.items() if name.endswith(".h")}
    main = headers.pop(f"{project.name}.h")
    implementation = sources.pop(f"{project.name}.c").replace(own, "")
    macro = project.context.identity.macro
    single = f"{main}\n#ifdef {macro}_IMPLEMENTATION\n{implementation}\n#endif /* {macro}_IMPLEMENTATION */\n"
    example, check = (text.replace(own, f"#define {macro}_IMPLEMENTATION\n{own}") for text in (example, check))
    return {f"{project.name}.h": single, **headers, **sources, EXAMPLE: example, CHECK: check}
