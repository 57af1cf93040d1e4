// Stand-in for rclcpp: a node in a process of its own, whose messages come from standard input.
#pragma once
#include <any>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include "rclcpp/node_interfaces/node_parameters_interface.hpp"
#define RCLCPP_WARN_ONCE(logger, ...) ((void)(logger), (void)std::printf(__VA_ARGS__), (void)std::printf("\n"))
namespace rclcpp {
struct Logger {};
template <class M>
class Publisher
{
public:
    using SharedPtr = std::shared_ptr<Publisher>;
    void publish(const M& message)
    {
        for (std::size_t k = 0; k < message.name.size(); ++k) {
            std::printf("%s", message.name[k].c_str());
            if (!message.position.empty()) { std::printf(" %.17g %.17g", message.position[k], message.velocity[k]); }
            std::printf(" %.17g\n", message.effort[k]);
        }
    }
};
template <class M>
class Subscription
{
public:
    using SharedPtr = std::shared_ptr<Subscription>;
    std::function<void(const M&)> call;
};
class Node
{
public:
    explicit Node(const std::string&) {}
    virtual ~Node() = default;
    template <class T>
    T declare_parameter(const std::string& name, const T& value)
    {
        if constexpr (std::is_same_v<T, double>) { parameters_->values[name] = Parameter(value); }
        return value;
    }
    node_interfaces::NodeParametersInterface::SharedPtr get_node_parameters_interface() { return parameters_; }
    template <class M>
    typename Publisher<M>::SharedPtr create_publisher(const std::string&, int) { return std::make_shared<Publisher<M>>(); }
    template <class M, class F>
    typename Subscription<M>::SharedPtr create_subscription(const std::string&, int, F call)
    {
        auto made = std::make_shared<Subscription<M>>();
        made->call = call;
        one = [made] { M message; while (message.read()) { made->call(message); } };
        return made;
    }
    Logger get_logger() const { return {}; }
    const char* get_name() const { return "node"; }
    std::function<void()> one;

private:
    node_interfaces::NodeParametersInterface::SharedPtr parameters_ = std::make_shared<node_interfaces::NodeParametersInterface>();
};
inline void init(int, char**) {}
inline void spin(const std::shared_ptr<Node>& node) { node->one(); }
inline void shutdown() {}
} // namespace rclcpp
