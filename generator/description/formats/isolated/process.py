"""A process that reads one description with a tool that is not ours: a request on stdin, the answer on stdout, both JSON.

It is run as a script, without elastogen: ``python -I process.py``. Expressions in a xacro file are Python, and MuJoCo's
compiler is C++ that was not written for untrusted files. So before it reads the description, this process limits its time and
memory and gives up writing, other programs and the network. The operating system enforces the limits, an audit hook the rest.
A crash counts as an answer.
"""

import importlib
import json
import os
import stat
import sys
from collections.abc import Callable
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_UNSEEN = {  # what acts on the outside, and no audit event says so
    "os": "mkfifo mknod memfd_create eventfd eventfd_write openpty login_tty chroot umask unshare setns sync pidfd_open "
    "nice setpriority sched_setaffinity sched_setparam sched_setscheduler setsid setpgid tcsetpgrp initgroups setgroups "
    "setuid seteuid setreuid setresuid setgid setegid setregid setresgid write writev pwrite pwritev sendfile splice "
    "copy_file_range posix_fallocate dup dup2 fchdir",
    "signal": "pidfd_send_signal",
    "time": "clock_settime clock_settime_ns",
}  # fmt: skip


def limit(seconds: int, memory: int) -> None:
    """Let the operating system hold the limits, where it can."""
    try:
        import resource
    except ImportError:
        return
    for name, value in (
        ("RLIMIT_CPU", seconds), ("RLIMIT_AS", memory), ("RLIMIT_FSIZE", 0), ("RLIMIT_NOFILE", 64), ("RLIMIT_CORE", 0),
        ("RLIMIT_NPROC", 0),
    ):  # fmt: skip
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (AttributeError, OSError, ValueError):  # a limit that this system does not have
            continue


def disarm() -> None:
    """Take away the functions that the audit hook would not hear of; the process itself needs none of them."""
    for name, functions in _UNSEEN.items():
        for module in filter(None, map(sys.modules.get, (name, f"_{name}", "posix" if name == "os" else name))):
            for function in functions.split():
                vars(module).pop(function, None)


def guard() -> Callable[[str, tuple[Any, ...]], None]:
    """Python's audit hook, which cannot be taken away again: reading files is all that the outside sees of an expression.

    What it needs is bound here: what an expression changes in modules and builtins does not reach it.
    """
    harmless = frozenset({  # what expanding a file does; every other event of Python's audit is refused
        "compile", "exec", "import", "marshal.loads", "marshal.load", "open", "os.listdir", "os.scandir", "glob.glob",
        "glob.glob/2", "object.__getattr__", "builtins.id",
    })  # fmt: skip
    foreign = frozenset({
        "ctypes", "_ctypes", "cffi", "_cffi_backend", "gc", "_posixsubprocess", "_testcapi", "mmap", "_posixshmem",
        "_multiprocessing", "readline", "_dbm", "_gdbm", "_imp",
    })  # fmt: skip
    error, integer, text, writing, letters = PermissionError, int, str, _WRITING, frozenset("wax+")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in harmless:
            raise error(f"the file asks for {event}, which no robot description needs")
        if event == "open":
            mode, flags = arguments[1:3]
            if (mode.__class__ is text and not letters.isdisjoint(mode)) or (flags.__class__ is integer and flags & writing):
                raise error("the file asks to write a file, which no robot description needs")
        if event == "import" and arguments[0].partition(".")[0] in foreign:
            raise error(f"the file imports {arguments[0]}, which no robot description needs")
        if event == "import" and arguments[1] is not None:  # machine code; all that the tools need is loaded by now
            raise error(f"the file imports {arguments[0]}, which no robot description needs")

    return hook


def text_of(path: str, most: int) -> str:
    """The text of a regular file of limited size."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(f"{path}: not a regular file")
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(f"{path}: more than {most >> 10} KiB")
    return data.decode("utf-8-sig")


def main() -> None:
    """One request, one answer."""
    request = json.loads(sys.stdin.read())
    sys.path[:] = [request["here"], *request["modules"]]
    task: Any = importlib.import_module(request["task"])
    out, sys.stdout, sys.stderr = sys.stdout, open(os.devnull, "w"), open(os.devnull, "w")  # noqa: SIM115  # until the end

    def close() -> None:
        limit(request["seconds"], request["memory"])
        disarm()
        sys.addaudithook(guard())

    out.write(json.dumps(task.answer(request, text_of, close)))
    out.flush()
    os._exit(0)  # nothing that the description left behind is run


if __name__ == "__main__":
    main()
