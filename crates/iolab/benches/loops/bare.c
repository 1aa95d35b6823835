// The bare loops that iolab is held against: what a careful C programmer writes by hand, built
// with cc -O2 -march=native when the bench starts. Each run does one piece of work and prints its
// time in nanoseconds. The work is that of the same word in ours.rs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../plain.h"

// XOR of 32-bit words: eight accumulators of the widest vector.
typedef uint64_t wide __attribute__((vector_size(64), aligned(64)));

static uint32_t fold(const void *bytes, size_t n) {
    const wide *p = bytes;
    wide a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    size_t rows = n / 512;
    for (size_t i = 0; i < rows; i++, p += 8) {
        a ^= p[0], b ^= p[1], c ^= p[2], d ^= p[3];
        e ^= p[4], f ^= p[5], g ^= p[6], h ^= p[7];
    }
    a ^= b ^ c ^ d ^ e ^ f ^ g ^ h;
    uint64_t x = a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];
    uint32_t word = (uint32_t)(x ^ (x >> 32));
    const uint32_t *rest = (const uint32_t *)((const char *)bytes + rows * 512);
    for (size_t i = 0; i < n % 512 / 4; i++) word ^= rest[i];
    return word;
}

// calls OPERATION CALLS FILE
static uint64_t calls(char **argv) {
    const char *op = argv[0];
    long n = atol(argv[1]);
    int fd = open(argv[2], O_RDWR | O_CLOEXEC);
    if (fd < 0) fail(argv[2]);
    char byte = 1;
    uint64_t start = now();
    if (!strcmp(op, "read")) {
        for (long i = 0; i < n; i++)
            if (read(fd, &byte, 1) != 1) fail("read");
    } else if (!strcmp(op, "pread")) {
        for (long i = 0; i < n; i++)
            if (pread(fd, &byte, 1, i) != 1) fail("pread");
    } else if (!strcmp(op, "write")) {
        for (long i = 0; i < n; i++)
            if (write(fd, &byte, 1) != 1) fail("write");
    } else if (!strcmp(op, "lseek")) {
        for (long i = 0; i < n; i++)
            if (lseek(fd, 0, SEEK_SET) != 0) fail("lseek");
    } else if (!strcmp(op, "getppid")) {
        for (long i = 0; i < n; i++) (void)getppid();
    } else {
        exit(2);
    }
    return now() - start;
}

// A copy of a file's first bytes beside it, all of them written back, as a replay has its files.
static int copy_beside(const char *path, long bytes) {
    char name[4096];
    snprintf(name, sizeof name, "%s-copy", path);
    unlink(name);
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) fail(name);
    char *content = buffer(bytes);
    if (pwrite(fd, content, bytes, 0) != bytes || syncfs(fd)) fail(name);
    free(content);
    return fd;
}

// The same calls as a program makes them, and so a replay of it: by the functions of the C library (in
// brackets they are no macros of ours).
static uint64_t program_calls(char **argv) {
    const char *op = argv[0];
    long n = atol(argv[1]);
    // Of what is only written no size is known: it grows.
    int fd = copy_beside(argv[2], strcmp(op, "write") ? n : 0);
    char byte = 1;
    uint64_t start = now();
    if (!strcmp(op, "read")) {
        for (long i = 0; i < n; i++)
            if ((read)(fd, &byte, 1) != 1) fail("read");
    } else if (!strcmp(op, "pread")) {
        for (long i = 0; i < n; i++)
            if ((pread)(fd, &byte, 1, i) != 1) fail("pread");
    } else if (!strcmp(op, "write")) {
        for (long i = 0; i < n; i++)
            if ((write)(fd, &byte, 1) != 1) fail("write");
    } else if (!strcmp(op, "lseek")) {
        for (long i = 0; i < n; i++)
            if ((lseek)(fd, 0, SEEK_SET) != 0) fail("lseek");
    } else {
        exit(2);
    }
    return now() - start;
}

struct part {
    const char *path;
    int mapped;
    off_t start, end;
    int passes;
    uint32_t word;
    uint64_t began, ended;
    pthread_barrier_t *gate;
};

#define BLOCK 65536

static void *read_part(void *argument) {
    struct part *p = argument;
    int fd = open(p->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(p->path);
    void *block = buffer(BLOCK);
    if (p->gate) pthread_barrier_wait(p->gate);
    p->began = now();
    for (int pass = 0; pass < p->passes; pass++) {
        if (p->mapped) {
            size_t bytes = (size_t)(p->end - p->start);
            void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, p->start);
            if (map == MAP_FAILED) fail("mmap");
            p->word ^= fold(map, bytes);
            munmap(map, bytes);
        } else {
            for (off_t at = p->start; at < p->end; at += BLOCK) {
                if (pread(fd, block, BLOCK, at) != BLOCK) fail("pread");
                p->word ^= fold(block, BLOCK);
            }
        }
    }
    p->ended = now();
    return NULL;
}

