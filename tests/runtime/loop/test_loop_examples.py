"""The examples of drives: compiled and run as their comments say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import elastogen

EXAMPLES = Path(__file__).parents[3] / "examples"
KERNEL = """\
/* What the example uses of Zephyr, in the words of its documentation: timers expire while the thread sleeps. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define ARG_UNUSED(x) (void)(x)
typedef struct { int64_t ms; } k_timeout_t;
#define K_MSEC(ms) ((k_timeout_t) { ms })
struct k_timer { void (*expired)(struct k_timer *), (*stopped)(struct k_timer *); int64_t period; };
#define K_TIMER_DEFINE(name, expiry_fn, stop_fn) struct k_timer name = { expiry_fn, stop_fn, 0 }
bool k_is_in_isr(void);
void k_timer_start(struct k_timer *timer, k_timeout_t duration, k_timeout_t period);
void k_timer_stop(struct k_timer *timer);
int32_t k_msleep(int32_t ms);
"""
SCHEDULER = """\
#include <zephyr/kernel.h>
static struct k_timer *running;
static bool interrupted;
bool k_is_in_isr(void) { return interrupted; }
void k_timer_start(struct k_timer *timer, k_timeout_t duration, k_timeout_t period)
{
    (void)duration;
    timer->period = period.ms;
    running = timer;
}
void k_timer_stop(struct k_timer *timer) { running = (timer == running) ? NULL : running; }
int32_t k_msleep(int32_t ms)
{
    for (int32_t now = 1; now <= ms; ++now) {
        if (running && ((now % running->period) == 0)) {
            interrupted = true;
            running->expired(running);
            interrupted = false;
        }
    }
    return 0;
}
"""


def test_cia402_drives_over_a_bus_that_fails(tmp_path: Path) -> None:
    """Enabled through the states, moved in their units across a wrap of the counter; a pulled cable is a fault of sensors."""
    elastogen.generate_loop("two_link", tmp_path / "generated")
    sources = [EXAMPLES / "ethercat" / name for name in ("main.c", "cia402.c")]
    sources += [tmp_path / "generated" / name for name in ("two_link.c", "two_link_loop.c")]
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'generated'}", f"-I{EXAMPLES / 'ethercat'}"]
    done = subprocess.run(
        ["gcc", *flags, *map(str, sources), "-lm", "-o", "cell"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = subprocess.run(["./cell"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    assert re.search(r"^enabled_after [4-9]$", text, flags=re.M), text  # disabled, ready, switched on, enabled
    moved = re.search(r"^moved (\S+) (\S+) status 0$", text, flags=re.M)
    assert moved is not None, text
    assert abs(float(moved[1]) - 0.5) < 2e-3
    assert abs(float(moved[2]) + 0.4) < 2e-3
    assert "pulled status 1 phase 3 drive_error 8130" in text  # STATUS_READ, ended
    assert "refused 1" in text
    assert re.search(r"^enabled_again [4-9]$", text, flags=re.M), text
    assert "reset 0" in text
    held = re.search(r"^held (\S+) status 0 phase 0$", text, flags=re.M)
    assert held is not None, text
    assert abs(float(held[1])) < 0.01


def test_a_timer_of_zephyr_against_a_stand_in_for_its_kernel(tmp_path: Path) -> None:
    """Zephyr itself is not here: a stand-in with its names shows that the program is whole, and what it prints."""
    application, text = EXAMPLES / "zephyr", (EXAMPLES / "zephyr" / "src" / "main.c").read_text()
    command = re.search(r"^ \*     elastogen (export .*)$", text, flags=re.M)
    assert command is not None
    _, robot, folder, *options = command[1].split()
    assert options == ["--format", "zephyr", "--loop"]
    files = elastogen.export(robot, tmp_path / folder, format="zephyr", loop=True)
    configured = dict(
        line.split("=") for line in (application / "prj.conf").read_text().splitlines() if line.startswith("CONFIG")
    )
    assert configured[f"CONFIG_{robot.upper()}"] == "y"  # what the module's Kconfig defines
    assert f"config {robot.upper()}\n" in (tmp_path / folder / "zephyr" / "Kconfig").read_text()
    named = re.findall(r"src/\S+\.c", (application / "CMakeLists.txt").read_text().replace(")", " "))
    assert named == ["src/main.c"]
    for name, content in (("kernel.h", KERNEL), ("sys/printk.h", "#include <stdio.h>\n#define printk printf\n")):
        place = tmp_path / "zephyr" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"#pragma once\n{content}")
    (tmp_path / "kernel.c").write_text(SCHEDULER)
    sources = [application / named[0], tmp_path / "kernel.c", *(tmp_path / folder / "src").glob("*.c")]
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", f"-I{files.header.parent}"]
    run = ["gcc", *flags, *map(str, sources), "-lm", "-o", "arm"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = subprocess.run(["./arm"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    found = [re.fullmatch(r"(\d+): q (\S+) (\S+) mrad, F \S+ \S+ mN m, status 0", line) for line in lines]
    rows = [[int(number) for number in row.groups()] for row in found if row is not None]
    assert [row[0] for row in rows] == [99, 199, 299, 399, 499]
    assert abs(rows[-1][1] - 500) <= 2
    assert abs(rows[-1][2] + 300) <= 2
