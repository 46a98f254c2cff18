/*
 * engine/rocks/identity.c: ID, OWNER and the record: checks before a store is opened.
 */
#include "engine/rocks/identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* Files of the store's directory. */
#define FILE_OWNER		"OWNER"
#define FILE_CURRENT	"CURRENT"	/* RocksDB's file: the directory has a database */

#define TEXT_SIZE 256

/* As PostgreSQL's data directory: nothing for others, no writing for the group. */
#define MODE_REFUSED (S_IWGRP | S_IRWXO)

static const char *const owner_states[] = {
	[WC_OWNER_NEW] = "new",
	[WC_OWNER_OPEN] = "open",
	[WC_OWNER_CLOSED] = "closed",
};

/* What the directory and the cluster have. */
typedef struct Found
{
	bool		directory;
	bool		empty;			/* it is not there, or nothing is in it */
	bool		current;
	bool		id;
	bool		owner;
	uint32_t	known;			/* the store that the record names; 0: there is no record */
	uint64_t	record_inode;
	uint64_t	owner_inode;
	uint32_t	store;			/* of ID */
	uint64_t	cluster;
} Found;

/* --- small files -----------------------------------------------------------*/

static WcStatus
damaged(WcError *err, const char *path, const char *what)
{
	wc_error(err, WC_CORRUPT, "file \"%s\" is damaged", path);
	wc_error_detail(err, "It should say %s.", what);
	return WC_CORRUPT;
}

/* An id as users write it: eight hexadecimal digits; 0 when it is none. */
static uint32_t
parse_id(const char *text)
{
	uint32_t	id;
	int			end = 0;

	if (text == NULL || sscanf(text, "%8" SCNx32 "%n", &id, &end) != 1 || end != 8 || text[end] != '\0')
		return 0;
	return id;
}

/* --- finding ---------------------------------------------------------------*/

static WcStatus
find_record(const WcIdentity *identity, Found *found, WcError *err)
{
	char		text[TEXT_SIZE];
	struct stat st;
	int			end = 0;
	WcStatus	status = wc_file_read_text(identity->record, text, sizeof(text), err);

	if (status == WC_END)
		return WC_OK;
	if (status != WC_OK)
		return status;
	if (sscanf(text, "widecol store %8" SCNx32 "\n%n", &found->known, &end) != 1 || text[end] != '\0' || found->known == 0)
		return damaged(err, identity->record, "\"widecol store\" and the id of the cluster's store, which file \"ID\" in its directory says too");
	if (stat(identity->record, &st) != 0)
		return wc_file_error(err, "look at file", identity->record);
	found->record_inode = (uint64_t) st.st_ino;
	return WC_OK;
}

static WcStatus
find_id(const WcIdentity *identity, Found *found, WcError *err)
{
	char		path[WC_PATH_MAX];
	char		text[TEXT_SIZE];
	int			end = 0;
	WcStatus	status = wc_file_join(path, identity->path, WC_FILE_ID, err);

	if (status == WC_OK)
		status = wc_file_read_text(path, text, sizeof(text), err);
	if (status == WC_END)
		return WC_OK;
	if (status != WC_OK)
		return status;
	if (sscanf(text, "widecol store %8" SCNx32 "\ncluster %" SCNu64 "\n%n", &found->store, &found->cluster, &end) != 2 ||
		text[end] != '\0' || found->store == 0)
		return damaged(err, path, "\"widecol store\" and an id, and \"cluster\" and a system identifier");
	found->id = true;
	return WC_OK;
}

static WcStatus
parse_owner(WcIdentity *identity, const char *path, const char *text, WcError *err)
{
	WcOwner    *o = &identity->owner;
	char		state[8];
	int			end = 0;

	if (sscanf(text, "%7s\ninode %" SCNu64 "\nrecord %" SCNu64 "\nsynced %" SCNu64 "\n%n",
			   state, &o->inode, &o->record_inode, &o->synced, &end) == 4 && text[end] == '\0')
	{
		for (unsigned i = 0; i < sizeof(owner_states) / sizeof(owner_states[0]); i++)
		{
			o->state = (WcOwnerState) i;
			if (strcmp(state, owner_states[i]) == 0)
				return WC_OK;
		}
	}
	return damaged(err, path, "\"new\", \"open\" or \"closed\", and three numbers");
}

