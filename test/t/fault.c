/*
 * test/t/fault.c: lets the system calls of a server fail, for tests; preloaded.
 *
 * What is to fail stands in the file that WIDECOL_FAULT names, while it is there:
 *
 *     errno part call...
 *
 * as in "28 .log write": each write to a file with ".log" in its name, below the directory
 * WIDECOL_FAULT_DIR, fails with ENOSPC.  "*": any file.  Calls: write,
 * sync, create, allocate.  A first word "once" removes the file with the first failure.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(type, name, ...) ((type (*) (__VA_ARGS__)) dlsym(RTLD_NEXT, #name))

static const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is this call on this file to fail?  Sets errno then. */
static bool
fails(const char *call, const char *path)
{
	const char *dir = getenv("WIDECOL_FAULT_DIR");
	const char *control = getenv("WIDECOL_FAULT");
	char		line[256];
	char	   *rest;
	char	   *word;
	char	   *save;
	ssize_t		n;
	int			fd;
	int			code;
	bool		once;

	if (dir == NULL || control == NULL || strncmp(path, dir, strlen(dir)) != 0)
		return false;
	fd = REAL(int, open, const char *, int,...) (control, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	once = strncmp(line, "once ", 5) == 0;
	rest = once ? line + 5 : line;
	word = strtok_r(rest, " ", &save);
	code = word ? atoi(word) : 0;
	word = code ? strtok_r(NULL, " ", &save) : NULL;
	if (word == NULL || (strcmp(word, "*") != 0 && strstr(file_name(path), word) == NULL))
		return false;
	while ((word = strtok_r(NULL, " ", &save)) != NULL && strcmp(word, call) != 0)
		;
	if (word == NULL || (once && unlink(control) != 0))
		return false;
	errno = code;
	return true;
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

static mode_t
create_mode(int flags, va_list args)
{
	return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

int
open(const char *path, int flags,...)
{
	va_list		args;
	mode_t		mode;

	va_start(args, flags);
	mode = create_mode(flags, args);
	va_end(args);
	if ((flags & O_CREAT) && fails("create", path))
		return -1;
	return REAL(int, open, const char *, int,...) (path, flags, mode);
}

int
open64(const char *path, int flags,...)
{
	va_list		args;
	mode_t		mode;

	va_start(args, flags);
	mode = create_mode(flags, args);
	va_end(args);
	if ((flags & O_CREAT) && fails("create", path))
		return -1;
	return REAL(int, open64, const char *, int,...) (path, flags, mode);
}
