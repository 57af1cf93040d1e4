"""C99 files that drop in anywhere."""

from __future__ import annotations

from elastogen.build.export.choices import Choices
from elastogen.build.export.project import Files, Project
from elastogen.build.files.render import EXAMPLE


def files(project: Project, choices: Choices) -> Files:
    """All of its files but the README."""
    example = project.model.bundle[EXAMPLE]
    if not choices.header_only:
        return {**project.c_files, EXAMPLE: example}
    own = f'#include "{project.name}.h"'
    sources = {name: text for name, text in project.c_files.items() if name.endswith(".c")}
    headers = {name: text for name, text in project.c_files.items() if name.endswith(".h")}
    main = headers.pop(f"{project.name}.h")
    implementation = sources.pop(f"{project.name}.c").replace(own, "")
    macro = project.context.identity.macro
    single = f"{main}\n#ifdef {macro}_IMPLEMENTATION\n{implementation}\n#endif /* {macro}_IMPLEMENTATION */\n"
    example = example.replace(own, f"#define {macro}_IMPLEMENTATION\n{own}")
    return {f"{project.name}.h": single, **headers, **sources, EXAMPLE: example}
