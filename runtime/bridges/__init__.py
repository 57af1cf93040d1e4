"""A model inside other tools: each bridge is one module over ``Differentiable`` and imports its target when it is used."""
