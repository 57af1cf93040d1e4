"""``python -m environments lowest`` and ``python -m environments constraints``."""

from __future__ import annotations

import sys

from environments import constraints, lowest

LINES = {"lowest": lowest, "constraints": constraints}
if len(sys.argv) != 2 or sys.argv[1] not in LINES:
    raise SystemExit(f"expected one of {', '.join(LINES)}")
print("\n".join(LINES[sys.argv[1]]()))
