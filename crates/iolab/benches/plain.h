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

// One pass over empty files of a directory: *c*reate, *s*tat or *r*emove. Whatever failed ends the program.
static inline void pass_files(const char *what, int dir, char (*names)[32], size_t files) {
    struct stat about;
    for (size_t i = 0; i < files; i++) {
        const char *name = names[i];
        if (*what == 'c') {
            int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
            if (fd < 0) fail(name);
            close(fd);
        } else if (*what == 's') {
            if (fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW)) fail(name);
        } else if (unlinkat(dir, name, 0)) {
            fail(name);
        }
    }
}
