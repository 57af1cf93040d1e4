"""The compiled model of arm.yaml: ``from arm_model import model``."""

from pathlib import Path

from elastogen.runtime import load_model

model = load_model(next(Path(__file__).parent.glob("_arm_*.so")))
