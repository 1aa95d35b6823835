#!/usr/bin/env python3
"""Ordinary questions asked of iolab on this machine, several times each: how many end in an answer.

    scripts/answers.py [--times 4] [--seed 1] [--budget 30s] [--only WORD] [--judge]
                       [--equal | --quick N | --cold-warm N | --window N] [IOLAB]

Without another word: 25 questions; counted are winners, ties, picks within 5 %, and what is wider
or unsound. --equal: pairs of equal things, asked in both orders; counted is how often they are
told apart, and told by how much d, the logarithm of their quotient in a round, spreads. --quick N: so many surveys in a row, a minute each; every answer has a pick with its
bound, and no two surveys exclude each other's pick. --cold-warm N: the cold cache against the warm
one, both orders in turn; all are answered, and warm is faster. --window N: a warm read over five
blocks for 10 s; at least 100 rounds, and half of the time within the timed window. With --judge the
questions end with 1 where fewer than 95 % are answered or more than one is unsound, equal things
where more than one of twenty are told apart; the three last always judge. Makes its files under
the working directory in `answers-…` and removes them. As root, on a machine where nothing else
runs.
"""
import argparse
import itertools
import json
import math
import os
import shutil
import statistics
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


ANSWERED = ("winner", "tie", "within 5 %")
LEAST_ANSWERED = 0.95
MOST_UNSOUND = 1
# Of equal things, as many as the protocol allows.
MOST_APART = 0.05
WINDOW = "read f64 --method read --cache warm --block 4Ki,16Ki,64Ki,256Ki,1Mi --precision 0.1%"
WINDOW_BUDGET_S = 10
LEAST_ROUNDS = 100
LEAST_MEASURED = 0.5
COLD_WARM = "read f64 --cache {order} --ask cache --method pread --block 256Ki"


class Side:
    def __init__(self, file, directory, image, command):
        self.file, self.directory, self.image, self.command = file, directory, image, command


class Iolab:
    """The program under test, with a history of its own."""

    def __init__(self, program, budget):
        self.program, self.budget = program, budget
        self.store = os.path.abspath("history.sqlite")

    def said(self, words):
        """The JSON that a command prints, or nothing and what was said instead."""
        command = [self.program, *words, "--store", self.store]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            return json.loads(done.stdout), ""
        except ValueError:
            return None, (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]

    def measured(self, words, seed):
        """One run, or nothing and what was said instead."""
        return self.said([*words, "--budget", self.budget, "--seed", str(seed), "--format", "json"])

    def surveyed(self, directory):
        """The runs of one survey."""
        known = {run["id"] for run in self.history()}
        subprocess.run([self.program, "quick", directory, "--store", self.store, "--quiet"],
                       stdout=subprocess.DEVNULL, check=True)
        new = [run["id"] for run in self.history() if run["id"] not in known]
        return [self.said(["show", str(run), "--format", "json"])[0] for run in sorted(new)]

    def history(self):
        return self.said(["history", "--format", "json"])[0] or []


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


def at_most(answer):
    """What the pick can cost; infinite where nothing is to be taken."""
    return (answer.get("pick") or {}).get("at_most") or float("inf")


def kind_of(answer):
    if answer["kind"] in ("winner", "tie"):
        return answer["kind"]
    if answer["kind"] == "invalid":
        return "unsound"
    return "within 5 %" if at_most(answer) <= 1.05 else "wider"


def questions(iolab, options):
    """Asks them all; whether as many are answered as must be."""
    counts = {}
    for question in QUESTIONS:
        if options.only and options.only not in question:
            continue
        kinds = []
        for time in range(options.times):
            run, said = iolab.measured(question.split(), options.seed + time)
            kinds += [kind_of(answer) for answer in run["answers"]] if run else [f"none: {said}"]
        print(f"{question}: {', '.join(kinds)}", flush=True)
        for kind in kinds:
            counts[kind] = counts.get(kind, 0) + 1
    return tally(counts)


