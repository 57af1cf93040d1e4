"""Benchmarks: the emitted C beside its peers, the time of builds, operation counts, the time of calls from Python."""
