"""The time of a program's calls on files, counted by the kernel (tracefs; x86-64; as root)."""
import os
import re
import statistics
import subprocess
import time

# Pairs of runs by turns, counted and not.
PAIRS = 9
# What lies between two calls for so long waits for something.
WAITS_NS = 1e6
ROOT = "/sys/kernel/tracing"
EXECVE = 59
MMAP = 9
# read, write, open, close, stat, fstat, lstat, lseek, pread, pwrite, readv, writev, access, dup, dup2,
# sendfile, fcntl, flock, fsync … creat, link … lchown, utime, statfs, fstatfs, getdents64, fadvise,
# utimes, openat … faccessat, utimensat, fallocate, dup3, preadv, pwritev, renameat2, copy_file_range,
# statx, close_range, faccessat2.
FILE_CALLS = {
    0, 1, 2, 3, 4, 5, 6, 8, 17, 18, 19, 20, 21, 32, 33, 40, 72, 73, *range(74, 79), *range(80, 95), 132,
    137, 138, 191, 192, 193, 217, 221, 235, *range(257, 270), 280, 285, 292, 295, 296, 316, 326, 332, 436,
    439,
}
LINE = re.compile(r"-(\d+)\s+\[\d+\]\s+\S+\s+(\d+): sys_(enter|exit): NR (-?\d+) (.*)")


class Kernel:
    """An instance of the kernel's tracer with two events: a call is entered, a call is left."""

    def __init__(self, seeks):
        """Programs that make many calls of a known time, and say what that is, with less and more between them."""
        self.seeks = seeks

    def __enter__(self):
        if not os.path.exists(f"{ROOT}/instances"):
            subprocess.run(["mount", "-t", "tracefs", "nodev", ROOT], check=True)
        self.at = f"{ROOT}/instances/iolab-truth-{os.getpid()}"
        os.mkdir(self.at)
        for name, text in (("tracing_on", "0"), ("trace_clock", "x86-tsc"), ("options/event-fork", "1"),
                           ("buffer_size_kb", "131072")):
            self.write(name, text)
        self.ticks_per_ns = self.clock()
        # What counting adds to a call, and what of a call lies outside of what is counted, by the time
        # between two calls: of one pair of runs it was wrong by as much as a sixth of a program's time, and
        # where a program works between its calls the caches have lost what counts (127 ns a call with
        # 0.4 µs between, 182 ns with 23 µs).
        self.adds = []
        for seeks in self.seeks:
            pairs = [self.added_ns(seeks) for _ in range(PAIRS)]
            self.adds.append(tuple(map(statistics.median, zip(*pairs))))
        return self

    def added_ns(self, seeks):
        """The time between two calls, and what one takes as it is counted beyond what it takes by the
        program's own clock."""
        alone = subprocess.run(seeks, capture_output=True, text=True, check=True).stderr
        seconds, calls = re.search(r"([0-9.]+) s, (\d+) calls", alone).groups()
        counted_ns, seen, between_ns = self.counted(seeks)
        assert abs(seen - int(calls)) < 100, (seen, calls)
        return between_ns, (counted_ns - 1e9 * float(seconds)) / int(calls)

    def adds_ns(self, between_ns):
        """What counting adds to each call of a program with so much time between them."""
        lower = max((known for known in self.adds if known[0] <= between_ns), default=self.adds[0])
        upper = min((known for known in self.adds if known[0] > between_ns), default=self.adds[-1])
        if upper[0] <= lower[0]:
            return lower[1]
        share = (between_ns - lower[0]) / (upper[0] - lower[0])
        return lower[1] + max(share, 0) * (upper[1] - lower[1])

    def __exit__(self, *_):
        self.write("tracing_on", "0")
        os.rmdir(self.at)

    def watch(self, text):
        """The events, on or off. On, they cost every process a call of the kernel's own: 83 ns were measured
        for each lseek of a program that was not counted."""
        for event in ("enter", "exit"):
            self.write(f"events/raw_syscalls/sys_{event}/enable", text)

    def write(self, name, text):
        with open(f"{self.at}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def clock(self):
        """Ticks of the processor's counter in a nanosecond."""
        marks = []
        self.write("tracing_on", "1")
        for _ in range(2):
            self.write("trace_marker", "mark")
            marks.append(time.monotonic_ns())
            time.sleep(0.5)
        self.write("tracing_on", "0")
        with open(f"{self.at}/trace", encoding="utf-8", errors="replace") as file:
            ticks = [int(found.group(1)) for found in map(re.compile(r"(\d+): tracing_mark_write").search, file)
                     if found]
        self.write("trace", "")
        return (ticks[1] - ticks[0]) / (marks[1] - marks[0])

    def counted(self, command):
        """Nanoseconds between entering and leaving, of all calls on files, how many they are, and the mean
        time from one to the next of a thread."""
        self.write("trace", "")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            nothing = os.open("/dev/null", os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            os.execvp(command[0], command)
        os.close(reader)
        self.write("set_event_pid", str(child))
        self.watch("1")
        self.write("tracing_on", "1")
        os.close(writer)
        os.waitpid(child, 0)
        self.write("tracing_on", "0")
        self.watch("0")
        return self.sum()

    def sum(self):
        entered, left, begun, ticks, calls, between = {}, {}, False, 0, 0, []
        with open(f"{self.at}/trace", encoding="utf-8", errors="replace") as file:
            for found in filter(None, map(LINE.search, file)):
                thread, at, way, number, rest = found.groups()
                number = int(number)
                if number == EXECVE and way == "exit":
                    begun = True
                # A descriptor is an int: what stands above it is anything.
                of_memory = way == "enter" and number == MMAP and rest.split(", ")[4].endswith("f" * 8)
                if way == "enter" and begun and (number in FILE_CALLS or number == MMAP and not of_memory):
                    entered[thread] = (number, int(at))
                    between += [int(at) - left[thread]] if thread in left else []
                elif way == "exit" and entered.get(thread, (None,))[0] == number:
                    ticks += int(at) - entered.pop(thread)[1]
                    calls += 1
                    left[thread] = int(at)
        for cpu in os.listdir(f"{self.at}/per_cpu"):
            with open(f"{self.at}/per_cpu/{cpu}/stats", encoding="ascii") as file:
                assert "overrun: 0" in file.read(), "the buffer of the kernel's tracer is too small"
        # Longer ones are waits.
        between = [gap / self.ticks_per_ns for gap in between if gap < WAITS_NS * self.ticks_per_ns]
        return ticks / self.ticks_per_ns, calls, statistics.mean(between)

    def file_calls_ms(self, command):
        """What a program's calls on files take without being counted."""
        counted_ns, calls, between_ns = self.counted(command)
        return (counted_ns - self.adds_ns(between_ns) * calls) / 1e6
