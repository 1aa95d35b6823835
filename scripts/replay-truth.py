#!/usr/bin/env python3
"""What a replay foretells against what comes true: dd with blocks of 1 KiB is recorded, its replay in
blocks of 64 KiB is measured, and so is dd with blocks of 64 KiB, by turns.

    scripts/replay-truth.py [--mib 16] [--times 20] [IOLAB]

Of dd its own time counts, which begins when the process has started and its files are open. Makes its
files under the working directory in `truth-…` and removes them. On a machine where nothing else runs.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

RECORDED, ASKED = "1K", "64K"


def dd(block):
    """The seconds that dd says it took; its target is made anew."""
    if os.path.exists("out"):
        os.unlink("out")
    said = subprocess.run(
        ["dd", "if=in", "of=out", f"bs={block}"], capture_output=True, text=True, check=True
    ).stderr
    return float(re.search(r"copied, ([0-9.e-]+) s", said).group(1))


def replay(iolab):
    """The milliseconds of a replay as recorded, and in larger blocks, by the block."""
    said = subprocess.run(
        [iolab, "replay", "dd.trace", "--block", "64Ki", "--rounds", "5", "--format", "json",
         "--quiet"],
        capture_output=True, text=True, check=True,
    ).stdout
    cells = json.loads(said)["cells"]
    return [cell["estimate"]["wall_ns"]["median"] / 1e6 for cell in cells]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--mib", type=int, default=16)
    arguments.add_argument("--times", type=int, default=20)
    arguments.add_argument("iolab", nargs="?", default="iolab")
    asked = arguments.parse_args()
    iolab = shutil.which(asked.iolab) or os.path.abspath(asked.iolab)
    directory = os.path.abspath(tempfile.mkdtemp(prefix="truth-", dir="."))
    try:
        os.chdir(directory)
        os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
        with open("in", "wb") as file:
            file.write(os.urandom(asked.mib << 20))
        record = [iolab, "record", "--quiet", "--output", "dd.trace", "--"]
        subprocess.run(record + ["dd", "if=in", "of=out", f"bs={RECORDED}", "status=none"], check=True)
        rounds = []
        for _ in range(asked.times):
            real = [dd(RECORDED) * 1e3, dd(ASKED) * 1e3]
            rounds.append(real + replay(iolab))
        middle = [statistics.median(column) for column in zip(*rounds)]
        # Both of a round met the same machine.
        quotients = [[one[2] / one[0], one[3] / one[1]] for one in rounds]
        right = [statistics.median(column) for column in zip(*quotients)]
        for name, real, foretold, quotient in zip(
            ("as recorded, 1 KiB", "64 KiB"), middle[:2], middle[2:], right
        ):
            print(f"{name}: dd {real:.2f} ms, replay {foretold:.2f} ms, {quotient:.3f} of it")
    finally:
        os.chdir(os.path.dirname(directory))
        shutil.rmtree(directory)


main()
