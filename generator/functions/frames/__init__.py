"""Functions of frames that are chosen by name: their motion, wrenches on them."""