/* Only one file descriptor, for all time: closing any would give the lock up. */
static WcStatus
lock_owner(WcIdentity *identity, const char *path, WcError *err)
{
	struct flock lock = {.l_type = F_WRLCK,.l_whence = SEEK_SET};
	struct flock holder = lock;

	if (fcntl(identity->owner_fd, F_SETLK, &lock) == 0)
		return WC_OK;
	if (errno != EACCES && errno != EAGAIN)
		return wc_file_error(err, "lock file", path);
	if (fcntl(identity->owner_fd, F_GETLK, &holder) != 0 || holder.l_type == F_UNLCK)
		holder.l_pid = 0;
	wc_error(err, WC_IN_USE, "directory \"%s\" is in use by another engine", identity->path);
	wc_error_detail(err, "Process %d holds the lock of file \"%s\".", (int) holder.l_pid, path);
	wc_error_hint(err, "Each cluster needs a directory of its own (widecol.data_directory).");
	return WC_IN_USE;
}

static WcStatus
find_owner(WcIdentity *identity, Found *found, WcError *err)
{
	char		path[WC_PATH_MAX];
	char		text[TEXT_SIZE];
	struct stat st;
	ssize_t		n;
	WcStatus	status = wc_file_join(path, identity->path, FILE_OWNER, err);

	if (status != WC_OK)
		return status;
	identity->owner_fd = open(path, O_RDWR | O_CLOEXEC);
	if (identity->owner_fd < 0)
		return errno == ENOENT ? WC_OK : wc_file_error(err, "open file", path);
	status = lock_owner(identity, path, err);
	if (status != WC_OK)
		return status;
	n = pread(identity->owner_fd, text, sizeof(text) - 1, 0);
	if (n < 0 || fstat(identity->owner_fd, &st) != 0)
		return wc_file_error(err, "read file", path);
	text[n] = '\0';
	found->owner = true;
	found->owner_inode = (uint64_t) st.st_ino;
	if (n == 0 && !found->id && !found->current)
	{
		/* the making of a store ended before its first write */
		identity->owner.state = WC_OWNER_NEW;
		return WC_OK;
	}
	return parse_owner(identity, path, text, err);
}

/* As PostgreSQL asks of its data directory. */
static WcStatus
check_directory(const WcIdentity *identity, Found *found, WcError *err)
{
	struct stat st;

	if (stat(identity->path, &st) != 0)
		return errno == ENOENT ? WC_OK : wc_file_error(err, "look at directory", identity->path);
	found->directory = true;
	if (!S_ISDIR(st.st_mode))
		return wc_error(err, WC_INVALID, "\"%s\" is not a directory", identity->path);
	if (st.st_uid != geteuid())
	{
		wc_error(err, WC_INVALID, "directory \"%s\" has wrong ownership", identity->path);
		wc_error_hint(err, "It must belong to the user that runs the server.");
		return WC_INVALID;
	}
	if ((st.st_mode & MODE_REFUSED) != 0)
	{
		wc_error(err, WC_INVALID, "directory \"%s\" has invalid permissions", identity->path);
		wc_error_detail(err, "Permissions are 0%o, and should be u=rwx (0700) or u=rwx,g=rx (0750).",
						(unsigned) (st.st_mode & 07777));
		return WC_INVALID;
	}
	return WC_OK;
}

static WcStatus
find_files(WcIdentity *identity, Found *found, WcError *err)
{
	char		path[WC_PATH_MAX];
	struct dirent *entry;
	DIR		   *dir = opendir(identity->path);
	WcStatus	status;

	if (dir == NULL)
		return wc_file_error(err, "open directory", identity->path);
	while ((entry = readdir(dir)) != NULL)
	{
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			found->empty = false;
	}
	closedir(dir);
	status = wc_file_join(path, identity->path, FILE_CURRENT, err);
	if (status != WC_OK)
		return status;
	found->current = access(path, F_OK) == 0;
	status = find_id(identity, found, err);
	return status == WC_OK ? find_owner(identity, found, err) : status;
}

