"""An integrator that elastogen does not have, added by its recipe: an entry, and a C file.

As a program it runs in a process of its own: registries are read when modules are imported.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from elastogen.runtime.interface import integrators

ENTRY = integrators.Integrator("heun", 3, "Heun's method, order 2, equal steps")
C_FILE = Path(__file__).resolve().parents[2] / "c" / "plain" / "robot_sim_heun.h"


def add() -> None:
    """What the recipe asks for; a file of the tree would need nothing but the entry."""
    integrators.INTEGRATORS = (*integrators.INTEGRATORS, ENTRY)
    from elastogen.build.plain_c import emission

    of_the_tree = emission.source
    emission.parts()[C_FILE.name] = C_FILE.name
    emission.source = lambda path: C_FILE.read_text(encoding="ascii") if path == C_FILE.name else of_the_tree(path)  # type: ignore[assignment]


def main(cache: str) -> None:
    """Simulate with it, in every way that reads the registry, and print what came out."""
    add()
    import numpy as np
    from click.testing import CliRunner

    import elastogen
    from elastogen.commands.motion.simulate import command
    from elastogen.generator.description.file.experiment_file import METHODS

    model = elastogen.build_model("two_link", outputs="simulation", cflags="-O1", lanes=True, cache_dir=cache)
    q0 = np.array([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.2], [0.0, 1.0], [0.7, 0.7]])
    exact = model.simulate(q0[0], t=0.2, samples=2, rtol=1e-12, atol=1e-13).q[-1]
    errors = [
        float(np.abs(model.simulate(q0[0], t=0.2, samples=2, method="heun", step=h).q[-1] - exact).max()) for h in (4e-3, 2e-3)
    ]
    batch = model.simulate(q0, t=0.05, samples=3, method="heun", step=1e-3)
    alone = [model.simulate(q, t=0.05, samples=3, method="heun", step=1e-3).q for q in q0]
    try:
        model.simulate(q0[0], t=0.2, method="huen")
        refused = ""
    except elastogen.ModelError as error:
        refused = str(error)
    text = CliRunner().invoke(command, ["--help"]).output
    print(
        json.dumps(
            {
                "gain": errors[0] / errors[1],
                "lanes": bool(np.array_equal(batch.q, np.array(alone))),
                "refused": refused,
                "help": "heun" in text,
                "files": "heun" in METHODS,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
