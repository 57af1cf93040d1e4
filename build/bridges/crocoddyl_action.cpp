// Action models of Crocoddyl over compiled functions of a robot (eg_call_<name> of its extension module).
//
// Such a function takes one block of numbers: live parameters, q, qd, F, more inputs, outputs. `layout`, a dictionary that
// runtime/bridges/to_crocoddyl.py writes, says where they are. Each data has blocks of its own, so that Crocoddyl's threads may
// call one model. The module is compiled once for a Crocoddyl and a Python, and serves all robots.

#include <algorithm>
#include <boost/python.hpp>
#include <cstdint>
#include <eigenpy/eigenpy.hpp>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <vector>

#include <crocoddyl/core/costs/cost-sum.hpp>
#include <crocoddyl/core/data-collector-base.hpp>
#include <crocoddyl/core/diff-action-base.hpp>
#include <crocoddyl/core/integrator/rk.hpp>

namespace {

namespace py = boost::python;
using Base = crocoddyl::DifferentialActionModelAbstractTpl<double>;
using BaseData = crocoddyl::DifferentialActionDataAbstractTpl<double>;
using State = crocoddyl::StateAbstractTpl<double>;
using Costs = crocoddyl::CostModelSumTpl<double>;
using Vector = Eigen::VectorXd;
using Given = Eigen::Ref<const Vector>;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::Map<const Rows, 0, Eigen::OuterStride<>>;
using Call = int (*)(void *);

template <typename T>
std::vector<T> numbers(const py::object &given)
{
    std::vector<T> found;
    for (py::ssize_t k = 0; k < py::len(given); ++k) {
        found.push_back(py::extract<T>(given[k]));
    }
    return found;
}

struct Function {
    Call call = nullptr;
    std::vector<double> block;  // as it is before the first call: parameters, masks
    explicit Function(const py::object &given)
        : call(reinterpret_cast<Call>(py::extract<std::intptr_t>(given["address"])())), block(numbers<double>(given["block"]))
    {
    }
};

// Coordinates of one joint: a rotation by a quaternion (x, y, z, w), with a position before it or without, or one number.
struct Part {
    bool ball, free;
    int q, v;
};

struct Layout {
    std::string name;
    int nq, nv, q, qdd, by_q, by_qd, by_F, stride;
    bool by_coordinates;  // derivatives by q have a column for each coordinate, those of a quaternion one by one
    std::vector<int> driven;
    std::vector<double> limits;
    std::vector<Part> parts;
    Function forward, derivatives;

    static int whole(const py::dict &given, const char *name) { return py::extract<int>(given[name]); }

    explicit Layout(const py::dict &given)
        : name(py::extract<std::string>(given["name"])()), nq(whole(given, "nq")), nv(whole(given, "nv")),
          q(whole(given, "q")), qdd(whole(given, "qdd")), by_q(whole(given, "by_q")), by_qd(whole(given, "by_qd")),
          by_F(whole(given, "by_F")), stride(whole(given, "stride")),
          by_coordinates(py::extract<bool>(given["by_coordinates"])()), driven(numbers<int>(given["driven"])),
          limits(numbers<double>(given["limits"])), forward(given["forward"]), derivatives(given["derivatives"])
    {
        const py::object listed = given["parts"];
        for (py::ssize_t k = 0; k < py::len(listed); ++k) {
            const std::string kind = py::extract<std::string>(listed[k][0]);
            parts.push_back({kind != "number", kind == "free", py::extract<int>(listed[k][1]), py::extract<int>(listed[k][2])});
        }
    }
};

class Action;

struct Data : BaseData {
    crocoddyl::DataCollectorAbstractTpl<double> collector;
    std::shared_ptr<crocoddyl::CostDataSumTpl<double>> costs;
    std::vector<double> forward, derivatives;
    template <template <typename> class Model>
    Data(Model<double> *model, const Layout &layout, const std::shared_ptr<Costs> &sum)
        : BaseData(model), costs(sum->createData(&collector)), forward(layout.forward.block),
          derivatives(layout.derivatives.block)
    {
        costs->shareMemory(this);
    }
};

class Action : public Base {
  public:
    Action(const std::shared_ptr<State> &state, const py::dict &layout)
        : Base(state, static_cast<std::size_t>(py::len(layout["driven"]))), layout_(layout),
          costs_(std::make_shared<Costs>(state, nu_))
    {
        const Eigen::Map<const Vector> limits(layout_.limits.data(), static_cast<Eigen::Index>(nu_));
        set_u_lb(-limits);
        set_u_ub(limits);
    }

