"""MJCF, the format of MuJoCo, as far as trees of rigid bodies with joints go: compiled by MuJoCo itself."""