// read METHOD THREADS PASSES FILE BYTES
static uint64_t read_file(char **argv) {
    int threads = atoi(argv[1]);
    off_t bytes = atoll(argv[4]);
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    struct part parts[64];
    pthread_t id[64];
    for (int t = 0; t < threads; t++) {
        parts[t] = (struct part){.path = argv[3], .mapped = !strcmp(argv[0], "mmap"),
                                 .start = bytes / threads * t, .end = bytes / threads * (t + 1),
                                 .passes = atoi(argv[2]), .gate = threads > 1 ? &gate : NULL};
        if (t > 0) pthread_create(&id[t], NULL, read_part, &parts[t]);
    }
    read_part(&parts[0]);
    uint64_t began = parts[0].began, ended = parts[0].ended;
    uint32_t word = parts[0].word;
    for (int t = 1; t < threads; t++) {
        pthread_join(id[t], NULL);
        if (parts[t].began < began) began = parts[t].began;
        if (parts[t].ended > ended) ended = parts[t].ended;
        word ^= parts[t].word;
    }
    fprintf(stderr, "%08x\n", word);
    return ended - began;
}

// write none|sync BLOCK COUNT FILE: a new file, out of a pool of up to 1 MiB, until the last call
// has returned
static uint64_t write_file(char **argv) {
    int sync = strcmp(argv[0], "sync") ? 0 : O_SYNC;
    size_t block = (size_t)atoll(argv[1]);
    long count = atol(argv[2]), blocks = 1;
    while (2 * blocks * block <= 1 << 20 && blocks < count) blocks *= 2;
    char *pool = buffer((size_t)blocks * block);
    int fd = open(argv[3], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | sync, 0600);
    if (fd < 0) fail(argv[3]);
    uint64_t start = now();
    for (long i = 0; i < count; i++)
        if (write(fd, pool + (size_t)(i & (blocks - 1)) * block, block) != (ssize_t)block)
            fail("write");
    uint64_t took = now() - start;
    close(fd);
    unlink(argv[3]);
    return took;
}

// fold BYTES TIMES
static uint64_t fold_memory(char **argv) {
    size_t bytes = (size_t)atoll(argv[0]);
    long times = atol(argv[1]);
    void *memory = buffer(bytes);
    uint32_t word = fold(memory, bytes);
    uint64_t start = now();
    for (long i = 0; i < times; i++) {
        __asm__ volatile("" : "+r"(memory) : : "memory");
        word ^= fold(memory, bytes);
    }
    uint64_t took = now() - start;
    fprintf(stderr, "%08x\n", word);
    return took;
}

// histogram random|constant BYTES TIMES, by the plain loop
static uint64_t histogram(char **argv) {
    size_t bytes = (size_t)atoll(argv[1]);
    long times = atol(argv[2]);
    unsigned char *memory = buffer(bytes);
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < bytes && !strcmp(argv[0], "random"); i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        memory[i] = (unsigned char)(x >> 24);
    }
    static uint64_t counts[256];
    uint64_t start = now();
    for (long t = 0; t < times; t++) {
        __asm__ volatile("" : "+r"(memory) : : "memory");
        for (size_t i = 0; i < bytes; i++) counts[memory[i]]++;
    }
    uint64_t took = now() - start;
    fprintf(stderr, "%lu\n", (unsigned long)counts[0]);
    return took;
}

// clock TIMES: what timing an operation costs at least, two readings; by the fastest of many
// short bursts, for a burst is shorter than the time between two preemptions.
#define BURST 10000
static uint64_t clock_pairs(char **argv) {
    long bursts = atol(argv[0]) / BURST;
    uint64_t sum = 0, least = UINT64_MAX;
    for (long b = 0; b < bursts; b++) {
        uint64_t start = now();
        for (long i = 0; i < BURST; i++) {
            uint64_t began = now();
            sum += now() - began;
        }
        uint64_t took = now() - start;
        if (took < least) least = took;
    }
    fprintf(stderr, "%lu\n", (unsigned long)sum);
    return least * (uint64_t)bursts;
}

// part BLOCK CALLS FILE TARGET: so many reads and writes, the files open already
static uint64_t copy_part(char **argv) {
    size_t block = (size_t)atoll(argv[0]);
    long n = atol(argv[1]);
    int in = open(argv[2], O_RDONLY | O_CLOEXEC);
    int out = open(argv[3], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (in < 0 || out < 0) fail(argv[3]);
    char *bytes = buffer(block);
    uint64_t start = now();
    for (long i = 0; i < n; i++) {
        if (read(in, bytes, block) != (ssize_t)block) fail("read");
        if (write(out, bytes, block) != (ssize_t)block) fail("write");
    }
    uint64_t took = now() - start;
    unlink(argv[3]);
    return took;
}

// command TARGET PROGRAM ...: a program from its start to its end; it makes TARGET
static uint64_t command(char **argv) {
    unlink(argv[0]);
    uint64_t start = now();
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1), dup2(null, 2);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) < 0 || status != 0) fail(argv[1]);
    uint64_t took = now() - start;
    unlink(argv[0]);
    return took;
}

