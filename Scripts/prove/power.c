// Stands before the C library's calls on files (LD_PRELOAD), for the files below one folder.
//
// PROVE_FOLDER    the folder, as an absolute path
// PROVE_LOG       records each call that changes something, in the order of the changes, for disk.py
// PROVE_CONTROL   a file of `struct control`, by which the calling program lets calls fail; faults.py has its layout
//
// With a log, forcing does not reach the disk: the model of disk.py decides what a failure leaves. It takes as long as a fast drive.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum operation { OPEN = 1, CLOSE, WRITE, TRUNCATE, FORCE, FORCED, RENAME, UNLINK, MKDIR, LINK, UNSEEN };
enum kind { ANY, WRITING, FORCING, OPENING, RENAMING, MAKING, REMOVING, KINDS };

struct record {
    uint16_t magic;
    uint8_t operation, flags;
    int32_t descriptor;
    uint32_t first, second;
    uint64_t offset;
};

struct control {
    int32_t kind, countdown, error, repeats, hits, calls[KINDS];
};

#define MAXIMUM 65536
#define REAL(name) ((__typeof__(&name))real(#name))

static char folder[4096];
static size_t length;
static int record_file = -1;
static struct control *control;
static unsigned char tracked[MAXIMUM];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t forces;
static pid_t owner;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PROVE_FOLDER");
    if (!path || strlen(path) >= sizeof folder || getenv("PROVE_STARTED")) return;
    // Processes that it starts, which run scripts, have no files there.
    setenv("PROVE_STARTED", "yes", 1);
    owner = getpid();
    strcpy(folder, path);
    length = strlen(folder);
    if ((path = getenv("PROVE_LOG"))) record_file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((path = getenv("PROVE_CONTROL"))) {
        int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
        void *page = file < 0 ? MAP_FAILED : REAL(mmap)(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) control = page;
        if (file >= 0) REAL(close)(file);
    }
}

static int below(const char *path) { return length && path && !strncmp(path, folder, length) && (!path[length] || path[length] == '/'); }
static int is_tracked(int file) { return file >= 0 && file < MAXIMUM && tracked[file]; }

static void append(int operation, int flags, int file, uint64_t offset, const void *first, size_t count, const void *second, size_t more) {
    if (record_file < 0 || getpid() != owner) return;
    struct record head = {0x5E77, operation, flags, file, count, more, offset};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)first, count}, {(void *)second, more}};
    size_t all = sizeof head + count + more;
    if (REAL(writev)(record_file, parts, 3) != (ssize_t)all) abort();
}

static void append_path(int operation, int flags, int file, const char *first, const char *second) {
    append(operation, flags, file, 0, first, strlen(first), second, second ? strlen(second) : 0);
}

// Whether a call is the one that has to fail; sets errno.
static int fails(enum kind kind) {
    if (!control) return 0;
    control->calls[kind]++;
    if (control->kind != ANY && control->kind != (int)kind) return 0;
    if (control->countdown <= 0 && !(control->repeats && control->hits)) return 0;
    if (control->countdown > 0 && --control->countdown > 0) return 0;
    control->hits++;
    errno = control->error;
    return 1;
}

static void lock(void) { pthread_mutex_lock(&turn); }

// Unlocks, and keeps errno.
static void unlock(void) {
    int number = errno;
    pthread_mutex_unlock(&turn);
    errno = number;
}

static int opened(const char *path, int flags, mode_t mode, int directory) {
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))real("openat");
    if (!below(path)) return call(directory, path, flags, mode);
    lock();
    struct stat status;
    int file = -1, is_new = (flags & O_CREAT) && stat(path, &status) != 0;
    if (!fails(OPENING)) file = call(directory, path, flags, mode);
    if (file >= 0 && file < MAXIMUM) {
        tracked[file] = 1;
        append_path(OPEN, (is_new ? 1 : 0) | (flags & O_TRUNC ? 2 : 0), file, path, 0);
    }
    unlock();
    return file;
}

#define MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) { MODE return opened(path, flags, mode, AT_FDCWD); }
int open64(const char *path, int flags, ...) { MODE return opened(path, flags | O_LARGEFILE, mode, AT_FDCWD); }
int openat(int directory, const char *path, int flags, ...) { MODE return opened(path, flags, mode, directory); }
int openat64(int directory, const char *path, int flags, ...) { MODE return opened(path, flags | O_LARGEFILE, mode, directory); }
int creat(const char *path, mode_t mode) { return opened(path, O_CREAT | O_WRONLY | O_TRUNC, mode, AT_FDCWD); }

int mkstemp(char *template) {
    if (!below(template)) return REAL(mkstemp)(template);
    lock();
    int file = fails(OPENING) ? -1 : REAL(mkstemp)(template);
    if (file >= 0 && file < MAXIMUM) {
        tracked[file] = 1;
        append_path(OPEN, 1, file, template, 0);
    }
    unlock();
    return file;
}

FILE *fopen(const char *path, const char *mode) {
    if (below(path) && *mode != 'r') append_path(UNSEEN, 0, 0, path, "fopen");
    return REAL(fopen)(path, mode);
}

