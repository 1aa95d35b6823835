#!/usr/bin/env python3
"""What a replay foretells against what comes true, by turns on one machine.

    scripts/replay-truth.py [--times 7] [--only WORD] [IOLAB]

Foretold: a slow program is recorded, its replay in another way is measured, and so are the slow program
and a real one that works that way, by their own clocks, which begin when a process has started.
As recorded: programs are recorded and replayed as they were, with their own time between the calls passing
uncounted, against the time of their file calls as the kernel counts it (tracefs, as root, x86-64): from
entering each to leaving it, less what that counting adds to calls whose time is known without it. Both meet
files that were just read. Makes its files under the working directory in `truth-…` and
removes them. On a machine where nothing else runs.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from kernel_calls import Kernel

# A program in C that says how long it took: NAME, what it reads or writes, bytes of a call, how many, and
# syncs. Of seeks its calls alone count, with so many steps through memory between them, as a replay's walk
# makes them.
SOURCE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static char buffer[1 << 20];
static unsigned char memory[4 << 20];
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static void walk(long steps) {
    static unsigned long random = 1;
    for (; steps > 0; steps--) {
        random = random * 0x5851f42d4c957f2dUL + 1;
        unsigned high = random >> 32, within = (1u << (high % 17)) - 1;
        memory[((high >> 8) & within) << 6]++;
    }
}
int main(int count, char **words) {
    long block = atol(words[3]), calls = atol(words[4]), each = atol(words[5]), done = 0;
    double start = now();
    if (!strcmp(words[1], "seek")) {
        int fd = open(words[2], O_RDONLY);
        double in_calls = 0, pair = now();
        for (long each = 0; each < 10000; each++) now();
        pair = (now() - pair) / 10001;
        memset(memory, 1, sizeof memory);
        for (; done < calls; done++) {
            double begin = now();
            lseek(fd, 0, SEEK_CUR);
            in_calls += now() - begin - pair;
            walk(block);
        }
        dprintf(2, "%.9f s, %ld calls\n", in_calls, done);
        return 0;
    } else if (!strcmp(words[1], "read")) {
        int fd = open(words[2], O_RDONLY);
        while (read(fd, buffer, block) > 0) done++;
        close(fd);
    } else {
        int fd = open(words[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
        for (; done < calls; done++) {
            if (write(fd, buffer, block) != block) return 1;
            if (each) fsync(fd);
        }
        if (!each) fsync(fd);
        close(fd);
    }
    dprintf(2, "%.9f s, %ld calls\n", now() - start, done);
    return 0;
}
"""
# Of each: name, the slow program, the one that works as foretold, and the way of the replay.
FORETOLD = [
    ("dd bs=1k → 64k, 16 MiB", ["dd", "if=in", "of=out", "bs=1K"], ["dd", "if=in", "of=out", "bs=64K"],
     ["--block", "64Ki"]),
    # A million calls. The file is larger than a processor's cache: reads of 4 KiB of one that fits took 0.87
    # of their time where it had just been read, and which of a program and a replay finds it there is chance.
    ("reads of 64 bytes → 4 KiB, 64 MiB", ["./calls", "read", "other", "64", "0", "0"],
     ["./calls", "read", "other", "4096", "0", "0"], ["--block", "4Ki"]),
    ("500 writes of 4 KiB, fsync each → one", ["./calls", "write", "out", "4096", "500", "1"],
     ["./calls", "write", "out", "4096", "500", "0"], ["--sync", "end", "--block", "recorded"]),
]
# Steps between two seeks, and how many of these.
SEEKS = [(0, 100_000), (500, 50_000), (2000, 20_000), (8000, 5000)]
# Runs of a program in each turn; a replay has nine trials.
RUNS = 3
COUNTED = [
    ("cp -R, 2000 files", ["cp", "-R", "tree", "out"]),
    ("sqlite3, 10 000 inserts in a transaction", ["sh", "-c", "exec sqlite3 out < one.sql"]),
    ("sqlite3, 10 000 inserts, each its own", ["sh", "-c", "exec sqlite3 out < each.sql"]),
    ("python3 by lines, 16 MiB", [sys.executable, "-c", "for line in open('lines'): pass"]),
    ("tar, 2000 files", ["tar", "cf", "out", "tree"]),
    ("grep -r, 2000 files", ["grep", "-r", "no such text", "tree"]),
    ("gcc -c", ["gcc", "-O1", "-c", "calls.c", "-o", "out"]),
]


