"""The robot: frozen, validated data in SI units and radians; names, placements, parameters, errors."""