    void calc(const std::shared_ptr<BaseData> &data, const Given &x, const Given &u) override
    {
        Data *d = checked(data, x, u);
        if (run(layout_.forward, d->forward, x, u)) {
            d->xout = Eigen::Map<const Vector>(d->forward.data() + layout_.qdd, layout_.nv);
        } else {
            d->xout.setConstant(std::numeric_limits<double>::quiet_NaN());
        }
        costs_->calc(d->costs, x, u);
        d->cost = d->costs->cost;
    }

    void calc(const std::shared_ptr<BaseData> &data, const Given &x) override
    {
        Data *d = checked(data, x, unone_);
        costs_->calc(d->costs, x);
        d->cost = d->costs->cost;
    }

    void calcDiff(const std::shared_ptr<BaseData> &data, const Given &x, const Given &u) override
    {
        Data *d = checked(data, x, u);
        const int nv = layout_.nv;
        if (run(layout_.derivatives, d->derivatives, x, u)) {
            const double *const found = d->derivatives.data();
            const Eigen::OuterStride<> stride(layout_.stride);
            if (layout_.by_coordinates) {
                along_velocities(x, Matrix(found + layout_.by_q, nv, layout_.nq, stride), d->Fx);
            } else {
                d->Fx.leftCols(nv) = Matrix(found + layout_.by_q, nv, nv, stride);
            }
            d->Fx.rightCols(nv) = Matrix(found + layout_.by_qd, nv, nv, stride);
            const Matrix by_F(found + layout_.by_F, nv, nv, stride);
            for (std::size_t k = 0; k < nu_; ++k) {
                d->Fu.col(static_cast<Eigen::Index>(k)) = by_F.col(layout_.driven[k]);
            }
        } else {
            d->Fx.setConstant(std::numeric_limits<double>::quiet_NaN());
            d->Fu.setConstant(std::numeric_limits<double>::quiet_NaN());
        }
        costs_->calcDiff(d->costs, x, u);
    }

    void calcDiff(const std::shared_ptr<BaseData> &data, const Given &x) override
    {
        costs_->calcDiff(checked(data, x, unone_)->costs, x);
    }

    std::shared_ptr<BaseData> createData() override
    {
        return std::allocate_shared<Data>(Eigen::aligned_allocator<Data>(), static_cast<Base *>(this), layout_, costs_);
    }

    bool checkData(const std::shared_ptr<BaseData> &data) override { return dynamic_cast<Data *>(data.get()) != nullptr; }

    void print(std::ostream &os) const override { os << "DifferentialActionModel of " << layout_.name; }

    std::shared_ptr<crocoddyl::DifferentialActionModelBase> cloneAsDouble() const override
    {
        return std::make_shared<Action>(*this);
    }
    std::shared_ptr<crocoddyl::DifferentialActionModelBase> cloneAsFloat() const override
    {
        throw std::invalid_argument(layout_.name + ": the action model is in double precision, and cannot be cast to float");
    }

    const std::shared_ptr<Costs> &costs() const { return costs_; }

  private:
    Layout layout_;
    std::shared_ptr<Costs> costs_;

    Data *checked(const std::shared_ptr<BaseData> &data, const Given &x, const Given &u) const
    {
        if (static_cast<std::size_t>(x.size()) != state_->get_nx() || static_cast<std::size_t>(u.size()) != nu_) {
            throw std::invalid_argument(layout_.name + ": got " + std::to_string(x.size()) + " numbers of the state and " +
                                        std::to_string(u.size()) + " controls, expected " + std::to_string(state_->get_nx()) +
                                        " and " + std::to_string(nu_));
        }
        Data *const own = dynamic_cast<Data *>(data.get());
        if (own == nullptr) {
            throw std::invalid_argument(layout_.name + ": this data is not of the action model's own createData()");
        }
        return own;
    }

