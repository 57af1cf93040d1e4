"""The commands of the command line, one file each.

To add one: a file in a folder here with a click command called ``command``, and a line in ``FOLDERS``.
"""

FOLDERS = {
    "robots": {
        "new": "write a commented robot file that builds",
        "list": "list the built-in robots",
        "check": "validate a robot and print what it is",
        "derive": "print closed forms, or write them as LaTeX",
        "formulations": "compare Newton-Euler, Lagrange and Appell: equations, operations, times",
        "verify": "check a model by a second derivation, 50 digits, identities and C tools",
    },
    "code": {
        "generate": "write the C files without compiling them",
        "export": "write a project around the C: C++, CMake, a Python package, a library, boards",
        "cmake": "print the folder that CMake's find_package(elastogen) needs",
        "build": "compile a model into the cache, and print its functions and their times",
        "size": "print bytes of code, constants and stack, and instructions, on this or another processor",
        "bench": "time the functions of a model",
        "cache": "list, check or clean the cache of compiled models",
    },
    "motion": {
        "simulate": "simulate a motion, and write CSV and plots",
        "run": "run a robot in its real-time loop, with a live view and a report",
        "observer": "design an observer, and show which motions the sensors can see",
        "view": "show a robot in the browser, and redraw it when its file is saved",
        "animate": "draw a motion as a page that can be rotated and played, or as a film",
        "play": "write a page in which the robot's own C runs",
        "report": "write everything about a robot on one page",
    },
    "identification": {
        "excite": "find a motion within the limits that excites a robot's parameters",
        "identify": "estimate inertia, friction and payload of a robot from measured motions",
    },
    "shared": {
        "completion": "print a script that completes commands and robots in a shell",
    },
}
"""What each command does, by the folder that it stands in."""
COMMANDS = {name: text for folder in FOLDERS.values() for name, text in folder.items()}
MODULES = {name: f"elastogen.commands.{folder}.{name}" for folder, names in FOLDERS.items() for name in names}
