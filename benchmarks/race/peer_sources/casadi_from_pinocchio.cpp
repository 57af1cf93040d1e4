// Writes the C that CasADi generates from Pinocchio's algorithms, casadi_<function>.c, into the working directory.
#include <pinocchio/autodiff/casadi.hpp>

#include "pinocchio_model.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

using casadi::SX;
using Model = pinocchio::ModelTpl<SX>;
using Data = pinocchio::DataTpl<SX>;
using Vector = Model::ConfigVectorType;

Vector to_eigen(const SX &x)
{
    Vector result(x.rows());
    for (casadi_int k = 0; k < x.rows(); ++k) result[k] = x(k);
    return result;
}

template <typename Matrix> SX to_row_major(const Matrix &M)  // CasADi stores by columns
{
    SX result(M.cols(), M.rows());
    for (Eigen::Index i = 0; i < M.rows(); ++i) {
        for (Eigen::Index j = 0; j < M.cols(); ++j) result(j, i) = M(i, j);
    }
    return SX::densify(result);
}

void write(const std::string &name, const std::vector<SX> &inputs, const SX &output)
{
    casadi::Function("casadi_" + name, inputs, {output}).generate("casadi_" + name + ".c");
}

}  // namespace

// inverse dynamics, and what else there is unless it is all that is wanted
extern "C" int generate(const char *path, int inverse_dynamics_only)
{
    const Model model = read_model(path).cast<SX>();
    const SX q = SX::sym("q", model.nq), v = SX::sym("qd", model.nv), x = SX::sym("x", model.nv);
    {
        Data data(model);
        pinocchio::rnea(model, data, to_eigen(q), to_eigen(v), to_eigen(x));
        write("inverse_dynamics", {q, v, x}, to_row_major(data.tau));
    }
    if (inverse_dynamics_only) return 0;
    {
        Data data(model);
        data.M.setZero();
        pinocchio::crba(model, data, to_eigen(q));
        for (Eigen::Index i = 0; i < data.M.rows(); ++i) {
            for (Eigen::Index j = 0; j < i; ++j) data.M(i, j) = data.M(j, i);
        }
        write("mass_matrix", {q}, to_row_major(data.M));
    }
    {
        Data data(model);
        pinocchio::aba(model, data, to_eigen(q), to_eigen(v), to_eigen(x));
        write("forward_dynamics", {q, v, x}, to_row_major(data.ddq));
    }
    {
        Data data(model);
        data.C.setZero();
        pinocchio::computeCoriolisMatrix(model, data, to_eigen(q), to_eigen(v));
        write("coriolis_matrix", {q, v}, to_row_major(data.C));
    }
    return 0;
}