def tally(counts):
    total = sum(counts.values()) or 1
    print()
    for kind, count in sorted(counts.items(), key=lambda row: -row[1]):
        print(f"{kind:12} {count:4} {100 * count / total:5.1f} %")
    answered = sum(counts.get(kind, 0) for kind in ANSWERED)
    unsound = counts.get("unsound", 0)
    print(f"answered {answered} of {total} ({100 * answered / total:.1f} %), unsound {unsound}")
    return answered >= LEAST_ANSWERED * total and unsound <= MOST_UNSOUND


def told_apart(answer, commands):
    """Whether one of equal things is said to be no best; of two commands, the pair of them."""
    if not commands:
        return any(row["excluded"] for row in answer.get("regret", []))
    both = ("/bin/one", "/bin/two")
    pairs = [pair for pair in answer["comparisons"] if any(x in pair["a"] for x in both)
             and any(x in pair["b"] for x in both)]
    return any(pair["verdict"] in ("faster", "slower") for pair in pairs)


def words_of(question, x, y):
    """A question about equal things, with these in the place of its names."""
    words = []
    for word in question.split():
        if word == "{C}":
            words += [x.command, "--contender", y.command]
            continue
        places = f"dir:{x.directory},dir:{y.directory}"
        word = word.replace("{P}", places).replace("{I}", f"{x.image},{y.image}")
        words.append(word.replace("{X.file}", x.file).replace("{Y.file}", y.file))
    return words


def equal(iolab, options):
    """Asks of equal things; whether they are told apart no more often than is allowed."""
    here = os.getcwd()
    one = Side("a.bin", f"{here}/d1", "ext4", f"{here}/bin/one {{file}}")
    two = Side("b.bin", f"{here}/d2", "ext4:noatime", f"{here}/bin/two {{file}}")
    asked = {name: words for name, words in EQUAL.items() if not options.only or options.only in name}
    return all([equal_pair(iolab, options, name, words, (one, two)) for name, words in asked.items()])


def equal_pair(iolab, options, name, question, sides):
    apart, unsound, bounds, spreads, none = 0, 0, [], [], []
    for time in range(options.times):
        words = words_of(question, *(sides if time % 2 == 0 else sides[::-1]))
        run, said = iolab.measured(words, options.seed + time)
        none += [] if run else [said]
        spreads += spread_of_d(run) if run else []
        for answer in run["answers"] if run else []:
            apart += told_apart(answer, "{C}" in question)
            unsound += answer["kind"] == "invalid"
            bounds.append(100 * (at_most(answer) - 1))
    bounds.sort()
    middle, worst = (f"{bounds[len(bounds) // 2]:.1f}", f"{bounds[-1]:.1f}") if bounds else "--"
    print(
        f"{name:32} told apart {apart:2} of {options.times}, unsound {unsound}, "
        f"pick within {middle} % (median; worst {worst} %), "
        f"d spreads by {middle_of(spreads):.1f} % {' '.join(none[:1])}",
        flush=True,
    )
    return apart <= max(1, MOST_APART * options.times) and not none


def spread_of_d(run):
    """The standard deviation of d, the logarithm of the quotient of two cells of a round, in per cent."""
    cells = [cell["samples"] for cell in run["cells"] if cell["samples"]]
    if len(cells) != 2:
        return []
    first, second = (
        {one["round"]: one["wall_ns"] / one["operations"] for one in samples if one["phase"] == "steady"}
        for samples in cells
    )
    d = [math.log(first[number] / second[number]) for number in first.keys() & second.keys()]
    return [100 * statistics.pstdev(d)] if len(d) > 1 else []


def middle_of(values):
    return statistics.median(values) if values else float("nan")


def compared(run):
    """The answers of a run in which something is compared, by what was asked."""
    of = {}
    for answer in run["answers"]:
        if len(answer.get("regret", [])) > 1 or answer["kind"] in ("undecided", "invalid"):
            of[run["run"]["title"], json.dumps(answer["condition"], sort_keys=True)] = answer
    return of


def excludes(answer, cell):
    return any(row["excluded"] for row in answer.get("regret", []) if row["cell"] == cell)


