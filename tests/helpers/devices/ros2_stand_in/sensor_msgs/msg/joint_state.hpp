// Stand-in for the message: read from a line "count name position velocity name position velocity ...", behind which
// "sec nanosec effort effort ..." may stand.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
namespace sensor_msgs::msg {
struct JointState
{
    struct
    {
        struct
        {
            std::int32_t sec = 0;
            std::uint32_t nanosec = 0;
        } stamp;
    } header;
    std::vector<std::string> name;
    std::vector<double> position, velocity, effort;
    bool read()
    {
        std::size_t count = 0;
        *this = JointState{};
        std::string line;
        if (!std::getline(std::cin, line)) { return false; }
        std::istringstream in(line);
        if (!(in >> count)) { return false; }
        name.resize(count), position.resize(count), velocity.resize(count);
        for (std::size_t k = 0; k < count; ++k) { in >> name[k] >> position[k] >> velocity[k]; }
        if (in >> header.stamp.sec >> header.stamp.nanosec) {
            for (double x = 0; in >> x;) { effort.push_back(x); }
        }
        return true;
    }
};
} // namespace sensor_msgs::msg