    bool run(const Function &function, std::vector<double> &block, const Given &x, const Given &u) const
    {
        double *const q = block.data() + layout_.q;
        std::copy_n(x.data(), x.size(), q);
        for (std::size_t k = 0; k < nu_; ++k) {
            q[x.size() + layout_.driven[k]] = u[static_cast<Eigen::Index>(k)];
        }
        return function.call(block.data()) == 0;
    }

    // Columns by coordinates times dq/dt = E(q) qd: of a quaternion half its product with the angular velocity in the moving
    // frame, of the position before it R(q) v.
    void along_velocities(const Given &x, const Matrix &by_q, Eigen::MatrixXd &out) const
    {
        for (const Part &part : layout_.parts) {
            if (!part.ball) {
                out.col(part.v) = by_q.col(part.q);
                continue;
            }
            const Eigen::Quaterniond turn(Eigen::Vector4d(x.segment<4>(part.q + 3 * part.free)));
            if (part.free) {
                out.middleCols<3>(part.v) = by_q.middleCols<3>(part.q) * turn.toRotationMatrix();
            }
            const double a = turn.x() / 2, b = turn.y() / 2, c = turn.z() / 2, w = turn.w() / 2;
            Eigen::Matrix<double, 4, 3> half;
            half << w, -c, b, c, w, -a, -b, a, w, -a, -b, -c;
            out.middleCols<3>(part.v + 3 * part.free) = by_q.middleCols<4>(part.q + 3 * part.free) * half;
        }
    }
};

// Crocoddyl's Runge-Kutta step with exact derivatives: its own, up to version 3.2.1 at least, take half a step for the second
// point (a third in the scheme of order 3), and leave out what a rotation over this step does to a motion along quaternions.
class RungeKutta : public crocoddyl::IntegratedActionModelRKTpl<double> {
  public:
    using Steps = crocoddyl::IntegratedActionModelRKTpl<double>;
    using StepsData = crocoddyl::IntegratedActionDataRKTpl<double>;
    using Steps::calcDiff;

    RungeKutta(const std::shared_ptr<Action> &differential, int order, double dt)
        : Steps(differential, order == 2 ? crocoddyl::two : order == 3 ? crocoddyl::three : crocoddyl::four, dt)
    {
        if (order == 2) {
            parts_ = {0.0, 0.5}, weights_ = {0.0, 1.0};
        } else if (order == 3) {
            parts_ = {0.0, 1.0 / 3.0, 2.0 / 3.0}, weights_ = {0.25, 0.0, 0.75};
        } else {
            parts_ = {0.0, 0.5, 0.5, 1.0}, weights_ = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
        }
    }

