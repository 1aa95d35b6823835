// An independent measurer: what a plain C program sees that does the work of a trial, on a file or a
// tree of its own. Built with cc -O3 -march=native when the bench starts; prints nanoseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../plain.h"

static int opened(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) fail(path);
    return fd;
}

// make FILE BYTES: written in pieces, brought to the disk, out of the cache and read again, as each file
// is that iolab measures.
static uint64_t make(char **argv) {
    size_t bytes = strtoull(argv[1], 0, 10), piece = 1 << 20;
    unsigned char *p = buffer(piece);
    uint64_t x = 88172645463325252u;
    int fd = opened(argv[0], O_RDWR | O_CREAT | O_TRUNC);
    for (size_t at = 0; at < bytes; at += piece) {
        size_t n = bytes - at < piece ? bytes - at : piece;
        for (size_t i = 0; i < n; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            p[i] = (unsigned char)(x >> 24);
        }
        if (pwrite(fd, p, n, (off_t)at) != (ssize_t)n) fail("write");
    }
    if (fsync(fd)) fail("fsync");
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    for (size_t at = 0; at < bytes; at += 131072)
        if (pread(fd, p, 131072, (off_t)at) < 0) fail("read");
    return 0;
}

// Where a loop of calls lies decides on some machines between two prices of a call (docs/performance.md,
// "What a single call costs here hangs on the code around it"), so each is made at several places of a line
// of 64 bytes, and the bench asks that iolab's figure is one that a bare loop pays somewhere. A loop ends
// where a call returns something else than it should; how many are left is what it gives back.
#if defined(__x86_64__)
#define PLACED(shift)                                                                             \
    static long at_##shift(long number, long a, long b, long c, long d, long returns, long left) { \
        register long fourth __asm__("r10") = d;                                                  \
        __asm__ volatile(".p2align 6\n\t.skip " #shift ", 0x90\n"                                  \
                         "1:\tmov %[number], %%rax\n\tsyscall\n\tcmp %[returns], %%rax\n\tjne 2f\n\t"  \
                         "dec %[left]\n\tjnz 1b\n2:"                                              \
                         : [left] "+r"(left)                                                      \
                         : [number] "r"(number), [returns] "r"(returns), "D"(a), "S"(b), "d"(c),  \
                           "r"(fourth)                                                            \
                         : "rax", "rcx", "r11", "memory");                                        \
        return left;                                                                              \
    }
PLACED(4) PLACED(12) PLACED(24) PLACED(36) PLACED(44) PLACED(48) PLACED(52) PLACED(60)
static long (*const places[])(long, long, long, long, long, long, long) = {
    at_4, at_12, at_24, at_36, at_44, at_48, at_52, at_60};
#else
static long anywhere(long number, long a, long b, long c, long d, long returns, long left) {
    while (left && syscall(number, a, b, c, d) == returns) left--;
    return left;
}
static long (*const places[])(long, long, long, long, long, long, long) = {anywhere};
#endif

// calls OPERATION CALLS FILE PLACE
static uint64_t calls(char **argv) {
    static char byte = 1;
    const struct {
        const char *name;
        long number, b, c, returns;
    } known[] = {{"getppid", SYS_getppid, 0, 0, getppid()},
                 {"lseek", SYS_lseek, 0, SEEK_SET, 0},
                 {"read", SYS_read, (long)&byte, 1, 1},
                 {"pread", SYS_pread64, (long)&byte, 1, 1},
                 {"pwrite", SYS_pwrite64, (long)&byte, 1, 1}};
    long n = atol(argv[1]);
    size_t which = 0, place = strtoull(argv[3], 0, 10);
    while (which < sizeof known / sizeof *known && strcmp(argv[0], known[which].name)) which++;
    if (which == sizeof known / sizeof *known || place >= sizeof places / sizeof *places) fail(argv[0]);
    int fd = opened(argv[2], O_RDWR);
    uint64_t start = 0;
    // A tenth of them first, outside of the clock.
    for (int timed = 0; timed < 2; timed++) {
        lseek(fd, 0, SEEK_SET);
        start = now();
        if (places[place](known[which].number, fd, known[which].b, known[which].c, 0, known[which].returns,
                          timed ? n : n / 10))
            fail(argv[0]);
    }
    return now() - start;
}

// The bytes are looked at: folded by xor, or counted by value in four tables.
static uint64_t folded;
static uint32_t counts[4][256];

static void look(const char *how, const unsigned char *p, size_t n) {
    if (!strcmp(how, "xor")) {
        const uint64_t *words = (const uint64_t *)p;
        uint64_t all = 0;
        for (size_t i = 0; i < n / 8; i++) all ^= words[i];
        folded ^= all;
    } else {
        for (size_t i = 0; i + 3 < n; i += 4)
            counts[0][p[i]]++, counts[1][p[i + 1]]++, counts[2][p[i + 2]]++, counts[3][p[i + 3]]++;
    }
}

