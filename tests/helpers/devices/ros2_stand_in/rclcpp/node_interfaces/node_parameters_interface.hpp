// Stand-in for rclcpp: parameters by name.
#pragma once
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
namespace rclcpp {
enum class ParameterType { PARAMETER_NOT_SET, PARAMETER_DOUBLE, PARAMETER_STRING };
class Parameter
{
public:
    Parameter() = default;
    explicit Parameter(double value) : type_(ParameterType::PARAMETER_DOUBLE), value_(value) {}
    explicit Parameter(const std::string&) : type_(ParameterType::PARAMETER_STRING) {}
    ParameterType get_type() const { return type_; }
    double as_double() const
    {
        if (type_ != ParameterType::PARAMETER_DOUBLE) { throw std::runtime_error("no double"); }
        return value_;
    }

private:
    ParameterType type_ = ParameterType::PARAMETER_NOT_SET;
    double value_ = 0.0;
};
namespace node_interfaces {
class NodeParametersInterface
{
public:
    using SharedPtr = std::shared_ptr<NodeParametersInterface>;
    using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
    bool has_parameter(const std::string& name) const { return values.count(name) != 0; }
    Parameter get_parameter(const std::string& name) const { return values.at(name); }
    std::map<std::string, Parameter> values;
};
} // namespace node_interfaces
} // namespace rclcpp