    void calcDiff(const std::shared_ptr<crocoddyl::ActionDataAbstract> &data, const Given &x, const Given &u) override
    {
        StepsData *const d = dynamic_cast<StepsData *>(data.get());
        if (d == nullptr || d->differential.size() != parts_.size()) {
            throw std::invalid_argument("this data is not of the action model's own createData()");
        }
        const auto nv = static_cast<Eigen::Index>(state_->get_nv());
        for (Eigen::MatrixXd *sum : {&d->Fx, &d->Fu, &d->Lxx, &d->Luu, &d->Lxu}) {
            sum->setZero();
        }
        d->Lx.setZero();
        d->Lu.setZero();
        for (std::size_t k = 0; k < parts_.size(); ++k) {
            const auto &at = d->differential[k];
            differential_->calcDiff(at, d->y[k], u);
            Eigen::MatrixXd &y_x = d->dyi_dx[k], &y_u = d->dyi_du[k], &k_x = d->dki_dx[k], &k_u = d->dki_du[k];
            if (k > 0) {
                y_x = d->dki_dx[k - 1] * (parts_[k] * time_step_);
                y_u = d->dki_du[k - 1] * (parts_[k] * time_step_);
                moved(x, d->dx_rk[k], y_x, y_u);
            }
            k_x.topRows(nv) = y_x.bottomRows(nv);
            k_u.topRows(nv) = y_u.bottomRows(nv);
            k_x.bottomRows(nv).noalias() = at->Fx * y_x;
            k_u.bottomRows(nv) = at->Fu;
            k_u.bottomRows(nv).noalias() += at->Fx * y_u;
            const double h = weights_[k] * time_step_;
            d->Fx += h * k_x;
            d->Fu += h * k_u;
            d->Lx.noalias() += h * (y_x.transpose() * at->Lx);
            d->Lu.noalias() += h * (at->Lu + y_u.transpose() * at->Lx);
            const Eigen::MatrixXd by_y = at->Lxx * y_u + at->Lxu, across = y_u.transpose() * at->Lxu;
            d->Lxx.noalias() += h * (y_x.transpose() * at->Lxx * y_x);
            d->Lxu.noalias() += h * (y_x.transpose() * by_y);
            d->Luu.noalias() += h * (at->Luu + across.transpose() + y_u.transpose() * by_y);
        }
        moved(x, d->dx, d->Fx, d->Fu);
    }

    std::shared_ptr<crocoddyl::ActionModelBase> cloneAsDouble() const override { return std::make_shared<RungeKutta>(*this); }

  private:
    std::vector<double> parts_, weights_;  // of the step, where its points are; of their rates

    // Derivatives of dx by x and by u become those of x moved by dx.
    void moved(const Given &x, const Vector &dx, Eigen::MatrixXd &by_x, Eigen::MatrixXd &by_u) const
    {
        state_->JintegrateTransport(x, dx, by_x, crocoddyl::second);
        state_->Jintegrate(x, dx, by_x, by_x, crocoddyl::first, crocoddyl::addto);
        state_->JintegrateTransport(x, dx, by_u, crocoddyl::second);
    }
};

std::shared_ptr<RungeKutta> runge_kutta(const std::shared_ptr<Action> &differential, int order, double dt)
{
    return std::make_shared<RungeKutta>(differential, order, dt);
}

std::shared_ptr<Action> action(const std::shared_ptr<State> &state, const py::dict &layout)
{
    return std::make_shared<Action>(state, layout);
}

}  // namespace

BOOST_PYTHON_MODULE(elastogen_crocoddyl)
{
    using Shared = std::shared_ptr<BaseData>;
    using WithControls = void (Action::*)(const Shared &, const Given &, const Given &);
    using Last = void (Action::*)(const Shared &, const Given &);
    py::class_<Action, std::shared_ptr<Action>, py::bases<Base>, boost::noncopyable>("DifferentialActionModel", py::no_init)
        .add_property("costs", py::make_function(&Action::costs, py::return_value_policy<py::return_by_value>()))
        .def("calc", static_cast<WithControls>(&Action::calc), py::args("self", "data", "x", "u"))
        .def("calc", static_cast<Last>(&Action::calc), py::args("self", "data", "x"))
        .def("calcDiff", static_cast<WithControls>(&Action::calcDiff), py::args("self", "data", "x", "u"))
        .def("calcDiff", static_cast<Last>(&Action::calcDiff), py::args("self", "data", "x"))
        .def("createData", &Action::createData, py::args("self"));
    py::class_<Data, std::shared_ptr<Data>, py::bases<BaseData>, boost::noncopyable>("DifferentialActionData", py::no_init)
        .add_property("costs", py::make_getter(&Data::costs, py::return_value_policy<py::return_by_value>()));
    py::class_<RungeKutta, std::shared_ptr<RungeKutta>, py::bases<RungeKutta::Steps>, boost::noncopyable>(
        "IntegratedActionModel", py::no_init);
    py::def("action", &action, py::args("state", "layout"));
    py::def("runge_kutta", &runge_kutta, py::args("differential", "order", "dt"));
}
