"""What benchmarks have in common: kernels raced in turns, peers, robots, the machine, tables."""
