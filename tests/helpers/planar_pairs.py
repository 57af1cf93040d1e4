"""Planar robots of two flexible links with any joints, their states and functions."""

from planar_oracle import Planar

from elastogen.generator.functions.derivation import derive_model


def functions(robot, names):
    return {function.name: function for function in derive_model(robot, names).functions}


def evaluate(found, name, **arguments):
    return next(iter(found[name].evaluate(arguments).values()))


def pair_of(first, second, slide):
    links = []
    for joint, elements, length in ((first, 2, 0.8), (second, 3, 0.6)):
        link = {"joint": joint, "elements": elements, "length": length, "mass_per_length": 0.5, "EI": 0.4}
        links.append(link if joint == "R" else link | {"gamma": 0.3, "slide": slide})
    return Planar(links, 0.1, (0.5, -9.81))


def state_of(plan, rng):
    q = 0.02 * rng.normal(size=plan.nq)
    for i, link in enumerate(plan.links):
        reach = link["length"] if link["joint"] == "Pb" else plan.links[i - 1]["length"] if i else 1.0
        q[plan.starts[i]] = rng.normal() if link["joint"] == "R" else rng.uniform(0.1, 0.95) * reach
    qd, qdd = 0.3 * rng.normal(size=(2, plan.nq))
    for vector in (q, qd, qdd):
        vector[plan.clamped(q)] = 0.0
    return q, qd, qdd