/* --- judging ---------------------------------------------------------------*/

/* The cluster's store is not in its directory. */
static WcStatus
lost(WcIdentity *identity, const Found *found, const char *what, WcError *err)
{
	identity->restorable = true;
	wc_error(err, WC_CORRUPT, "directory \"%s\" of the stored tables %s", identity->path, what);
	wc_error_detail(err, "File \"%s\" says that the cluster has store %08" PRIx32 ".", identity->record, found->known);
	wc_error_hint(err, "Mount or restore the stored tables, or set widecol.data_directory to their directory. "
				  "Only to give up all stored tables and begin with an empty store: widecol.new_store = '%08" PRIx32 "'.",
				  found->known);
	return WC_CORRUPT;
}

/* The store does not fit the cluster, but could be opened. */
static WcStatus
unfit(WcIdentity *identity, uint32_t store, const char *accept, const char *advice, WcError *err)
{
	if (store != 0 && parse_id(accept) == store)
	{
		identity->opening = WC_OPEN_ACCEPT;
		return WC_OK;
	}
	wc_error_hint(err, "%s To use this store for the cluster nevertheless: widecol.accept_store = '%08" PRIx32 "'.",
				  advice, store);
	return err->status;
}

static WcStatus
judge_without_id(WcIdentity *identity, const WcEngineOptions *options, const Found *found, WcError *err)
{
	if (found->known == 0 && !found->current)
	{
		wc_error(err, WC_INVALID, "directory \"%s\" for stored tables is not empty, and holds none", identity->path);
		wc_error_hint(err, "Name a directory that is empty or does not exist (widecol.data_directory).");
		return WC_INVALID;
	}
	if (found->known == 0 && !found->owner)
	{
		identity->opening = WC_OPEN_ADOPT;
		return WC_OK;
	}
	if (!found->current)
		return lost(identity, found, "has no files \"ID\" and \"CURRENT\"", err);
	wc_error(err, WC_CORRUPT, "file \"ID\" is missing in directory \"%s\" of the stored tables", identity->path);
	wc_error_detail(err, "File \"%s\" says that the cluster has store %08" PRIx32 ".", identity->record, found->known);
	return unfit(identity, found->known, options->accept_store, "Put the file back.", err);
}

/* Does the store belong to the cluster? */
static WcStatus
judge_id(WcIdentity *identity, const WcEngineOptions *options, const Found *found, WcError *err)
{
	if (found->known == found->store && found->cluster == identity->cluster)
		return WC_OK;
	if (found->cluster != identity->cluster)
	{
		wc_error(err, WC_INVALID, "directory \"%s\" holds the stored tables of another cluster", identity->path);
		wc_error_detail(err, "Its file \"ID\" names the cluster %" PRIu64 ", this is cluster %" PRIu64 ".",
						found->cluster, identity->cluster);
	}
	else if (found->known == 0)
	{
		wc_error(err, WC_INVALID, "directory \"%s\" holds stored tables that this data directory does not know", identity->path);
		wc_error_detail(err, "It is store %08" PRIx32 "; file \"%s\" is missing in the data directory.", found->store, identity->record);
	}
	else
	{
		wc_error(err, WC_INVALID, "directory \"%s\" holds another store than the cluster's", identity->path);
		wc_error_detail(err, "Its file \"ID\" says store %08" PRIx32 ", file \"%s\" says store %08" PRIx32 ".",
						found->store, identity->record, found->known);
	}
	return unfit(identity, found->store, options->accept_store,
				 "Put the right directory back, or set widecol.data_directory.", err);
}

