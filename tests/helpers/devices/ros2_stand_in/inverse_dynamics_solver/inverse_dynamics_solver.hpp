// Stand-in for the base class of solvers of inverse dynamics, with the names of its methods.
#pragma once
#include <string>
#include <Eigen/Core>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
namespace inverse_dynamics_solver {
class InverseDynamicsSolver
{
public:
    using Vector = Eigen::VectorXd;
    virtual ~InverseDynamicsSolver() = default;
    virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr, const std::string&, const std::string&) = 0;
    virtual Eigen::MatrixXd getInertiaMatrix(const Vector& q) const = 0;
    virtual Vector getCoriolisVector(const Vector& q, const Vector& qd) const = 0;
    virtual Vector getGravityVector(const Vector& q) const = 0;
    virtual Vector getFrictionVector(const Vector& qd) const = 0;
    virtual Vector getTorques(const Vector& q, const Vector& qd, const Vector& qdd) const = 0;
};
} // namespace inverse_dynamics_solver
