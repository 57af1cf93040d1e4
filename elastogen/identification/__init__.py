"""From measured motion to a model: excitation, measurements, estimation, robot files. Needs SciPy (``elastogen[identify]``)."""
