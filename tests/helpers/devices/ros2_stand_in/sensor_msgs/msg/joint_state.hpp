// Stand-in for the message: read from a line "count name position velocity name position velocity ...".
#pragma once
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>
namespace sensor_msgs::msg {
struct JointState
{
    int header = 0;
    std::vector<std::string> name;
    std::vector<double> position, velocity, effort;
    bool read()
    {
        std::size_t count = 0;
        *this = JointState{};
        if (!(std::cin >> count)) { return false; }
        name.resize(count), position.resize(count), velocity.resize(count);
        for (std::size_t k = 0; k < count; ++k) { std::cin >> name[k] >> position[k] >> velocity[k]; }
        return true;
    }
};
} // namespace sensor_msgs::msg