/* Is the directory the store itself, or a copy?  Is the cluster a copy? */
static WcStatus
judge_owner(WcIdentity *identity, const WcEngineOptions *options, const Found *found, WcError *err)
{
	const WcOwner *o = &identity->owner;

	if (!found->owner)
	{
		identity->restorable = true;
		wc_error(err, WC_CORRUPT, "file \"OWNER\" is missing in directory \"%s\" of the stored tables", identity->path);
		return unfit(identity, found->store, options->accept_store, "Put the file back.", err);
	}
	if (o->inode != found->owner_inode)
	{
		/* A copy: complete if the engine was not running when it was made. */
		if (o->state == WC_OWNER_CLOSED)
			return WC_OK;
		identity->restorable = true;
		wc_error(err, WC_CORRUPT, "directory \"%s\" is a copy of stored tables that were in use", identity->path);
		wc_error_detail(err, "Files that were copied at different moments do not fit together, and commits may be missing.");
		return unfit(identity, found->store, options->accept_store,
					 "Copy stored tables while the server is stopped, or with pg_dump.", err);
	}
	if (o->record_inode != found->record_inode)
	{
		wc_error(err, WC_INVALID, "directory \"%s\" belongs to the cluster of which this data directory is a copy", identity->path);
		wc_error_detail(err, "File \"%s\" is another than when the directory was used last.", identity->record);
		return unfit(identity, found->store, options->accept_store,
					 "Set widecol.data_directory to a copy of the directory.", err);
	}
	return WC_OK;
}

static WcStatus
judge(WcIdentity *identity, const WcEngineOptions *options, const Found *found, WcError *err)
{
	bool		unused = found->owner && identity->owner.state == WC_OWNER_NEW;
	WcStatus	status;

	if (found->empty || unused)
	{
		/* unused and known: it was all but ready */
		if (found->known != 0 && parse_id(options->new_store) != found->known && !(unused && found->known == found->store))
			return lost(identity, found, !found->directory ? "does not exist" : found->empty ? "is empty" :
						"holds none: the making of a new store was not finished", err);
		identity->opening = WC_OPEN_NEW;
		if (options->may_create)
			return WC_OK;
		wc_error(err, WC_INVALID, "the cluster has no stored tables yet, and a standby cannot make any");
		wc_error_hint(err, "Make this standby again from a backup of its primary.");
		return WC_INVALID;
	}
	if (!found->id)
		return judge_without_id(identity, options, found, err);
	if (!found->current)
	{
		wc_error(err, WC_CORRUPT, "file \"CURRENT\" is missing in directory \"%s\" of the stored tables", identity->path);
		wc_error_hint(err, "Restore it: it holds one line, the name of the newest file MANIFEST there.");
		return WC_CORRUPT;
	}
	status = judge_id(identity, options, found, err);
	if (status == WC_OK && identity->opening != WC_OPEN_ACCEPT)
		status = judge_owner(identity, options, found, err);
	return status;
}

