/*
 * base/file.h: small files and directories, safe against a crash of the machine.
 *
 * Paths have at most WC_PATH_MAX - 1 bytes.  Errors name the path and give the error of the operating system:
 * WC_NO_SPACE when the disk is full, WC_NO_FILES (with a hint) when too many files are open, else WC_IO.  Any thread.
 */
#ifndef WC_BASE_FILE_H
#define WC_BASE_FILE_H

#include <stdbool.h>

#include "base/status.h"

#define WC_PATH_MAX 4096

/* The process's umask is subtracted. */
#define WC_FILE_MODE 0640

/* The error that errno stands for: could not `what` "path".  Returns its status. */
extern WcStatus wc_file_error(WcError *err, const char *what, const char *path);

/* The hint for WC_NO_FILES. */
extern const char *wc_file_limit_hint(void);

/* path + "/" + name into buf, of WC_PATH_MAX bytes. */
extern WcStatus wc_file_join(char *buf, const char *path, const char *name, WcError *err) WC_WARN_UNUSED;

/* The first size - 1 bytes of the file, and a zero byte.  WC_END: there is no such file. */
extern WcStatus wc_file_read_text(const char *path, char *text, size_t size, WcError *err) WC_WARN_UNUSED;

/* Replaces the file's contents by text.  Also after a crash of the machine the file has either all of text, or its old
 * contents.  Uses the name path + ".tmp". */
extern WcStatus wc_file_replace_text(const char *path, const char *text, WcError *err) WC_WARN_UNUSED;

/* Makes the contents of a file, or the names in a directory, durable. */
extern WcStatus wc_file_sync(const char *path, WcError *err) WC_WARN_UNUSED;

/* Makes the name of a file durable: syncs the directory that holds it. */
extern WcStatus wc_file_sync_parent(const char *path, WcError *err) WC_WARN_UNUSED;

/* Removes a directory and the files in it, but no directories in it; one that is not there
 * is removed already. */
extern WcStatus wc_file_remove_directory(const char *path, WcError *err) WC_WARN_UNUSED;

/* Calls fn with the name of each entry of a directory but "." and "..", until it returns
 * something else than WC_OK, which is returned.  WC_END: there is no such directory. */
extern WcStatus wc_file_each(const char *path, WcStatus (*fn) (void *arg, const char *name, WcError *err),
							 void *arg, WcError *err) WC_WARN_UNUSED;

#endif
