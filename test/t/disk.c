/*
 * test/t/disk.c: tells which bytes of a server's files are on the disk for sure; for tests, preloaded.
 *
 * Appends lines to the file that WIDECOL_DISK names, for each regular file by its inode:
 *
 *     c inode           made, or emptied
 *     w inode end       bytes have been written, up to this offset
 *     b inode process   a sync begins
 *     s inode process   ... and has ended: bytes that had been written when it began are on the disk
 *
 * While there is a file with the name of WIDECOL_DISK and ".hold", syncs of RocksDB's log wait.
 *
 * The line of a write comes after the write.  So a reader of the file may take bytes for lost that are on the disk, but
 * never the other way round.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload.h"

static void
tell(const char *what, int fd, long number)
{
	static int	out = -1;
	static pid_t owner;
	int			saved_errno = errno;
	const char *name = getenv("WIDECOL_DISK");
	struct stat st;
	char		line[80];
	int			n;

	if (name == NULL || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	if (out < 0 || owner != getpid())
	{
		out = REAL(int, open, const char *, int,...) (name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
		owner = getpid();
	}
	n = snprintf(line, sizeof(line), "%s %lu %ld\n", what, (unsigned long) st.st_ino, number);
	if (out >= 0 && REAL(ssize_t, write, int, const void *, size_t) (out, line, (size_t) n) != n)
		abort();				/* half a history would be a wrong one */
	errno = saved_errno;
}

static ssize_t
written(int fd, ssize_t n, off64_t at)
{
	if (n > 0)
		tell("w", fd, (long) (at < 0 ? lseek64(fd, 0, SEEK_CUR) : at + n));
	return n;
}

static void
wait_while_held(int fd)
{
	const char *name = getenv("WIDECOL_DISK");
	char		link[40];
	char		hold[1024];
	char		path[1024];
	ssize_t		len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (name == NULL || len < 4 || memcmp(path + len - 4, ".log", 4) != 0)
		return;
	path[len] = '\0';
	snprintf(hold, sizeof(hold), "%s.hold", name);
	while (strstr(path, "pgsql_tmp.live") != NULL && access(hold, F_OK) == 0)
		usleep(10000);
}

static int
sync_with(int (*sync) (int fd), int fd)
{
	int			rc;

	wait_while_held(fd);
	tell("b", fd, (long) getpid());
	rc = sync(fd);
	if (rc == 0)
		tell("s", fd, (long) getpid());
	return rc;
}

ssize_t
write(int fd, const void *data, size_t len)
{
	return written(fd, REAL(ssize_t, write, int, const void *, size_t) (fd, data, len), -1);
}

ssize_t
pwrite(int fd, const void *data, size_t len, off_t at)
{
	return written(fd, REAL(ssize_t, pwrite, int, const void *, size_t, off_t) (fd, data, len, at), at);
}

ssize_t
pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	return written(fd, REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t) (fd, data, len, at), at);
}

ssize_t
pwritev(int fd, const struct iovec *data, int n, off_t at)
{
	return written(fd, REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t) (fd, data, n, at), at);
}

ssize_t
pwritev64(int fd, const struct iovec *data, int n, off64_t at)
{
	return written(fd, REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t) (fd, data, n, at), at);
}

int
fsync(int fd)
{
	return sync_with(REAL(int, fsync, int), fd);
}

int
fdatasync(int fd)
{
	return sync_with(REAL(int, fdatasync, int), fd);
}

static int
open_with(OpenFunction open_file, const char *path, int flags, mode_t mode)
{
	int			fd = open_file(path, flags, mode);

	if (fd >= 0 && ((flags & O_TRUNC) || ((flags & O_CREAT) && (flags & O_EXCL))))
		tell("c", fd, 0);
	return fd;
}

DEFINE_OPEN(open, open_with)
DEFINE_OPEN(open64, open_with)