WcStatus
wc_identity_check(WcIdentity *identity, const WcEngineOptions *options, WcError *err)
{
	Found		found = {.empty = true};
	WcStatus	status;

	memset(identity, 0, sizeof(*identity));
	identity->owner_fd = -1;
	identity->cluster = options->cluster;
	identity->images = options->images != NULL;
	identity->path = strdup(options->path);
	identity->record = strdup(options->record);
	if (identity->path == NULL || identity->record == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory while opening the store");
	status = check_directory(identity, &found, err);
	if (status == WC_OK)
		status = find_record(identity, &found, err);
	if (status == WC_OK && found.directory)
		status = find_files(identity, &found, err);
	if (status == WC_OK)
		status = judge(identity, options, &found, err);
	if (status != WC_OK)
		return status;
	identity->store = found.store != 0 ? found.store : found.known;

	/* Other mismatches may be accepted by the same setting. */
	if (identity->opening == WC_OPEN_AS_IS && parse_id(options->accept_store) == identity->store)
		identity->opening = WC_OPEN_ACCEPT;
	identity->owner.inode = found.owner_inode;
	identity->owner.record_inode = found.record_inode;
	return WC_OK;
}

/* The names of the existing log files, so that the damaged one can be found. */
static void
list_logs(const WcIdentity *identity, char *text, size_t size)
{
	struct dirent **entries = NULL;
	size_t		used = 0;
	int			n = scandir(identity->path, &entries, NULL, alphasort);

	text[0] = '\0';
	for (int i = 0; i < n; i++)
	{
		const char *name = entries[i]->d_name;
		size_t		len = strlen(name);

		if (len > 4 && strcmp(name + len - 4, ".log") == 0 && used + len + 3 < size)
			used += (size_t) snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
		free(entries[i]);
	}
	free(entries);
	if (text[0] == '\0')
		snprintf(text, size, "none");
}

/* Hint: an image, and the server's log after it, make the same store again. */
static void
hint_at_repair(const WcIdentity *identity, WcError *err)
{
	wc_error_hint(err, "Restore the file that is missing or damaged%s. To continue without the lost data: "
				  "widecol.accept_store = '%08" PRIx32 "'.",
				  identity->images ? ", or move the directory away: the newest image beside it, and the server's log, "
				  "make it again" : "", identity->store);
}

WcStatus
wc_identity_check_log(const WcIdentity *identity, uint64_t applied, WcError *err)
{
	char		logs[256];

	if (identity->opening != WC_OPEN_AS_IS || applied >= identity->owner.synced)
		return WC_OK;
	list_logs(identity, logs, sizeof(logs));
	wc_error(err, WC_CORRUPT, "the log of the stored tables in directory \"%s\" has lost commits", identity->path);
	wc_error_detail(err, "It ends with commit %" PRIu64 ", but commit %" PRIu64 " was on disk: a file NUMBER.log is missing, "
					"cut off or damaged. There are: %s.", applied, identity->owner.synced, logs);
	hint_at_repair(identity, err);
	return WC_CORRUPT;
}

void
wc_identity_hint(const WcIdentity *identity, WcError *err)
{
	if (identity->store != 0)
		hint_at_repair(identity, err);
}

/* --- writing ---------------------------------------------------------------*/

/* In place: the file stays the same.  One write of less than a sector. */
static WcStatus
write_owner(WcIdentity *identity, bool sync, WcError *err)
{
	const WcOwner *o = &identity->owner;
	char		text[TEXT_SIZE];
	int			n = snprintf(text, sizeof(text), "%-7s\ninode %020" PRIu64 "\nrecord %020" PRIu64 "\nsynced %020" PRIu64 "\n",
							 owner_states[o->state], o->inode, o->record_inode, o->synced);

	errno = ENOSPC;
	if (pwrite(identity->owner_fd, text, (size_t) n, 0) == n && (!sync || fsync(identity->owner_fd) == 0))
		return WC_OK;
	return wc_file_error(err, "write file", FILE_OWNER);
}

WcStatus
wc_identity_write_closed(const char *path, WcError *err)
{
	WcIdentity	copy = {.path = (char *) path,.owner = {.state = WC_OWNER_CLOSED}};
	char		file[WC_PATH_MAX];
	WcStatus	status = wc_file_join(file, path, FILE_OWNER, err);

	if (status != WC_OK)
		return status;
	copy.owner_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, WC_FILE_MODE);
	if (copy.owner_fd < 0)
		return wc_file_error(err, "make file", file);
	status = write_owner(&copy, true, err);
	close(copy.owner_fd);
	return status;
}

static WcStatus
make_owner(WcIdentity *identity, WcOwnerState state, WcError *err)
{
	char		path[WC_PATH_MAX];
	struct stat st;
	WcStatus	status = wc_file_join(path, identity->path, FILE_OWNER, err);

	if (status == WC_OK && identity->owner_fd < 0)
	{
		identity->owner_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, WC_FILE_MODE);
		if (identity->owner_fd < 0)
			return wc_file_error(err, "make file", path);
		status = lock_owner(identity, path, err);
	}
	if (status != WC_OK)
		return status;
	if (fstat(identity->owner_fd, &st) != 0)
		return wc_file_error(err, "look at file", path);
	identity->owner.inode = (uint64_t) st.st_ino;
	identity->owner.state = state;
	status = write_owner(identity, true, err);
	return status == WC_OK ? wc_file_sync_parent(path, err) : status;
}

