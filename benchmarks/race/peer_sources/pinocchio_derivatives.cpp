// Derivatives of Pinocchio's algorithms behind the signature that all timed kernels share (see kernels.py).
#include "pinocchio_context.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace {

using Square = Eigen::Map<Eigen::MatrixXd>;

// Three matrices as a row-major reader expects them; of the last one, Pinocchio fills the upper triangle.
void copy(double *out, Eigen::Index n, const Eigen::MatrixXd &by_q, const Eigen::MatrixXd &by_v, const Eigen::MatrixXd &last)
{
    Square(out, n, n) = by_q.transpose();
    Square(out + n * n, n, n) = by_v.transpose();
    Square(out + 2 * n * n, n, n) = last.selfadjointView<Eigen::Upper>();
}

}  // namespace

extern "C" {

void kernel_inverse_dynamics_derivatives(void *context, size_t n, const double *const *in, double *const *out, size_t keep)
{
    auto &c = *static_cast<Context *>(context);
    const Eigen::Index nq = c.model.nq, nv = c.model.nv;
    for (size_t k = 0; k < n; ++k) {
        const Input q(in[0] + k * nq, nq), v(in[1] + k * nv, nv), a(in[2] + k * nv, nv);
        pinocchio::computeRNEADerivatives(c.model, c.data, q, v, a);
        if (keep) copy(out[0] + k * 3 * nv * nv, nv, c.data.dtau_dq, c.data.dtau_dv, c.data.M);
    }
}

void kernel_forward_dynamics_derivatives(void *context, size_t n, const double *const *in, double *const *out, size_t keep)
{
    auto &c = *static_cast<Context *>(context);
    const Eigen::Index nq = c.model.nq, nv = c.model.nv;
    for (size_t k = 0; k < n; ++k) {
        const Input q(in[0] + k * nq, nq), v(in[1] + k * nv, nv), tau(in[2] + k * nv, nv);
        pinocchio::computeABADerivatives(c.model, c.data, q, v, tau);
        if (keep) copy(out[0] + k * 3 * nv * nv, nv, c.data.ddq_dq, c.data.ddq_dv, c.data.Minv);
    }
}

}  // extern "C"
