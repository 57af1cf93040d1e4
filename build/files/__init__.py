"""From a derivation to the text of every emitted file, and those files on disk."""
