// Aligator on action models of Crocoddyl: its own wrapper of them, and its solver. What its Python package has as aligator.croc.
#include <boost/python.hpp>
#include <eigenpy/eigenpy.hpp>

#include <aligator/compat/crocoddyl/action-model-wrap.hpp>
#include <aligator/compat/crocoddyl/problem-wrap.hpp>
#include <aligator/solvers/proxddp/solver-proxddp.hpp>
#include <crocoddyl/core/optctrl/shooting.hpp>

namespace py = boost::python;
using Vector = Eigen::VectorXd;
using Wrapper = aligator::compat::croc::ActionModelWrapperTpl<double>;

// The next state, and what it and the cost are by small motions of the state and by controls.
static py::tuple derivatives(const std::shared_ptr<crocoddyl::ActionModelAbstract> &action, const Vector &x, const Vector &u)
{
    const Wrapper stage(action);
    const auto data = stage.createData();
    stage.evaluate(x, u, *data);
    stage.computeFirstOrderDerivatives(x, u, *data);
    const auto &found = static_cast<const aligator::ExplicitDynamicsDataTpl<double> &>(*data->dynamics_data);
    return py::make_tuple(Vector(found.xnext_), Eigen::MatrixXd(found.Jx()), Eigen::MatrixXd(found.Ju()),
                          Vector(data->cost_data->Lx_), Vector(data->cost_data->Lu_));
}

// Whether it converged, the states and the controls of a shooting problem, from a start at rest without controls.
static py::tuple solve(const std::shared_ptr<crocoddyl::ShootingProblem> &given, double tolerance, std::size_t iterations)
{
    const auto problem = aligator::compat::croc::convertCrocoddylProblem(given);
    aligator::SolverProxDDPTpl<double> solver(tolerance, 1e-8);
    solver.max_iters = iterations;
    solver.rollout_type_ = aligator::RolloutType::NONLINEAR;
    solver.setup(problem);
    const std::vector<Vector> xs(given->get_T() + 1, given->get_x0());
    std::vector<Vector> us;
    for (const auto &action : given->get_runningModels()) {
        us.push_back(Vector::Zero(static_cast<Eigen::Index>(action->get_nu())));
    }
    const bool done = solver.run(problem, xs, us);
    py::list states, controls;
    for (const auto &x : solver.results_.xs) {
        states.append(Vector(x));
    }
    for (const auto &u : solver.results_.us) {
        controls.append(Vector(u));
    }
    return py::make_tuple(done, states, controls);
}

BOOST_PYTHON_MODULE(aligator_solver)
{
    py::def("derivatives", &derivatives);
    py::def("solve", &solve);
}
