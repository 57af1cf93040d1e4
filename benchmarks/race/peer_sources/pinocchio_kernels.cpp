// Pinocchio's algorithms behind the signature that all timed kernels share (see kernels.py).
#include "pinocchio_context.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

extern "C" {

void kernel_inverse_dynamics(void *context, size_t n, const double *const *in, double *const *out, size_t keep)
{
    auto &c = *static_cast<Context *>(context);
    const Eigen::Index nq = c.model.nq, nv = c.model.nv;
    for (size_t k = 0; k < n; ++k) {
        const Input q(in[0] + k * nq, nq), v(in[1] + k * nv, nv), a(in[2] + k * nv, nv);
        Eigen::Map<Vector>(out[0] + keep * k * nv, nv) = pinocchio::rnea(c.model, c.data, q, v, a);
    }
}

void kernel_mass_matrix(void *context, size_t n, const double *const *in, double *const *out, size_t keep)
{
    auto &c = *static_cast<Context *>(context);
    const Eigen::Index nq = c.model.nq, nv = c.model.nv;
    for (size_t k = 0; k < n; ++k) {  // fills the upper triangle only; a row-major reader sees the lower one
        const Input q(in[0] + k * nq, nq);
        pinocchio::crba(c.model, c.data, q);
        if (keep) {
            Eigen::Map<Eigen::MatrixXd>(out[0] + k * nv * nv, nv, nv) = c.data.M.selfadjointView<Eigen::Upper>();
        }
    }
}

void kernel_forward_dynamics(void *context, size_t n, const double *const *in, double *const *out, size_t keep)
{
    auto &c = *static_cast<Context *>(context);
    const Eigen::Index nq = c.model.nq, nv = c.model.nv;
    for (size_t k = 0; k < n; ++k) {
        const Input q(in[0] + k * nq, nq), v(in[1] + k * nv, nv), tau(in[2] + k * nv, nv);
        Eigen::Map<Vector>(out[0] + keep * k * nv, nv) = pinocchio::aba(c.model, c.data, q, v, tau);
    }
}

void kernel_coriolis_matrix(void *context, size_t n, const double *const *in, double *const *out, size_t keep)
{
    auto &c = *static_cast<Context *>(context);
    const Eigen::Index nq = c.model.nq, nv = c.model.nv;
    for (size_t k = 0; k < n; ++k) {
        const Input q(in[0] + k * nq, nq), v(in[1] + k * nv, nv);
        pinocchio::computeCoriolisMatrix(c.model, c.data, q, v);
        if (keep) Eigen::Map<Eigen::MatrixXd>(out[0] + k * nv * nv, nv, nv) = c.data.C.transpose();
    }
}

}  // extern "C"