int close(int file) {
    if (!is_tracked(file)) return REAL(close)(file);
    lock();
    tracked[file] = 0;
    append(CLOSE, 0, file, 0, 0, 0, 0, 0);
    int result = REAL(close)(file);
    unlock();
    return result;
}

// A disk that becomes full takes a part of the first write.
static ssize_t written(int file, const void *bytes, size_t count, off_t offset, int is_placed) {
    lock();
    ssize_t result = -1;
    int failing = fails(WRITING);
    if (failing && control->error == ENOSPC && control->hits == 1 && count > 1) {
        failing = 0;
        count /= 2;
    }
    if (!failing) result = is_placed ? REAL(pwrite)(file, bytes, count, offset) : REAL(write)(file, bytes, count);
    if (result > 0) append(WRITE, 0, file, is_placed ? offset : lseek(file, 0, SEEK_CUR) - result, 0, 0, bytes, result);
    unlock();
    return result;
}

ssize_t write(int file, const void *bytes, size_t count) {
    return is_tracked(file) ? written(file, bytes, count, 0, 0) : REAL(write)(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return is_tracked(file) ? written(file, bytes, count, offset, 1) : REAL(pwrite)(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) { return pwrite(file, bytes, count, offset); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (!is_tracked(file)) return REAL(writev)(file, parts, count);
    ssize_t sum = 0;
    for (int number = 0; number < count; number++) {
        ssize_t one = written(file, parts[number].iov_base, parts[number].iov_len, 0, 0);
        if (one < 0) return sum ? sum : -1;
        sum += one;
        if ((size_t)one < parts[number].iov_len) break;
    }
    return sum;
}

int ftruncate(int file, off_t size) {
    if (!is_tracked(file)) return REAL(ftruncate)(file, size);
    lock();
    int result = fails(WRITING) ? -1 : REAL(ftruncate)(file, size);
    if (!result) append(TRUNCATE, 0, file, size, 0, 0, 0, 0);
    unlock();
    return result;
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int posix_fallocate(int file, off_t offset, off_t count) {
    if (is_tracked(file)) append_path(UNSEEN, 0, file, "", "posix_fallocate");
    return REAL(posix_fallocate)(file, offset, count);
}
int posix_fallocate64(int file, off64_t offset, off64_t count) { return posix_fallocate(file, offset, count); }
int fallocate(int file, int mode, off_t offset, off_t count) {
    if (is_tracked(file)) append_path(UNSEEN, 0, file, "", "fallocate");
    return REAL(fallocate)(file, mode, offset, count);
}
int fallocate64(int file, int mode, off64_t offset, off64_t count) { return fallocate(file, mode, offset, count); }

// What was written before the call is on the disk after it. What is written meanwhile need not be.
static int forced(int file, int (*call)(int)) {
    lock();
    int failing = fails(FORCING);
    uint64_t number = ++forces;
    if (!failing) append(FORCE, 0, file, number, 0, 0, 0, 0);
    unlock();
    if (failing) return -1;
    int result = 0;
    if (record_file < 0) result = call(file); else usleep(300);
    if (result) return result;
    lock();
    append(FORCED, 0, file, number, 0, 0, 0, 0);
    unlock();
    return 0;
}

int fsync(int file) { return is_tracked(file) ? forced(file, REAL(fsync)) : REAL(fsync)(file); }
int fdatasync(int file) { return is_tracked(file) ? forced(file, REAL(fdatasync)) : REAL(fdatasync)(file); }

static int renamed(int from, const char *old, int to, const char *new, unsigned flags) {
    if (!below(old) && !below(new)) return REAL(renameat2)(from, old, to, new, flags);
    lock();
    int result = fails(RENAMING) ? -1 : REAL(renameat2)(from, old, to, new, flags);
    if (!result) append_path(RENAME, 0, 0, old, new);
    unlock();
    return result;
}

int rename(const char *old, const char *new) { return renamed(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return renamed(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) { return renamed(from, old, to, new, flags); }

static int removed(int directory, const char *path, int flags) {
    if (!below(path)) return REAL(unlinkat)(directory, path, flags);
    lock();
    int result = fails(REMOVING) ? -1 : REAL(unlinkat)(directory, path, flags);
    if (!result) append_path(UNLINK, 0, 0, path, 0);
    unlock();
    return result;
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char *path, int flags) { return removed(directory, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
    if (!below(path)) return REAL(mkdir)(path, mode);
    lock();
    int result = fails(MAKING) ? -1 : REAL(mkdir)(path, mode);
    if (!result) append_path(MKDIR, 0, 0, path, 0);
    unlock();
    return result;
}

int link(const char *old, const char *new) {
    if (!below(new)) return REAL(link)(old, new);
    lock();
    int result = REAL(link)(old, new);
    if (!result) append_path(LINK, 0, 0, old, new);
    unlock();
    return result;
}

void *mmap(void *place, size_t count, int protection, int flags, int file, off_t offset) {
    if (is_tracked(file) && (protection & PROT_WRITE) && (flags & MAP_SHARED)) append_path(UNSEEN, 0, file, "", "mmap");
    return REAL(mmap)(place, count, protection, flags, file, offset);
}
void *mmap64(void *place, size_t count, int protection, int flags, int file, off64_t offset) {
    return mmap(place, count, protection, flags, file, offset);
}
