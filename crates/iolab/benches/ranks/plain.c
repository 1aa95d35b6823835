/* What a program with MPI measures by itself: a file for each rank, a barrier, one pass, the time of the
 * last rank. argv: read|write DIRECTORY BYTES BLOCK ROUNDS, or create|stat|remove DIRECTORY FILES 0 ROUNDS
 * for that many empty files in a directory of each rank's own. Prints the median span in nanoseconds.
 * Whoever is done waits asleep: a rank that spins in the library takes the processor of those that are
 * still at work, where there are more ranks than processors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The kernel's calls in place, as iolab makes them: through the wrappers of the C library a stat costs 250 ns
 * more on one AMD machine, an unlink 600. */
#include "../plain.h"

static void must(int fine, const char *what) {
    if (!fine) {
        perror(what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time of the last rank, at rank 0. */
static void greatest(double own, double *all) {
    MPI_Request request;
    const struct timespec pause = {0, 200 * 1000};
    int done = 0;
    MPI_Ireduce(&own, all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        nanosleep(&pause, NULL);
}

static volatile uint64_t sink;

static void pass_read(int fd, char *buffer, size_t bytes, size_t block) {
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes; at += block) {
        must(pread(fd, buffer, block, at) == (ssize_t)block, "pread");
        for (size_t i = 0; i < block / 8; i++) sum ^= ((uint64_t *)buffer)[i];
    }
    sink = sum;
}

static void pass_write(int fd, const char *buffer, size_t bytes, size_t block) {
    for (size_t at = 0; at < bytes; at += block)
        must(pwrite(fd, buffer, block, at) == (ssize_t)block, "pwrite");
    must(fdatasync(fd) == 0, "fdatasync");
}

/* Names are made before the clock starts, as ours are. */
static char (*names)[32];

static void tell(double *spans, int rounds, int rank) {
    if (rank) return;
    qsort(spans, rounds, sizeof *spans, order);
    printf("%.0f\n", spans[rounds / 2]);
}

static void calls(const char *what, const char *directory, size_t files, int rounds, int rank) {
    char path[4096];
    double *spans = calloc(rounds, sizeof *spans);
    names = calloc(files, sizeof *names);
    for (size_t i = 0; i < files; i++) snprintf(names[i], sizeof *names, "f%zu", i);
    snprintf(path, sizeof path, "%s/plain-%d", directory, rank);
    must(mkdir(path, 0700) == 0, path);
    int dir = open(path, O_RDONLY | O_DIRECTORY);
    must(dir >= 0, path);
    if (*what == 's') elsewhere("create", dir, names, files);
    for (int round = 0; round < rounds; round++) {
        if (*what == 'r') elsewhere("create", dir, names, files);
        MPI_Barrier(MPI_COMM_WORLD);
        uint64_t from = now();
        /* A place of the loop a round: the price of none of them is the median's. */
        pass_files(what, (size_t)round % PLACES, dir, names, files);
        double own = (double)(now() - from);
        greatest(own, &spans[round]);
        if (*what == 'c') elsewhere("remove", dir, names, files);
    }
    if (*what == 's') elsewhere("remove", dir, names, files);
    must(rmdir(path) == 0, path);
    tell(spans, rounds, rank);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 6) return 2;
    int rank, writes = strcmp(argv[1], "write") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t bytes = strtoull(argv[3], NULL, 10), block = strtoull(argv[4], NULL, 10);
    int rounds = atoi(argv[5]);
    if (!block) {
        calls(argv[1], argv[2], bytes, rounds, rank);
        MPI_Finalize();
        return 0;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/plain-%d", argv[2], rank);
    char *buffer = aligned_alloc(4096, block);
    double *spans = calloc(rounds, sizeof *spans);
    unsigned seed = rank + 1;
    for (size_t i = 0; i < block; i++) buffer[i] = rand_r(&seed);
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    must(fd >= 0, path);
    pass_write(fd, buffer, bytes, block);
    if (!writes) pass_read(fd, buffer, bytes, block);
    for (int round = 0; round < rounds; round++) {
        if (writes) {
            close(fd);
            unlink(path);
            fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
            must(fd >= 0, path);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        uint64_t from = now();
        if (writes)
            pass_write(fd, buffer, bytes, block);
        else
            pass_read(fd, buffer, bytes, block);
        double own = (double)(now() - from);
        greatest(own, &spans[round]);
    }
    close(fd);
    unlink(path);
    tell(spans, rounds, rank);
    MPI_Finalize();
    return 0;
}
