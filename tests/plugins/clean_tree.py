"""``pytest --clean-tree``: the run fails if files that git does not ignore are new in the tree when it ends."""

from __future__ import annotations

import subprocess

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--clean-tree", action="store_true", help="fail if the run leaves new files in the tree")


def untracked(config: pytest.Config) -> set[str]:
    """Files of the tree that are neither under version control nor ignored."""
    command = ["git", "ls-files", "--others", "--exclude-standard"]
    return set(subprocess.run(command, cwd=config.rootpath, capture_output=True, text=True, check=True).stdout.splitlines())


class CleanTree:
    """Compares the tree before and after a run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.before = config, untracked(config)
        self.left: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.left = sorted(untracked(self.config) - self.before)
        if self.left:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.left:
            terminalreporter.section("files left in the tree", red=True)
            terminalreporter.write_line("\n".join(self.left))


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("clean_tree") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(CleanTree(config), "clean_tree_check")
