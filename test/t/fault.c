/*
 * test/t/fault.c: lets the system calls of a server fail, or kills the engine at one; for tests, preloaded.
 *
 * While the file exists that WIDECOL_FAULT names, it says which calls fail:
 *
 *     errno part call...
 *
 * as in "28 .log write": each write to a file with ".log" in its name, below the directory
 * WIDECOL_FAULT_DIR, fails with ENOSPC.  "*": any file.  Calls: write,
 * sync, create, allocate, name (rename, link, unlink, mkdir, rmdir).  A first word "once" removes the file with
 * the first failure.
 *
 *     kill number part call...
 *     trace part call...
 *
 * kill: the engine's process dies at the call of that number, counted from 1 by each process, before the call does
 * anything; the file is removed.  A process that has counted further, for an earlier file, dies at its next call.
 * trace: a line for each call, and the name of its file, is appended to the file WIDECOL_FAULT.trace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload.h"

static const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Reads up to len - 1 bytes of a file; false: there is none. */
static bool
read_file(const char *path, char *into, size_t len)
{
	int			fd = REAL(int, open, const char *, int,...) (path, O_RDONLY | O_CLOEXEC);
	ssize_t		n;

	if (fd < 0)
		return false;
	n = read(fd, into, len - 1);
	close(fd);
	into[n > 0 ? n : 0] = '\0';
	return true;
}

static bool
is_engine(void)
{
	char		title[256];

	return read_file("/proc/self/cmdline", title, sizeof(title)) && strstr(title, "widecol engine") != NULL;
}

static void
trace(const char *control, const char *call, const char *path)
{
	char		name[PATH_MAX];
	char		line[PATH_MAX];
	int			fd;

	snprintf(name, sizeof(name), "%s.trace", control);
	fd = REAL(int, open, const char *, int,...) (name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	snprintf(line, sizeof(line), "%s %s\n", call, file_name(path));
	(void) REAL(ssize_t, write, int, const void *, size_t) (fd, line, strlen(line));
	close(fd);
}

/* Is this call on this file to fail?  Sets errno then. */
static bool
fails(const char *call, const char *path)
{
	static atomic_long ncalls;
	const char *dir = getenv("WIDECOL_FAULT_DIR");
	const char *control = getenv("WIDECOL_FAULT");
	char		line[256];
	char	   *verb;
	char	   *word;
	char	   *save;
	long		number;

	if (dir == NULL || control == NULL || strncmp(path, dir, strlen(dir)) != 0 || !read_file(control, line, sizeof(line)))
		return false;
	line[strcspn(line, "\n")] = '\0';
	verb = strtok_r(line, " ", &save);
	if (verb == NULL)
		return false;
	word = strcmp(verb, "once") == 0 || strcmp(verb, "kill") == 0 ? strtok_r(NULL, " ", &save) : verb;
	number = word ? atol(word) : 0;
	word = word ? strtok_r(NULL, " ", &save) : NULL;
	if (word == NULL || (strcmp(word, "*") != 0 && strstr(file_name(path), word) == NULL))
		return false;
	while ((word = strtok_r(NULL, " ", &save)) != NULL && strcmp(word, call) != 0)
		;
	if (word == NULL)
		return false;
	if (strcmp(verb, "trace") == 0)
		trace(control, call, path);
	else if (strcmp(verb, "kill") == 0)
	{
		if (atomic_fetch_add(&ncalls, 1) + 1 >= number && is_engine() && REAL(int, unlink, const char *) (control) == 0)
			kill(getpid(), SIGKILL);
	}
	else if (number != 0 && (strcmp(verb, "once") != 0 || REAL(int, unlink, const char *) (control) == 0))
	{
		errno = (int) number;
		return true;
	}
	return false;
}

static bool
fd_fails(const char *call, int fd)
{
	char		link[64];
	char		path[PATH_MAX];
	int			saved_errno = errno;
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	errno = saved_errno;
	if (n <= 0)
		return false;
	path[n] = '\0';
	return fails(call, path);
}

ssize_t
write(int fd, const void *data, size_t len)
{
	return fd_fails("write", fd) ? -1 : REAL(ssize_t, write, int, const void *, size_t) (fd, data, len);
}

ssize_t
pwrite(int fd, const void *data, size_t len, off_t at)
{
	return fd_fails("write", fd) ? -1 : REAL(ssize_t, pwrite, int, const void *, size_t, off_t) (fd, data, len, at);
}

ssize_t
pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	return fd_fails("write", fd) ? -1 : REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t) (fd, data, len, at);
}

int
fsync(int fd)
{
	return fd_fails("sync", fd) ? -1 : REAL(int, fsync, int) (fd);
}

int
fdatasync(int fd)
{
	return fd_fails("sync", fd) ? -1 : REAL(int, fdatasync, int) (fd);
}

int
fallocate(int fd, int mode, off_t at, off_t len)
{
	return fd_fails("allocate", fd) ? -1 : REAL(int, fallocate, int, int, off_t, off_t) (fd, mode, at, len);
}

int
fallocate64(int fd, int mode, off64_t at, off64_t len)
{
	return fd_fails("allocate", fd) ? -1 : REAL(int, fallocate64, int, int, off64_t, off64_t) (fd, mode, at, len);
}

static int
open_with(OpenFunction open_file, const char *path, int flags, mode_t mode)
{
	return (flags & O_CREAT) && fails("create", path) ? -1 : open_file(path, flags, mode);
}

DEFINE_OPEN(open, open_with)
DEFINE_OPEN(open64, open_with)

int
rename(const char *from, const char *to)
{
	return fails("name", to) ? -1 : REAL(int, rename, const char *, const char *) (from, to);
}

int
link(const char *from, const char *to)
{
	return fails("name", to) ? -1 : REAL(int, link, const char *, const char *) (from, to);
}

int
unlink(const char *path)
{
	return fails("name", path) ? -1 : REAL(int, unlink, const char *) (path);
}

int
mkdir(const char *path, mode_t mode)
{
	return fails("name", path) ? -1 : REAL(int, mkdir, const char *, mode_t) (path, mode);
}

int
rmdir(const char *path)
{
	return fails("name", path) ? -1 : REAL(int, rmdir, const char *) (path);
}
