"""Estimation while a robot moves: the emitted C observers and estimators behind numpy arrays."""
