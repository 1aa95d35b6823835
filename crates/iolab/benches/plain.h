// What the C programs of the benches have in common: the clock, an end with a reason, a touched buffer,
// and the kernel's calls without the C library's wrappers. To be included after all other headers.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void *buffer(size_t bytes) {
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!p) fail("aligned_alloc");
    memset(p, 0xa5, bytes);
    return p;
}

// A call as iolab makes it: in place. Through the wrapper of the C library it costs more than its
// instructions where the kernel has spoilt the prediction of returns (safe returns against speculative
// overflow of the return stack: 60 to 90 ns a call on one AMD machine).
#if defined(__x86_64__)
static inline long kernel(long number, long a, long b, long c, long d) {
    register long fourth __asm__("r10") = d;
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    if (result < 0) errno = (int)-result, result = -1;
    return result;
}

#define getppid() kernel(SYS_getppid, 0, 0, 0, 0)
#define lseek(fd, at, whence) ((off_t)kernel(SYS_lseek, fd, (long)(at), whence, 0))
#define read(fd, p, n) ((ssize_t)kernel(SYS_read, fd, (long)(p), (long)(n), 0))
#define write(fd, p, n) ((ssize_t)kernel(SYS_write, fd, (long)(p), (long)(n), 0))
#define pread(fd, p, n, at) ((ssize_t)kernel(SYS_pread64, fd, (long)(p), (long)(n), (long)(at)))
#define pwrite(fd, p, n, at) ((ssize_t)kernel(SYS_pwrite64, fd, (long)(p), (long)(n), (long)(at)))
#define close(fd) kernel(SYS_close, fd, 0, 0, 0)
#define openat(dir, name, flags, ...) \
    ((int)kernel(SYS_openat, dir, (long)(name), flags, __VA_ARGS__))
#define fstatat(dir, name, about, flags) \
    ((int)kernel(SYS_newfstatat, dir, (long)(name), (long)(about), flags))
#define faccessat(dir, name, mode, flags) ((int)kernel(SYS_faccessat, dir, (long)(name), mode, 0))
#define fchmodat(dir, name, mode, flags) ((int)kernel(SYS_fchmodat, dir, (long)(name), mode, 0))
#define utimensat(dir, name, times, flags) \
    ((int)kernel(SYS_utimensat, dir, (long)(name), (long)(times), flags))
#define unlinkat(dir, name, flags) kernel(SYS_unlinkat, dir, (long)(name), flags, 0)
#endif

static inline void create_file(int dir, const char *name) {
    int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) fail(name);
    close(fd);
}

static inline void stat_file(int dir, const char *name) {
    struct stat about;
    if (fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW)) fail(name);
}

static inline void remove_file(int dir, const char *name) {
    if (unlinkat(dir, name, 0)) fail(name);
}

// The price of a call hangs on where its loop lies (docs/performance.md, "What a single call costs here hangs
// on the code around it"), so the same loop is there at several places of a line of 64 bytes.
#if defined(__x86_64__)
#define MOVED_BY(bytes) __asm__ volatile(".nops " #bytes)
#else
#define MOVED_BY(bytes)
#endif
#define PASS(act, shift)                                                                          \
    __attribute__((noinline, aligned(64))) static void act##_at_##shift(int dir, char (*names)[32], \
                                                                        size_t files) {           \
        for (size_t i = 0; i < files; i++) {                                                      \
            MOVED_BY(shift);                                                                      \
            act(dir, names[i]);                                                                   \
        }                                                                                         \
    }
#define PASSES(act) \
    PASS(act, 4) PASS(act, 12) PASS(act, 20) PASS(act, 28) PASS(act, 36) PASS(act, 44) PASS(act, 52) PASS(act, 60)
PASSES(create_file)
PASSES(stat_file)
PASSES(remove_file)
#define PLACES 8
#define AT_EACH(act) \
    {act##_at_4, act##_at_12, act##_at_20, act##_at_28, act##_at_36, act##_at_44, act##_at_52, act##_at_60}

// One pass over empty files of a directory: *c*reate, *s*tat or *r*emove. Whatever failed ends the program.
static void pass_files(const char *what, size_t place, int dir, char (*names)[32], size_t files) {
    static void (*const passes[][PLACES])(int, char (*)[32], size_t) = {
        AT_EACH(create_file), AT_EACH(stat_file), AT_EACH(remove_file)};
    if (place >= PLACES) fail("place");
    passes[*what == 'c' ? 0 : *what == 's' ? 1 : 2][place](dir, names, files);
}

// What is not timed is done by another process, as iolab does it: files that the same process made and
// removed a moment ago are made again for less.
static void elsewhere(const char *what, int dir, char (*names)[32], size_t files) {
    int status = 1;
    if (!fork()) {
        pass_files(what, 0, dir, names, files);
        _exit(0);
    }
    if (wait(&status) < 0 || status) fail("a child");
}