def quick(iolab, options):
    """Surveys in a row; whether each line has a pick with its bound and none rules out another's."""
    surveys = []
    for at in range(options.quick):
        answers = {}
        for run in iolab.surveyed("."):
            answers.update(compared(run))
        surveys.append(answers)
        bare = [asked for asked, answer in answers.items() if at_most(answer) == float("inf")]
        print(f"survey {at + 1}: {len(answers)} answers, {len(bare)} without a pick {bare}", flush=True)
    without = sum(at_most(answer) == float("inf") for one in surveys for answer in one.values())
    against = 0
    for (at, one), (later, two) in itertools.combinations(enumerate(surveys, 1), 2):
        for asked in one.keys() & two.keys():
            picks = [(answer[asked].get("pick") or {}).get("cell") for answer in (one, two)]
            if excludes(one[asked], picks[1]) and excludes(two[asked], picks[0]):
                against += 1
                print(f"surveys {at} and {later} exclude each other's pick: {asked}: {picks}")
    print(f"without a pick {without}, picks that exclude each other {against}")
    return without == 0 and against == 0


def cold_warm(iolab, options):
    """The cold cache against the warm one; whether all are answered, and warm is faster."""
    right = 0
    for time in range(options.cold_warm):
        order = ("cold,warm", "warm,cold")[time % 2]
        words = COLD_WARM.format(order=order).split()
        run, said = iolab.measured(words, options.seed + time)
        answer = run["answers"][0] if run else {"kind": f"none: {said}", "best": [], "sentence": said}
        warm = [cell["id"] for cell in run["cells"] if cell["factors"]["cache"] == "warm"] if run else []
        good = answer["kind"] == "winner" and answer["best"] == warm
        right += good
        print(f"{order}: {answer['kind']}{'' if good else ' (wrong)'}: {answer['sentence']}", flush=True)
    print(f"answered right {right} of {options.cold_warm}")
    return right == options.cold_warm


def window(iolab, options):
    """A warm read over five blocks; whether it has its rounds, and half of its time is measurement."""
    right = 0
    iolab.budget = f"{WINDOW_BUDGET_S}s"
    for time in range(options.window):
        run, said = iolab.measured(WINDOW.split(), options.seed + time)
        if run is None:
            print(f"none: {said}", flush=True)
            continue
        parts = run["cells"] + [run["twin"] or {"samples": []}]
        trials = [one for part in parts for one in part["samples"]]
        share = sum(one["wall_ns"] for one in trials) / (WINDOW_BUDGET_S * 1e9)
        rounds = max(one["round"] for one in trials) + 1
        right += rounds >= LEAST_ROUNDS and share >= LEAST_MEASURED
        print(f"{rounds} rounds, {100 * share:.0f} % of the budget within the timed window", flush=True)
    print(f"as it should be {right} of {options.window}")
    return right == options.window


def asked_for(options):
    """What is asked, and whether its outcome is judged."""
    if options.quick:
        return quick, True
    if options.cold_warm:
        return cold_warm, True
    if options.window:
        return window, True
    return (equal if options.equal else questions), options.judge


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("iolab", nargs="?", default="iolab")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the first time")
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--only")
    parser.add_argument("--judge", action="store_true", help="end with 1 where too little is answered")
    parser.add_argument("--equal", action="store_true")
    parser.add_argument("--quick", type=int, metavar="N", help="so many surveys in a row")
    parser.add_argument("--cold-warm", type=int, metavar="N", help="so many runs, both orders in turn")
    parser.add_argument("--window", type=int, metavar="N", help="so many warm reads over five blocks")
    options = parser.parse_args()
    program = shutil.which(options.iolab)
    if program is None:
        sys.exit(f"{options.iolab}: no such program")
    program = os.path.abspath(program)
    directory = tempfile.mkdtemp(prefix="answers-", dir=".")
    os.chdir(directory)
    ask, judged = asked_for(options)
    try:
        make_files()
        good = ask(Iolab(program, options.budget), options)
    finally:
        os.chdir("..")
        shutil.rmtree(directory)
    sys.exit(1 if judged and not good else 0)


if __name__ == "__main__":
    main()
