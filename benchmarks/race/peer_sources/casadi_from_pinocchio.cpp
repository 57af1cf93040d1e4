// Writes the C that CasADi generates from Pinocchio's algorithms, casadi_<function>.c, into the working directory.
#include <pinocchio/autodiff/casadi.hpp>

#include "pinocchio_model.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <sstream>

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

// Jacobians by all inputs, one after another
void write_derivatives(const std::string &name, const std::vector<SX> &inputs, const Vector &output)
{
    std::vector<SX> blocks;
    const SX y = to_row_major(output).T();
    for (const SX &x : inputs) blocks.push_back(SX::densify(SX::jacobian(y, x)).T());
    write(name, inputs, SX::horzcat(blocks));
}

}  // namespace

extern "C" int generate(const char *path, const char *names)  // names of functions, with spaces between them
{
    const Model model = read_model(path).cast<SX>();
    const SX q = SX::sym("q", model.nq), v = SX::sym("qd", model.nv), x = SX::sym("x", model.nv);
    std::istringstream words(names);
    for (std::string name; words >> name;) {
        Data data(model);
        if (name == "inverse_dynamics") {
            pinocchio::rnea(model, data, to_eigen(q), to_eigen(v), to_eigen(x));
            write(name, {q, v, x}, to_row_major(data.tau));
        } else if (name == "mass_matrix") {
            data.M.setZero();
            pinocchio::crba(model, data, to_eigen(q));
            for (Eigen::Index i = 0; i < data.M.rows(); ++i) {
                for (Eigen::Index j = 0; j < i; ++j) data.M(i, j) = data.M(j, i);
            }
            write(name, {q}, to_row_major(data.M));
        } else if (name == "forward_dynamics") {
            pinocchio::aba(model, data, to_eigen(q), to_eigen(v), to_eigen(x));
            write(name, {q, v, x}, to_row_major(data.ddq));
        } else if (name == "coriolis_matrix") {
            data.C.setZero();
            pinocchio::computeCoriolisMatrix(model, data, to_eigen(q), to_eigen(v));
            write(name, {q, v}, to_row_major(data.C));
        } else if (name == "inverse_dynamics_derivatives") {
            pinocchio::rnea(model, data, to_eigen(q), to_eigen(v), to_eigen(x));
            write_derivatives(name, {q, v, x}, data.tau);
        } else if (name == "forward_dynamics_derivatives") {
            pinocchio::aba(model, data, to_eigen(q), to_eigen(v), to_eigen(x));
            write_derivatives(name, {q, v, x}, data.ddq);
        } else {
            return 1;
        }
    }
    return 0;
}