// read STATE HOW BLOCK PASSES FILE
static uint64_t reads(char **argv) {
    int cold = !strcmp(argv[0], "cold");
    size_t block = strtoull(argv[2], 0, 10);
    long passes = atol(argv[3]);
    int fd = opened(argv[4], O_RDONLY);
    unsigned char *p = buffer(block);
    struct stat about;
    if (fstat(fd, &about)) fail("fstat");
    if (cold) {
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    } else {
        // A moment outside of the clock, as of a trial.
        for (off_t at = 0; at < about.st_size && at < (4 << 20); at += (off_t)block)
            look(argv[1], p, (size_t)pread(fd, p, block, at));
    }
    uint64_t start = now();
    for (long pass = 0; pass < passes; pass++)
        for (off_t at = 0; at < about.st_size; at += (off_t)block) {
            ssize_t n = pread(fd, p, block, at);
            if (n <= 0) fail("pread");
            look(argv[1], p, (size_t)n);
        }
    uint64_t took = now() - start;
    fprintf(stderr, "%llx %u", (unsigned long long)folded, counts[0][0]);
    return took;
}

// copy BLOCK SOURCE TARGET
static uint64_t copy(char **argv) {
    size_t block = strtoull(argv[0], 0, 10);
    unsigned char *p = buffer(block);
    unlink(argv[2]);
    uint64_t start = now();
    int from = opened(argv[1], O_RDONLY), to = opened(argv[2], O_WRONLY | O_CREAT | O_EXCL);
    for (ssize_t n; (n = read(from, p, block)) > 0;)
        if (write(to, p, (size_t)n) != n) fail("write");
    close(from);
    close(to);
    uint64_t took = now() - start;
    unlink(argv[2]);
    return took;
}

// write SYNC BLOCK COUNT FILE: from a pool of 1 MiB, block after block, as a trial does. The same 64 KiB
// again and again take 3 to 5 % longer here (an AMD machine), and no program has them to write.
static uint64_t writes(char **argv) {
    int syncs = !strcmp(argv[0], "fsync");
    size_t block = strtoull(argv[1], 0, 10), pool = 1 << 20;
    long count = atol(argv[2]);
    unsigned char *p = buffer(pool);
    unlink(argv[3]);
    uint64_t start = now();
    int fd = opened(argv[3], O_WRONLY | O_CREAT | O_EXCL);
    for (long i = 0; i < count; i++) {
        if (write(fd, p + (size_t)i * block % pool, block) != (ssize_t)block) fail("write");
        if (syncs && fsync(fd)) fail("fsync");
    }
    uint64_t took = now() - start;
    close(fd);
    unlink(argv[3]);
    return took;
}

// meta OPERATION CALLS FILES DIRECTORY: files f0, f1 … of the directory in turn, made where they are not.
static uint64_t meta(char **argv) {
    long n = atol(argv[1]), files = atol(argv[2]);
    char(*names)[32] = buffer((size_t)files * 32);
    mkdir(argv[3], 0700);
    if (chdir(argv[3])) fail(argv[3]);
    for (long i = 0; i < files; i++) {
        snprintf(names[i], 32, "f%08ld", i);
        close(opened(names[i], O_WRONLY | O_CREAT));
    }
    int directory = opened(".", O_RDONLY | O_DIRECTORY);
    int is_stat = !strcmp(argv[0], "stat");
    struct stat about;
    uint64_t start = 0;
    for (int timed = 0; timed < 2; timed++) {
        long count = timed ? n : 2 * files;
        start = now();
        for (long i = 0, f = 0; i < count; i++, f = f + 1 == files ? 0 : f + 1)
            if (is_stat ? fstatat(directory, names[f], &about, 0)
                        : fchmodat(directory, names[f], i & 1 ? 0600 : 0640, 0))
                fail(argv[0]);
    }
    return now() - start;
}

// files OPERATION FILES DIRECTORY PLACE: that many empty files, one pass; those that are looked at stay.
static uint64_t files(char **argv) {
    const char *what = argv[0];
    size_t n = strtoull(argv[1], 0, 10), place = strtoull(argv[3], 0, 10);
    char(*names)[32] = buffer(n * 32);
    for (size_t i = 0; i < n; i++) snprintf(names[i], 32, "f%010zu", i);
    int is_new = !mkdir(argv[2], 0700), directory = opened(argv[2], O_RDONLY | O_DIRECTORY);
    if (*what == 'r' || (*what == 's' && is_new)) elsewhere("create", directory, names, n);
    uint64_t start = now();
    pass_files(what, place, directory, names, n);
    uint64_t took = now() - start;
    if (*what == 'c') elsewhere("remove", directory, names, n);
    return took;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int words;
        uint64_t (*run)(char **);
    } works[] = {{"make", 2, make},   {"calls", 4, calls},   {"read", 5, reads},
                 {"copy", 3, copy},   {"write", 4, writes},  {"meta", 4, meta},
                 {"files", 4, files}};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (argc == works[i].words + 2 && !strcmp(argv[1], works[i].name)) {
            printf("%llu\n", (unsigned long long)works[i].run(argv + 2));
            return 0;
        }
    fprintf(stderr, "no such work\n");
    return 2;
}
