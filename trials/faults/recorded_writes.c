/* Writes down what a process that is started with this library in LD_PRELOAD writes to some files,
   and when that is on the disk. WRITES_OF is how the paths of these files begin, WRITES_LOG where
   this is written down: a struct record, the path, and the bytes, for each call. Each sync takes a
   few milliseconds more, so that what does not wait for it is ahead of it. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITTEN, TRUNCATED, SYNC_BEGINS, SYNCED };
struct record { double at; int64_t kind, thread, offset, size, path_size; };

static char *beginning;
static int log_file = -1;
static const struct timespec delay = {0, 5000000};

__attribute__((constructor)) static void open_log(void) {
    const char *path = getenv("WRITES_LOG"), *of = getenv("WRITES_OF");
    beginning = of ? strdup(of) : NULL;  // PostgreSQL writes over its environment
    int file = path && beginning ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) abort();
    log_file = fcntl(file, F_DUPFD_CLOEXEC, 500);
    close(file);
}

/* The length of the path of a file that is recorded, or 0. */
static ssize_t path_of(int file, char *path, size_t size) {
    char link[40] = "/proc/self/fd/", digits[12];
    int place = sizeof digits - 1, rest = file;
    digits[place] = 0;
    do digits[--place] = '0' + rest % 10; while (rest /= 10);
    strcat(link, digits + place);
    ssize_t length = readlink(link, path, size);
    size_t wanted = strlen(beginning);
    return length >= (ssize_t)wanted && memcmp(path, beginning, wanted) == 0 ? length : 0;
}

static void record(int file, int kind, off_t offset, const void *bytes, size_t size) {
    char path[4096];
    ssize_t length = path_of(file, path, sizeof path);
    if (length <= 0) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record head = {now.tv_sec + now.tv_nsec / 1e9, kind, gettid(), offset, size, length};
    struct iovec parts[] = {{&head, sizeof head}, {path, length}, {(void *)bytes, bytes ? size : 0}};
    ssize_t whole = sizeof head + length + (bytes ? size : 0);
    if (writev(log_file, parts, 3) != whole) abort();
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    ssize_t result = syscall(SYS_pwrite64, file, bytes, size, offset);
    if (result > 0) record(file, WRITTEN, offset, bytes, result);
    return result;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    return pwrite64(file, bytes, size, offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int number, off64_t offset) {
    ssize_t whole = 0;
    for (int each = 0; each < number; each++) {
        ssize_t result = pwrite64(file, parts[each].iov_base, parts[each].iov_len, offset + whole);
        if (result < 0) return whole ? whole : result;
        whole += result;
        if ((size_t)result < parts[each].iov_len) break;
    }
    return whole;
}

ssize_t pwritev(int file, const struct iovec *parts, int number, off_t offset) {
    return pwritev64(file, parts, number, offset);
}

int ftruncate64(int file, off64_t size) {
    int result = (int)syscall(SYS_ftruncate, file, size);
    if (result == 0) record(file, TRUNCATED, size, NULL, 0);
    return result;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

static int sync_file(int file, long call) {
    char path[4096];
    record(file, SYNC_BEGINS, 0, NULL, 0);
    if (path_of(file, path, sizeof path) > 0) nanosleep(&delay, NULL);
    int result = (int)syscall(call, file);
    if (result == 0) record(file, SYNCED, 0, NULL, 0);
    return result;
}

int fdatasync(int file) { return sync_file(file, SYS_fdatasync); }

int fsync(int file) { return sync_file(file, SYS_fsync); }
