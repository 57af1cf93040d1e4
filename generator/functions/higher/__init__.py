"""Functions of the catalogue of higher order: acceleration energies, rates of forces, the matrices of paper 002."""