#define MOST_FILES 4096
static char names[MOST_FILES][16];

// meta OPERATION CALLS ROOT FILES: calls on the files ROOT/files/f0000000, …, one after another;
// create and unlink on as many files in a directory of their own. `clocked`: the clock is read
// once after each call, and what it says is not kept.
static uint64_t meta(char **argv, int clocked) {
    const char *op = argv[0];
    long calls = atol(argv[1]), files = atol(argv[3]);
    if (files > MOST_FILES) exit(2);
    int root = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int dir = openat(root, "files", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (dir < 0) fail(argv[2]);
    for (long i = 0; i < files; i++) snprintf(names[i], sizeof *names, "f%07ld", i);
    char own[40];
    snprintf(own, sizeof own, "bare-%lx", (unsigned long)now());
    if (mkdirat(root, own, 0700)) fail(own);
    int work = openat(root, own, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    const int make = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    if (!strcmp(op, "unlink"))
        for (long i = 0; i < files; i++) close(openat(work, names[i], make, 0600));
    const mode_t modes[2] = {0640, 0600};
    const struct timespec times[2][2] = {{{1000000001, 0}, {1000000001, 0}},
                                         {{1000000000, 0}, {1000000000, 0}}};
    struct stat about;
    off_t sum = 0;
    long failed = 0, i = 0;
    int turn = 0;
    uint64_t seen = 0;
#define LOOP(call, also)                        \
    for (long n = 0; n < calls; n++) {          \
        failed |= (call);                       \
        also;                                   \
        if (++i == files) i = 0, turn ^= 1;     \
    }
#define EACH(call)                              \
    if (clocked) { LOOP(call, seen += now()) } else { LOOP(call, (void)0) }
    for (int pass = 0; pass < 3; pass++) {
        // Two laps untimed, then the window; what uses up its files has one.
        int uses_up = !strcmp(op, "create") || !strcmp(op, "unlink");
        if (uses_up && pass < 2) continue;
        long all = calls;
        if (pass < 2) calls = files;
        uint64_t start = now();
        if (!strcmp(op, "stat")) {
            EACH((fstatat(dir, names[i], &about, 0)) | (sum += about.st_size, 0))
        } else if (!strcmp(op, "access")) {
            EACH(faccessat(dir, names[i], R_OK, 0))
        } else if (!strcmp(op, "chmod")) {
            EACH(fchmodat(dir, names[i], modes[turn], 0))
        } else if (!strcmp(op, "utimens")) {
            EACH(utimensat(dir, names[i], times[turn], 0))
        } else if (!strcmp(op, "open-close")) {
            EACH(close(openat(dir, names[i], O_RDONLY | O_CLOEXEC, 0)))
        } else if (!strcmp(op, "create")) {
            EACH(close(openat(work, names[i], make, 0600)))
        } else if (!strcmp(op, "unlink")) {
            EACH(unlinkat(work, names[i], 0))
        } else {
            exit(2);
        }
        uint64_t took = now() - start;
        calls = all;
        if (pass < 2) continue;
        if (failed) fail(op);
        for (long n = 0; n < files; n++) unlinkat(work, names[n], 0);
        unlinkat(root, own, AT_REMOVEDIR);
        fprintf(stderr, "%ld %lu\n", (long)sum, (unsigned long)seen);
        return took;
    }
    return 0;
}

int main(int argc, char **argv) {
    uint64_t took = 0;
    if (argc < 3) return 2;
    if (!strcmp(argv[1], "calls")) took = calls(argv + 2);
    else if (!strcmp(argv[1], "replay")) took = program_calls(argv + 2);
    else if (!strcmp(argv[1], "read")) took = read_file(argv + 2);
    else if (!strcmp(argv[1], "write")) took = write_file(argv + 2);
    else if (!strcmp(argv[1], "fold")) took = fold_memory(argv + 2);
    else if (!strcmp(argv[1], "part")) took = copy_part(argv + 2);
    else if (!strcmp(argv[1], "command")) took = command(argv + 2);
    else if (!strcmp(argv[1], "histogram")) took = histogram(argv + 2);
    else if (!strcmp(argv[1], "clock")) took = clock_pairs(argv + 2);
    else if (!strcmp(argv[1], "meta") && argc > 5) took = meta(argv + 2, 0);
    else if (!strcmp(argv[1], "meta-latency") && argc > 5) took = meta(argv + 2, 1);
    else return 2;
    printf("%lu\n", (unsigned long)took);
    return 0;
}