WcStatus
wc_identity_begin(WcIdentity *identity, const WcEngineOptions *options, WcError *err)
{
	WcStatus	status;

	switch (identity->opening)
	{
		case WC_OPEN_AS_IS:
			identity->owner.state = WC_OWNER_OPEN;
			return write_owner(identity, true, err);
		case WC_OPEN_NEW:
			if (mkdir(identity->path, (mode_t) options->directory_mode) != 0 && errno != EEXIST)
				return wc_file_error(err, "make directory", identity->path);
			status = wc_file_sync_parent(identity->path, err);
			identity->owner.synced = 0;
			return status == WC_OK ? make_owner(identity, WC_OWNER_NEW, err) : status;
		case WC_OPEN_ADOPT:
		case WC_OPEN_ACCEPT:
			break;				/* as it is until that has succeeded */
	}
	return WC_OK;
}

static WcStatus
write_names(WcIdentity *identity, WcError *err)
{
	char		path[WC_PATH_MAX];
	char		text[TEXT_SIZE];
	struct stat st;
	WcStatus	status = wc_file_join(path, identity->path, WC_FILE_ID, err);

	snprintf(text, sizeof(text), "widecol store %08" PRIx32 "\ncluster %" PRIu64 "\n", identity->store, identity->cluster);
	if (status == WC_OK)
		status = wc_file_replace_text(path, text, err);
	snprintf(text, sizeof(text), "widecol store %08" PRIx32 "\n", identity->store);
	if (status == WC_OK)
		status = wc_file_replace_text(identity->record, text, err);
	if (status != WC_OK)
		return status;
	if (stat(identity->record, &st) != 0)
		return wc_file_error(err, "look at file", identity->record);
	identity->owner.record_inode = (uint64_t) st.st_ino;
	return WC_OK;
}

WcStatus
wc_identity_settle(WcIdentity *identity, uint64_t applied, WcError *err)
{
	static const char *const verbs[] = {
		[WC_OPEN_NEW] = "made",
		[WC_OPEN_ADOPT] = "took over, from before stores had ids,",
		[WC_OPEN_ACCEPT] = "accepted, as it was,"
	};
	WcStatus	status;

	if (identity->opening == WC_OPEN_AS_IS)
		return WC_OK;
	do
	{
		if (getentropy(&identity->store, sizeof(identity->store)) != 0)
			return wc_error(err, WC_IO, "could not get a random number: %s", strerror(errno));
	} while (identity->store == 0);
	status = write_names(identity, err);
	if (status != WC_OK)
		return status;
	identity->owner.synced = applied;
	status = make_owner(identity, WC_OWNER_OPEN, err);
	if (status == WC_OK)
		wc_log(WC_LOG_INFO, "%s the stored tables in \"%s\": store %08" PRIx32, verbs[identity->opening], identity->path, identity->store);
	identity->opening = WC_OPEN_AS_IS;
	return status;
}

WcStatus
wc_identity_disown(const WcIdentity *identity, WcError *err)
{
	char		path[WC_PATH_MAX];
	WcStatus	status = wc_file_join(path, identity->path, FILE_OWNER, err);

	if (status == WC_OK && unlink(path) != 0 && errno != ENOENT)
		status = wc_file_error(err, "remove file", path);
	return status == WC_OK ? wc_file_sync_parent(path, err) : status;
}

void
wc_identity_synced(WcIdentity *identity, uint64_t position)
{
	WcError		err;

	if (position <= identity->owner.synced || identity->owner_fd < 0)
		return;
	identity->owner.synced = position;
	if (write_owner(identity, false, &err) != WC_OK)
		wc_log(WC_LOG_WARNING, "%s", err.message);
}

void
wc_identity_release(WcIdentity *identity, bool closed)
{
	WcError		err;

	if (closed && identity->owner_fd >= 0 && identity->owner.state == WC_OWNER_OPEN)
	{
		identity->owner.state = WC_OWNER_CLOSED;
		if (write_owner(identity, true, &err) != WC_OK)
			wc_log(WC_LOG_WARNING, "%s", err.message);
	}
	if (identity->owner_fd >= 0)
		close(identity->owner_fd);
	free(identity->path);
	free(identity->record);
	memset(identity, 0, sizeof(*identity));
	identity->owner_fd = -1;
}
