/*
 * base/file.c: small files and directories.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static WcStatus
errno_status(int error)
{
	switch (error)
	{
		case ENOSPC:
		case EDQUOT:
			return WC_NO_SPACE;
		case EMFILE:
		case ENFILE:
			return WC_NO_FILES;
		default:
			return WC_IO;
	}
}

const char *
wc_file_limit_hint(void)
{
	return "Raise the limit of open files for the server's processes (ulimit -Hn, LimitNOFILE of the service) or of the "
		"system (fs.file-max), or lower widecol.max_open_files.";
}

WcStatus
wc_file_error(WcError *err, const char *what, const char *path)
{
	WcStatus	status = errno_status(errno);

	wc_error(err, status, "could not %s \"%s\": %s", what, path, strerror(errno));
	if (status == WC_NO_FILES)
		wc_error_hint(err, "%s", wc_file_limit_hint());
	return status;
}

WcStatus
wc_file_join(char *buf, const char *path, const char *name, WcError *err)
{
	if (snprintf(buf, WC_PATH_MAX, "%s/%s", path, name) < WC_PATH_MAX)
		return WC_OK;
	return wc_error(err, WC_INVALID, "path of the directory of stored tables is too long (limit %d bytes)", WC_PATH_MAX);
}

WcStatus
wc_file_read_text(const char *path, char *text, size_t size, WcError *err)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t		n;

	if (fd < 0)
		return errno == ENOENT ? WC_END : wc_file_error(err, "open file", path);
	n = read(fd, text, size - 1);
	if (n < 0)
	{
		WcStatus	status = wc_file_error(err, "read file", path);

		close(fd);
		return status;
	}
	close(fd);
	text[n] = '\0';
	return WC_OK;
}

WcStatus
wc_file_sync(const char *path, WcError *err)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC);
	WcStatus	status = WC_OK;

	if (fd < 0 || fsync(fd) != 0)
		status = wc_file_error(err, "sync", path);
	if (fd >= 0)
		close(fd);
	return status;
}

WcStatus
wc_file_sync_parent(const char *path, WcError *err)
{
	char		parent[WC_PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		snprintf(parent, sizeof(parent), ".");
	else
		snprintf(parent, sizeof(parent), "%.*s", slash == path ? 1 : (int) (slash - path), path);
	return wc_file_sync(parent, err);
}

WcStatus
wc_file_replace_text(const char *path, const char *text, WcError *err)
{
	char		temporary[WC_PATH_MAX + 8];
	size_t		len = strlen(text);
	WcStatus	status = WC_OK;
	int			fd;

	snprintf(temporary, sizeof(temporary), "%s.tmp", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, WC_FILE_MODE);
	if (fd < 0)
		return wc_file_error(err, "make file", temporary);
	errno = ENOSPC;				/* what a short write means */
	if (write(fd, text, len) != (ssize_t) len || fsync(fd) != 0)
		status = wc_file_error(err, "write file", temporary);
	close(fd);
	if (status == WC_OK && rename(temporary, path) != 0)
		status = wc_file_error(err, "rename file", temporary);
	if (status != WC_OK)
	{
		(void) unlink(temporary);
		return status;
	}
	return wc_file_sync_parent(path, err);
}

WcStatus
wc_file_each(const char *path, WcStatus (*fn) (void *arg, const char *name, WcError *err), void *arg, WcError *err)
{
	DIR		   *dir = opendir(path);
	WcStatus	status = WC_OK;
	struct dirent *entry;

	if (dir == NULL)
		return errno == ENOENT ? WC_END : wc_file_error(err, "open directory", path);
	while (status == WC_OK && (errno = 0, entry = readdir(dir)) != NULL)
	{
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			status = fn(arg, entry->d_name, err);
	}
	if (status == WC_OK && errno != 0)
		status = wc_file_error(err, "read directory", path);
	closedir(dir);
	return status;
}

static WcStatus
remove_file(void *arg, const char *name, WcError *err)
{
	char		path[WC_PATH_MAX];
	WcStatus	status = wc_file_join(path, arg, name, err);

	if (status == WC_OK && unlink(path) != 0 && errno != ENOENT)
		status = wc_file_error(err, "remove file", path);
	return status;
}

WcStatus
wc_file_remove_directory(const char *path, WcError *err)
{
	WcStatus	status = wc_file_each(path, remove_file, (void *) path, err);

	if (status == WC_OK && rmdir(path) != 0)
		status = wc_file_error(err, "remove directory", path);
	return status == WC_END ? WC_OK : status;
}