def files():
    """All that the programs work on, in this directory."""
    with open("in", "wb") as file:
        file.write(os.urandom(16 << 20))
    with open("other", "wb") as file:
        file.write(os.urandom(64 << 20))
    with open("small", "wb") as file:
        file.write(os.urandom(1 << 20))
    with open("lines", "w", encoding="ascii") as file:
        file.write("a line of a file as there are many\n" * ((16 << 20) // 35))
    for number in range(2000):
        os.makedirs(f"tree/{number % 20}", exist_ok=True)
        with open(f"tree/{number % 20}/{number}", "wb") as file:
            file.write(os.urandom(1000 + number * 10))
    for name, inserts, first, last in (("one", 10_000, "begin;\n", "commit;\n"), ("each", 10_000, "", "")):
        with open(f"{name}.sql", "w", encoding="ascii") as file:
            # The runs without a tracer meet what the first one made.
            file.write("create table if not exists t(a, b);\n" + first)
            file.write("insert into t values (1, 'some text to be kept');\n" * inserts + last)
    settle_all()
    with open("calls.c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    subprocess.run(["gcc", "-O2", "-static", "calls.c", "-o", "calls"], check=True)


def settle(path):
    """Brings a file into the state of those that a replay reads: evicted, and read again in calls of the same
    size, for its pages are larger or smaller pieces of memory by how it was read or written: reads of 4 KiB
    took 2.06 ms of 16 MiB that one write had brought, 2.24 ms of the same read again, 4.2 ms of a file
    written 8 KiB at a time; after calls of 1 MiB 4 % more than after those of 128 KiB."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    while os.read(file, 128 << 10):
        pass
    os.close(file)


def settle_all():
    """All files that programs are given."""
    for given in ("in", "other", "small", "lines", "one.sql", "each.sql", "tree"):
        for directory, _, names in os.walk(given):
            for name in names:
                settle(os.path.join(directory, name))
        if os.path.isfile(given):
            settle(given)


def clean():
    """What a program makes is made anew. What it has made is kept until the end: without a journal ext4
    passes over inodes that were freed within the last minutes, one by one."""
    if os.path.isdir("out"):
        os.rename("out", tempfile.mkdtemp(prefix="kept-", dir=".") + "/out")
    for name in ("out", "out-journal"):
        if os.path.exists(name):
            os.unlink(name)


def warm_up(command):
    """What it reads was not used since the last turn: in the page cache, but in no cache of a processor.
    A replay primes its files before each trial."""
    clean()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clean()
    # What was written is not still on its way.
    os.sync()


def own_ms(command):
    """What a program says it took. As before every round of a replay a place in memory is drawn anew for what
    it reads: by that alone a pass takes one time or nearly twice it. 64 MiB were read before it, more than a
    processor's cache holds."""
    clean()
    settle("in")
    settle("other")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return 1e3 * float(re.search(r"([0-9.e-]+) s,", said).group(1))


def low(values):
    """The lower quartile. Memory that is read is in one of two moods by where it lies, and which one is drawn
    anew each time: 64 MiB in calls of 4 KiB took 9 ms or 17 ms, in half of all draws each, of the C program
    as of the replay. The middle of a few draws is chance; their lower quartile is in the fast mood."""
    return sorted(values)[len(values) // 4]


def record(iolab, name, command):
    """The trace of a command."""
    clean()
    trace = re.sub("[^a-z0-9]+", "-", name.lower()) + ".trace"
    record = [iolab, "record", "--quiet", "--runs", "3", "--output", trace, "--"] + command
    subprocess.run(record, check=False, stdout=subprocess.DEVNULL)
    clean()
    return trace


def replay(iolab, trace, way):
    """The milliseconds of each trial of each cell of a replay, and the share of calls that it left out."""
    said = subprocess.run(
        [iolab, "replay", trace, "--rounds", "9", "--budget", "100s", "--format", "json", "--quiet"] + way,
        capture_output=True, text=True, check=True,
    ).stdout
    run = json.loads(said)
    known = [fact for key, fact in run["environment"].items() if key.startswith("trace")][0]
    trials = [[one for one in cell["samples"] if one["phase"] == "steady" and "fault" not in one] for cell in run["cells"]]
    cells = [[one["wall_ns"] / 1e6 / one["repetitions"] for one in each] for each in trials]
    return cells, known["lost_calls"] / known["calls"]


def row(name, real, foretold):
    """A row of the table: of each turn both met the same machine."""
    quotients = sorted(b / a for a, b in zip(real, foretold))
    middle = statistics.median(quotients)
    outer = len(quotients) // 6
    real, foretold = statistics.median(real), statistics.median(foretold)
    print(f"| {name} | {real:.2f} ms | {foretold:.2f} ms | {middle:.3f} "
          f"({quotients[outer]:.3f}–{quotients[-1 - outer]:.3f}) |", flush=True)


def foretell(iolab, times, name, slow, fast, way):
    """Both programs and both cells of a replay, by turns."""
    trace = record(iolab, name, slow)
    turns = []
    for _ in range(times):
        before = [[own_ms(program) for _ in range(6)] for program in (slow, fast)]
        cells = replay(iolab, trace, way)[0]
        after = [[own_ms(program) for _ in range(6)] for program in (slow, fast)]
        turns.append([low(first + last) for first, last in zip(before, after)] + [low(cell) for cell in cells])
    slow_ms, fast_ms, as_recorded, other = zip(*turns)
    row(f"{name}: as recorded", slow_ms, as_recorded)
    row(f"{name}: foretold", fast_ms, other)


def count(kernel, iolab, times, name, command):
    """A program's file calls as the kernel counts them, and its replay, by turns."""
    trace = record(iolab, name, command)
    turns, lost = [], 0.0
    for _ in range(times):
        # One run met a busy moment more often than the middle one of the replay's trials, and all runs the
        # memory that was drawn for its files once.
        real = []
        for _ in range(RUNS):
            settle_all()
            warm_up(command)
            real.append(kernel.file_calls_ms(command))
        cells, lost = replay(iolab, trace, ["--block", "recorded", "--think", "uncounted"])
        turns.append((statistics.median(real), statistics.median(cells[0])))
    row(f"{name} ({100 * lost:.1f} % of its calls left out)", *zip(*turns))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--times", type=int, default=7)
    arguments.add_argument("--only", default="", help="rows whose name has this word")
    arguments.add_argument("iolab", nargs="?", default="iolab")
    asked = arguments.parse_args()
    iolab = shutil.which(asked.iolab) or os.path.abspath(asked.iolab)
    directory = os.path.abspath(tempfile.mkdtemp(prefix="truth-", dir="."))
    try:
        os.chdir(directory)
        os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
        files()
        print("| work | the program | the replay | its share of the program's time |")
        print("| --- | ---: | ---: | --- |")
        for one in FORETOLD:
            if asked.only in one[0]:
                foretell(iolab, asked.times, *one)
        wanted = [one for one in COUNTED if asked.only in one[0]]
        if wanted:
            seeks = [["./calls", "seek", "small", str(steps), str(calls), "0"] for steps, calls in SEEKS]
            with Kernel(seeks) as kernel:
                for one in wanted:
                    count(kernel, iolab, asked.times, *one)
    finally:
        os.chdir(os.path.dirname(directory))
        shutil.rmtree(directory)


main()
