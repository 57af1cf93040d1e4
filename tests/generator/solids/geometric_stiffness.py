"""The geometric stiffness of a static state, assembled by scikit-fem."""

import numpy as np


def geometric_stiffness(elements, material, still, shapes):
    """int sigma_ab d_a u_c d_b v_c between shapes (n, 3, k); sigma by Hooke's law of displacements (n, 3)."""
    import skfem

    corners = np.ascontiguousarray(elements.nodes.T)
    mesh = skfem.MeshTet(corners, np.ascontiguousarray(elements.tetrahedra[:, :4].T), sort_t=False)
    mesh = skfem.MeshTet(corners[:, : mesh.t.max() + 1], mesh.t, sort_t=False)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP2()), intorder=4)
    places = {tuple(np.round(x, 9)): k for k, x in enumerate(elements.nodes)}
    numbers = np.array([places[tuple(np.round(x, 9))] for x in basis.doflocs.T])
    component = np.zeros(basis.N, dtype=int)
    for k in range(1, 3):
        component[k::3] = k  # vertices and edges have three freedoms each, one after the other

    def on(field):
        return field[numbers, component]

    @skfem.BilinearForm
    def geometric(u, v, w):
        H = w["still"].grad
        strain = (H + np.swapaxes(H, 0, 1)) / 2
        E, nu = material.E, material.nu
        first, second = E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))
        stress = first * np.trace(strain) * np.eye(3)[:, :, None, None] + 2 * second * strain
        return np.einsum("abtq,catq,cbtq->tq", stress, u.grad, v.grad)

    K = geometric.assemble(basis, still=basis.interpolate(on(still)))
    fields = np.stack([on(shapes[:, :, k]) for k in range(shapes.shape[2])], axis=1)
    return fields.T @ K @ fields
