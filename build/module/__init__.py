"""From emitted files to a compiled extension module, in a cache."""
