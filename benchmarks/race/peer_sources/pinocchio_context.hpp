// What a kernel of Pinocchio's works with, made and unmade from Python.
#pragma once

#include "pinocchio_model.hpp"

using Vector = Eigen::VectorXd;
using Input = Eigen::Map<const Vector>;

struct Context {
    pinocchio::Model model;
    pinocchio::Data data;
    explicit Context(const char *path) : model(read_model(path)), data(model) {}
};

extern "C" {

void *load(const char *path)
{
    try {
        return new Context(path);
    } catch (const std::exception &) {
        return nullptr;
    }
}

void unload(void *context) { delete static_cast<Context *>(context); }

}  // extern "C"
