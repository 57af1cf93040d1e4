// A Pinocchio model from a plain text description, so that no library built with other flags is linked.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#if __has_include(<pinocchio/multibody.hpp>)  // from Pinocchio 4 on
#include <pinocchio/multibody.hpp>
#else
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#endif

// Per joint: name, parent, type ("R", "P", or "F" for a free base), axis, placement (rotation by rows, translation), mass, centre of mass,
// rotational inertia about it (xx xy xz yy yz zz). Before all: the number of joints and gravity.
inline pinocchio::Model read_model(const std::string &path)
{
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    pinocchio::Model model;
    int count = 0;
    Eigen::Vector3d gravity;
    file >> count >> gravity[0] >> gravity[1] >> gravity[2];
    model.gravity.linear() = gravity;
    for (int k = 0; k < count; ++k) {
        std::string name, type;
        int parent = 0;
        Eigen::Vector3d axis, position, center;
        Eigen::Matrix3d rotation;
        double mass = 0, xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
        file >> name >> parent >> type >> axis[0] >> axis[1] >> axis[2];
        for (int i = 0; i < 9; ++i) file >> rotation(i / 3, i % 3);
        file >> position[0] >> position[1] >> position[2] >> mass >> center[0] >> center[1] >> center[2];
        file >> xx >> xy >> xz >> yy >> yz >> zz;
        Eigen::Matrix3d inertia;
        inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
        pinocchio::JointModel joint;
        if (type == "R") {
            if (axis == Eigen::Vector3d::UnitX()) joint = pinocchio::JointModelRX();
            else if (axis == Eigen::Vector3d::UnitY()) joint = pinocchio::JointModelRY();
            else if (axis == Eigen::Vector3d::UnitZ()) joint = pinocchio::JointModelRZ();
            else joint = pinocchio::JointModelRevoluteUnaligned(axis);
        } else if (type == "F") {
            joint = pinocchio::JointModelFreeFlyer();
        } else {
            joint = pinocchio::JointModelPrismaticUnaligned(axis);
        }
        const auto index = model.addJoint(parent + 1, joint, pinocchio::SE3(rotation, position), name);
        model.appendBodyToJoint(index, pinocchio::Inertia(mass, center, inertia), pinocchio::SE3::Identity());
    }
    if (!file) throw std::runtime_error("cannot understand " + path);
    return model;
}
