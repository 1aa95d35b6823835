#!/usr/bin/env python3
"""Ordinary questions asked of iolab on this machine, several times each: how many end in an answer.

    scripts/answers.py [--times 4] [--seed 1] [--budget 30s] [--only WORD] [--equal] [IOLAB]

Without --equal: 25 questions; counted are winners, ties, picks within 5 %, and what is wider or
unsound. With --equal: pairs of equal things, asked in both orders; counted is how often they are told
apart. Makes its files under the working directory in `answers-…` and removes them. As root, on a
machine where nothing else runs.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

QUESTIONS = [
    "read f64 --method read --block 4Ki,64Ki,256Ki,1Mi",
    "read f64 --method pread --block 64Ki,256Ki",
    "read f64 --method read,mmap,pread --block 256Ki",
    "read f64 --cache cold,warm --ask cache --method pread --block 256Ki",
    "read f64 --cache cold --method read --block 64Ki,1Mi",
    "read f64 --cache cold --method read,mmap --block 256Ki",
    "read f64 --method pread --block 64Ki --threads 1,2",
    "read f64 --method pread --block 4Ki --pattern sequential,random --ask pattern",
    "read f1 --method read,mmap --block 64Ki",
    "read --file-size 64Mi --method pread,io_uring --block 4Ki",
    "read f64 --method readv,preadv2,pread --block 64Ki",
    "read f64 --method mmap,mmap-populate",
    "write --file-size 32Mi --method write,pwrite --block 4Ki,64Ki,1Mi --until return",
    "write --file-size 16Mi --method write --block 64Ki --sync none,end --ask sync",
    "write --file-size 1Mi --method write --block 4Ki,64Ki --sync dsync",
    "copy f64 --method read-write --block 4Ki,64Ki,1Mi",
    "copy f64 --method read-write,copy_file_range,sendfile --block 256Ki",
    "copy --file-size 4Mi --method read-write,mmap --block 64Ki",
    "files create --files 500 --threads 1,2",
    "files read --files 500 --threads 1,2",
    "files copy --files 500 --threads 1,2",
    "meta --operation stat,open-close,chmod",
    "meta --operation create,unlink,rename",
    "syscall --operation lseek,read,pread",
    "syscall --operation fstat,stat,open-close",
]

# What differs is a name alone: X and Y are exchanged in every second run.
EQUAL = {
    "two files, read": "read {X.file} {Y.file} --method read --block 256Ki",
    "two directories, read": "read --file-size 64Mi --method read --block 256Ki --place {P}",
    "two directories, write": "write --file-size 32Mi --method write --block 256Ki --until return --place {P}",
    "two directories, copy": "copy --file-size 32Mi --method read-write --block 256Ki --place {P}",
    "two directories, files create": "files create --files 500 --threads 1 --place {P}",
    "two directories, files read": "files read --files 500 --threads 1 --place {P}",
    "two directories, meta": "meta --operation chmod --place {P}",
    "two images, read": "read --file-size 32Mi --method read --block 256Ki --place {I}",
    "one command, two names": "read f64 --method null --contender {C} --ask contender",
}


class Side:
    def __init__(self, file, directory, image, command):
        self.file, self.directory, self.image, self.command = file, directory, image, command


def arguments(iolab, words, budget, seed):
    store = ["--store", os.path.abspath("history.sqlite")]
    return [iolab, *words, "--budget", budget, "--seed", str(seed), "--format", "json", *store]


def ask(iolab, words, budget, seed):
    """The answers of one run, or what was said instead."""
    done = subprocess.run(arguments(iolab, words, budget, seed), capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["answers"], ""
    except (ValueError, KeyError):
        return [], done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]


def make_files():
    for name, size in [("f64", 64 << 20), ("f1", 1 << 20), ("g64", 64 << 20)]:
        with open(name, "wb") as file:
            file.write(os.urandom(size))
    shutil.copyfile("f64", "a.bin")
    shutil.copyfile("f64", "b.bin")
    for name in ["d1", "d2", "bin"]:
        os.mkdir(name)
    for name in ["one", "two"]:
        os.symlink(shutil.which("cat"), os.path.join("bin", name))
    os.sync()


def kind_of(answer):
    at_most = (answer.get("pick") or {}).get("at_most")
    if answer["kind"] in ("winner", "tie"):
        return answer["kind"]
    if answer["kind"] == "invalid":
        return "unsound"
    return "within 5 %" if at_most and at_most <= 1.05 else "wider"


def questions(iolab, options):
    counts, rows = {}, []
    for question in QUESTIONS:
        if options.only and options.only not in question:
            continue
        kinds = []
        for time in range(options.times):
            answers, said = ask(iolab, question.split(), options.budget, options.seed + time)
            kinds += [kind_of(answer) for answer in answers] or [f"none: {said}"]
        rows.append((question, kinds))
        print(f"{question}: {', '.join(kinds)}", flush=True)
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
    total = sum(counts.values()) or 1
    print()
    for kind, count in sorted(counts.items(), key=lambda row: -row[1]):
        print(f"{kind:12} {count:4} {100 * count / total:5.1f} %")


def told_apart(answer, commands):
    """Whether one of equal things is said to be no best; of two commands, the pair of them."""
    if not commands:
        return any(row["excluded"] for row in answer.get("regret", []))
    both = ("/bin/one", "/bin/two")
    pairs = [pair for pair in answer["comparisons"] if any(x in pair["a"] for x in both)
             and any(x in pair["b"] for x in both)]
    return any(pair["verdict"] in ("faster", "slower") for pair in pairs)


def equal(iolab, options):
    here = os.getcwd()
    one = Side("a.bin", f"{here}/d1", "ext4", f"{here}/bin/one {{file}}")
    two = Side("b.bin", f"{here}/d2", "ext4:noatime", f"{here}/bin/two {{file}}")
    for name, question in EQUAL.items():
        if options.only and options.only not in name:
            continue
        apart, unsound, bounds, none = 0, 0, [], []
        for time in range(options.times):
            x, y = (one, two) if time % 2 == 0 else (two, one)
            words = []
            for word in question.split():
                if word == "{C}":
                    words += [x.command, "--contender", y.command]
                    continue
                places = f"dir:{x.directory},dir:{y.directory}"
                word = word.replace("{P}", places).replace("{I}", f"{x.image},{y.image}")
                words.append(word.replace("{X.file}", x.file).replace("{Y.file}", y.file))
            answers, said = ask(iolab, words, options.budget, options.seed + time)
            none += said
            for answer in answers:
                apart += told_apart(answer, "{C}" in question)
                unsound += answer["kind"] == "invalid"
                bounds.append((answer.get("pick") or {}).get("at_most") or float("inf"))
        bounds = sorted(100 * (bound - 1) for bound in bounds)
        middle = f"{bounds[len(bounds) // 2]:.1f}" if bounds else "-"
        worst = f"{bounds[-1]:.1f}" if bounds else "-"
        print(
            f"{name:32} told apart {apart:2} of {options.times}, unsound {unsound}, "
            f"pick within {middle} % (median; worst {worst} %) {' '.join(none[:1])}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("iolab", nargs="?", default="iolab")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the first time")
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--only")
    parser.add_argument("--equal", action="store_true")
    options = parser.parse_args()
    iolab = shutil.which(options.iolab)
    if iolab is None:
        sys.exit(f"{options.iolab}: no such program")
    iolab = os.path.abspath(iolab)
    directory = tempfile.mkdtemp(prefix="answers-", dir=".")
    os.chdir(directory)
    try:
        make_files()
        (equal if options.equal else questions)(iolab, options)
    finally:
        os.chdir("..")
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
