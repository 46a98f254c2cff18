/*
 * test/unit/test_powerloss.c: the machine loses power, at any moment.
 *
 * This file defines the system calls by which the store's files change, for the whole program.  They call the real
 * ones and keep a model of the disk: each file up to its last sync, each name as it was at the directory's last
 * sync.  Each call that changes the model copies the model; each other call makes a copy in which some unsynced
 * changes have reached the disk, too.  In the end all copies are opened: each must have the state after some commit,
 * and after all commits that were acknowledged by then.  The disk is full for a while, too.
 */
#include "enginekit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/store/state.h"

#define REAL(type, name, ...) ((type (*) (__VA_ARGS__)) dlsym(RTLD_NEXT, #name))

#define FILES_MAX 2000
#define NAMES_MAX 200
#define CUTS_MAX 4000
#define POSITIONS_MAX 64		/* of commits and steps */
#define TXN_MEMORY 1000			/* larger transactions are written as files */
#define OWNER_SIZE 256			/* OWNER is written in place: its bytes are kept */

/* --- the model --------------------------------------------------------------*/

typedef struct File
{
	ino_t		inode;
	int			fd;				/* keeps the bytes of a file that was deleted */
	off_t		synced;			/* so many bytes are on the disk */
	char		bytes[OWNER_SIZE];	/* the first, as they were then */
} File;

typedef struct Name
{
	char		name[256];
	File	   *file;
} Name;

typedef struct Names
{
	Name		names[NAMES_MAX];
	int			n;
} Names;

/* A copy of the disk. */
typedef struct Cut
{
	uint64_t	acknowledged;	/* commits, by then */
	const char *call;			/* and the call */
	char		file[64];
} Cut;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;	/* guards the following */
static atomic_bool recording;
static const char *store_dir;
static char cuts_dir[64];
static File files[FILES_MAX];
static int	nfiles;
static Names on_disk;
static Cut	cuts[CUTS_MAX];
static int	ncuts;
static int	ncalls;
static unsigned seed = 1;
static uint64_t acknowledged;

static atomic_bool full;		/* the disk is */
static atomic_bool torn;		/* a write to the log was cut off */

static _Thread_local bool inside;	/* a call of the model's own */

/* With its bytes as they are now, of which nothing is synced. */
static File *
file_of(const char *path)
{
	struct stat st;
	File	   *f;

	if (stat(path, &st) != 0)
		return NULL;
	for (int i = 0; i < nfiles; i++)
	{
		if (files[i].inode == st.st_ino)
			return &files[i];
	}
	assert_true(nfiles < FILES_MAX);
	f = &files[nfiles++];
	f->inode = st.st_ino;
	f->fd = REAL(int, open, const char *, int,...) (path, O_RDONLY | O_CLOEXEC);
	assert_true(f->fd >= 0);
	return f;
}

static void
names_now(Names *names)
{
	DIR		   *dir = opendir(store_dir);
	char		path[512];

	assert_non_null(dir);
	names->n = 0;
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
	{
		Name	   *name = &names->names[names->n];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", store_dir, entry->d_name);
		snprintf(name->name, sizeof(name->name), "%s", entry->d_name);
		name->file = file_of(path);
		if (name->file != NULL)
			assert_true(++names->n < NAMES_MAX);
	}
	closedir(dir);
}

/* What a call that syncs has in front of it. */
typedef struct Syncing
{
	bool		counts;
	char		path[512];
	off_t		size;
	char		bytes[OWNER_SIZE];
	Names		names;
} Syncing;

static void
look_at_file(const File *f, Syncing *s)
{
	struct stat st;

	s->size = fstat(f->fd, &st) == 0 && pread(f->fd, s->bytes, sizeof(s->bytes), 0) >= 0 ? st.st_size : 0;
}

static void
note_synced(File *f, const Syncing *s)
{
	f->synced = s->size;
	memcpy(f->bytes, s->bytes, sizeof(f->bytes));
}

/* --- copies -----------------------------------------------------------------*/

/* Up to `synced` bytes, which may have been written over since, and some of the rest. */
static void
copy_file(const File *f, const char *path, off_t size)
{
	static char buf[1 << 16];
	int			out = REAL(int, open, const char *, int,...) (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	off_t		at = 0;

	assert_true(out >= 0);
	while (at < size)
	{
		size_t		want = size - at < (off_t) sizeof(buf) ? (size_t) (size - at) : sizeof(buf);
		ssize_t		n = pread(f->fd, buf, want, at);

		if (n <= 0)
			break;
		if (at == 0 && size == f->synced && size <= OWNER_SIZE)
			memcpy(buf, f->bytes, (size_t) n);
		assert_int_equal(REAL(ssize_t, write, int, const void *, size_t) (out, buf, (size_t) n), n);
		at += n;
	}
	close(out);
}

static off_t
size_with_luck(const File *f)
{
	struct stat st;

	if (fstat(f->fd, &st) != 0 || st.st_size <= f->synced)
		return f->synced;
	return rand_r(&seed) % 2 ? st.st_size : f->synced + rand_r(&seed) % (st.st_size - f->synced + 1);
}

/* lucky: some bytes that were not synced are there, too. */
static void
cut_power(const char *call, const char *file, bool lucky)
{
	static Names now;
	const Names *names = &on_disk;
	char		path[512];

	assert_true(ncuts < CUTS_MAX);
	if (lucky && rand_r(&seed) % 2)
	{
		names_now(&now);
		names = &now;
	}
	snprintf(path, sizeof(path), "%s/%d", cuts_dir, ncuts);
	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 0; i < names->n; i++)
	{
		const Name *name = &names->names[i];

		snprintf(path, sizeof(path), "%s/%d/%s", cuts_dir, ncuts, name->name);
		copy_file(name->file, path, lucky ? size_with_luck(name->file) : name->file->synced);
	}
	cuts[ncuts].acknowledged = acknowledged;
	cuts[ncuts].call = call;
	snprintf(cuts[ncuts].file, sizeof(cuts[ncuts].file), "%s", file);
	ncuts++;
}

/* --- calls ------------------------------------------------------------------*/

static bool
is_ours(const char *path)
{
	return store_dir != NULL && strncmp(path, store_dir, strlen(store_dir)) == 0;
}

static bool
path_of_fd(int fd, char *path, size_t size)
{
	char		link[64];
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, size - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return is_ours(path);
}

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Something was done with a file, which may or may not get to the disk. */
static void
called(const char *call, const char *path)
{
	int			saved = errno;

	if (inside || !is_ours(path))
		return;
	inside = true;
	pthread_mutex_lock(&mutex);
	if (recording)
	{
		if (strcmp(path, store_dir) != 0)
			(void) file_of(path);
		if (ncalls++ % 3 == 0)
			cut_power(call, last_part(path), true);
	}
	pthread_mutex_unlock(&mutex);
	inside = false;
	errno = saved;
}

static void
called_fd(const char *call, int fd)
{
	char		path[512];

	if (!inside && recording && path_of_fd(fd, path, sizeof(path)))
		called(call, path);
}

/* A sync of a file or of the directory: all that was written before is on the disk afterwards. */
static void
begin_sync(int fd, Syncing *s)
{
	int			saved = errno;
	File	   *f;

	s->counts = !inside && recording && path_of_fd(fd, s->path, sizeof(s->path));
	if (!s->counts)
		return;
	inside = true;
	pthread_mutex_lock(&mutex);
	if (strcmp(s->path, store_dir) == 0)
		names_now(&s->names);
	else if ((f = file_of(s->path)) != NULL)
		look_at_file(f, s);
	pthread_mutex_unlock(&mutex);
	inside = false;
	errno = saved;
}

static void
end_sync(const Syncing *s)
{
	int			saved = errno;
	File	   *f;

	if (!s->counts)
		return;
	inside = true;
	pthread_mutex_lock(&mutex);
	if (strcmp(s->path, store_dir) == 0)
		on_disk = s->names;
	else if ((f = file_of(s->path)) != NULL)
		note_synced(f, s);
	if (recording)
		cut_power("sync", last_part(s->path), false);
	pthread_mutex_unlock(&mutex);
	inside = false;
	errno = saved;
}

/* Is there no room for a write?  A log takes half of the first one. */
static bool
is_full(int fd, size_t *len)
{
	char		path[512];

	if (!full || inside || !path_of_fd(fd, path, sizeof(path)))
		return false;
	if (strstr(path, ".log") != NULL)
	{
		*len /= 2;
		return atomic_exchange(&torn, true);
	}
	return strstr(path, ".sst") != NULL && strtol(last_part(path), NULL, 10) % 2 != 0;
}

ssize_t
write(int fd, const void *data, size_t len)
{
	ssize_t		n;

	if (is_full(fd, &len))
	{
		errno = ENOSPC;
		return -1;
	}
	n = REAL(ssize_t, write, int, const void *, size_t) (fd, data, len);
	called_fd("write", fd);
	return n;
}

ssize_t
pwrite(int fd, const void *data, size_t len, off_t at)
{
	ssize_t		n = REAL(ssize_t, pwrite, int, const void *, size_t, off_t) (fd, data, len, at);

	called_fd("write", fd);
	return n;
}

int
fsync(int fd)
{
	Syncing		s;
	int			rc;

	begin_sync(fd, &s);
	rc = REAL(int, fsync, int) (fd);
	if (rc == 0)
		end_sync(&s);
	return rc;
}

int
fdatasync(int fd)
{
	Syncing		s;
	int			rc;

	begin_sync(fd, &s);
	rc = REAL(int, fdatasync, int) (fd);
	if (rc == 0)
		end_sync(&s);
	return rc;
}

int
open(const char *path, int flags,...)
{
	va_list		args;
	mode_t		mode;
	int			fd;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	fd = REAL(int, open, const char *, int,...) (path, flags, mode);
	if (fd >= 0 && (flags & O_CREAT))
		called("create", path);
	return fd;
}

int
rename(const char *from, const char *to)
{
	int			rc = REAL(int, rename, const char *, const char *) (from, to);

	called("rename", to);
	return rc;
}

int
unlink(const char *path)
{
	int			rc = REAL(int, unlink, const char *) (path);

	called("delete", path);
	return rc;
}

/* --- operations -------------------------------------------------------------*/

static char *states[POSITIONS_MAX];	/* what the store shows behind each commit */

static uint32_t tables[8];		/* ids of tables that were made */
static uint32_t ntables;

/* All tables that are there, with their rows. */
static char *
show(Kit *kit)
{
	WcBuf		text = WC_BUF_INIT;
	uint32_t	saved = kit->table;

	for (uint32_t i = 0; i < ntables; i++)
	{
		WcTable    *table = wc_catalog_table(kit->engine, tables[i]);
		const char *rows;

		if (table == NULL)
			continue;
		kit->table = tables[i];
		rows = kit_scan(kit, false);
		wc_buf_append_u8(&text, (uint8_t) ('A' + i));
		wc_buf_append_u8(&text, (uint8_t) ('0' + table->desc.nfamilies));
		wc_buf_append_u8(&text, ' ');
		wc_buf_append(&text, rows, strlen(rows));
		wc_buf_append_u8(&text, ' ');
		wc_table_unref(table);
	}
	kit->table = saved;
	wc_buf_append_u8(&text, 0);
	assert_false(text.failed);
	return (char *) text.data;
}

static void
applied(Kit *kit)
{
	uint64_t	position = wc_engine_applied_position(kit->engine);

	assert_true(position < POSITIONS_MAX);
	free(states[position]);
	states[position] = show(kit);
}

static void
commit(Kit *kit)
{
	kit_commit(kit);
	applied(kit);
}

/* As with synchronous_commit = on. */
static void
commit_synced(Kit *kit)
{
	commit(kit);
	assert_ok(kit, wc_engine_sync(kit->engine, &kit->err));
	pthread_mutex_lock(&mutex);
	acknowledged = wc_engine_applied_position(kit->engine);
	pthread_mutex_unlock(&mutex);
}

static void
create(Kit *kit, uint8_t packing)
{
	char		name[8];

	snprintf(name, sizeof(name), "t%u", ntables);
	kit_create(kit, name, packing, 2);
	tables[ntables++] = kit->table;
}

static void
put(Kit *kit, uint32_t table, const char *row, const char *value)
{
	kit->table = tables[table];
	kit_put(kit, row, 1, "q", KIT_LATEST, value);
	kit_put(kit, row, 2, "q", KIT_LATEST, value);
}

static void
truncate_table(Kit *kit, uint32_t table)
{
	assert_ok(kit, wc_batch_truncate_table(&kit->builder, kit->cid, tables[table], &kit->err));
}

static void
drop_table(Kit *kit, uint32_t table)
{
	assert_ok(kit, wc_batch_drop_table(&kit->builder, kit->cid, tables[table], &kit->err));
}

/* Its second family goes. */
static void
drop_family(Kit *kit, uint32_t table)
{
	WcTable    *t = wc_catalog_table(kit->engine, tables[table]);
	WcTableDesc desc = t->desc;

	desc.nfamilies = 1;
	assert_ok(kit, wc_batch_alter_table(&kit->builder, kit->cid, &desc, &kit->err));
	wc_table_unref(t);
}

/* Waits until what commits have dropped is gone. */
static void
wait_for_drops(Kit *kit)
{
	WcFamilies *f = &kit->engine->families;
	bool		done = false;

	for (int i = 0; i < 10000 && !done; i++)
	{
		pthread_mutex_lock(&f->mutex);
		done = f->dropped == NULL;
		pthread_mutex_unlock(&f->mutex);
		if (!done)
			usleep(1000);
	}
	assert_true(done);
}

/* The thread that drops families is likely to come before the next commit: more orders of the two are seen. */
static void
let_drops_begin(void)
{
	usleep(20000);
}

/* The disk is full while a commit is written, and has room for some table files when RocksDB is resumed. */
static void
fill_disk(Kit *kit)
{
	WcStatus	status;

	torn = false;
	full = true;
	put(kit, 0, "z", "full");
	status = kit_apply(kit);
	assert_int_equal(status, WC_NO_SPACE);
	usleep(500000);
	full = false;
	for (int i = 0; i < 10000 && status != WC_OK; i++)
	{
		usleep(1000);
		put(kit, 0, "z", "full");
		status = kit_apply(kit);
	}
	assert_int_equal(status, WC_OK);
	applied(kit);
}

static void
work(Kit *kit)
{
	create(kit, WC_PACKING_CELL);
	create(kit, WC_PACKING_ROW);
	commit_synced(kit);
	put(kit, 0, "r", "1");
	put(kit, 1, "r", "1");
	commit_synced(kit);

	/* not synced: when RocksDB's drop of the family is on disk, later writes to it are gone */
	truncate_table(kit, 0);
	put(kit, 0, "s", "2");
	commit(kit);
	let_drops_begin();
	put(kit, 1, "s", "2");
	commit_synced(kit);
	wait_for_drops(kit);

	drop_family(kit, 1);
	commit(kit);
	let_drops_begin();
	create(kit, WC_PACKING_CELL);
	put(kit, 2, "r", "3");
	commit_synced(kit);
	wait_for_drops(kit);

	/* a large commit, behind one that is not synced */
	put(kit, 0, "l", "before");
	commit(kit);
	truncate_table(kit, 1);
	for (int i = 0; i < TXN_MEMORY / 20; i++)
	{
		char		row[16];

		snprintf(row, sizeof(row), "large%04d", i);
		put(kit, (uint32_t) i % 2, row, "large");
	}
	commit(kit);

	/* files */
	put(kit, 0, "t", "4");
	commit(kit);
	kit_flush(kit);
	put(kit, 0, "u", "5");
	commit(kit);
	kit_compact(kit, true);
	truncate_table(kit, 0);
	commit(kit);
	drop_table(kit, 2);
	commit(kit);
	let_drops_begin();
	put(kit, 0, "v", "6");
	commit(kit);
	kit->table = tables[1];
	kit_flush(kit);
	put(kit, 0, "w", "7");
	commit_synced(kit);
	wait_for_drops(kit);

	fill_disk(kit);
	put(kit, 0, "x", "8");
	put(kit, 1, "x", "8");
	commit(kit);
	fill_disk(kit);

	/* a database */
	put(kit, 0, "y", "9");
	commit_synced(kit);
	assert_ok(kit, wc_batch_drop_database(&kit->builder, kit->cid, KIT_DATABASE, &kit->err));
	commit(kit);
	let_drops_begin();
	create(kit, WC_PACKING_CELL);
	put(kit, 3, "r", "9");
	commit_synced(kit);
	wait_for_drops(kit);
}

/* --- looking ----------------------------------------------------------------*/

static void
run(const char *format, const char *a, const char *b)
{
	char		command[256];

	snprintf(command, sizeof(command), format, a, b);
	assert_int_equal(system(command), 0);
}

/* OWNER stays the same file: it says by its inode that it is no copy. */
static void
open_cut(Kit *kit, int i)
{
	WcEngineOptions options = kit_options(kit);
	char		copy[128];

	run("find %s -mindepth 1 ! -name OWNER -delete%s", kit->dir, "");
	snprintf(copy, sizeof(copy), "%s/%d", cuts_dir, i);
	run("cp %s/* %s", copy, kit->dir);
	if (wc_engine_open(&options, &kit->engine, &kit->err) != WC_OK)
		fail_msg("copy %d, at a %s of %s: %s: %s", i, cuts[i].call, cuts[i].file, kit->err.message, kit->err.detail);
}

static void
check_cut(Kit *kit, int i)
{
	uint64_t	position;
	uint64_t	behind;
	char	   *text;

	open_cut(kit, i);
	position = wc_engine_applied_position(kit->engine);
	if (position < cuts[i].acknowledged || position >= POSITIONS_MAX)
		fail_msg("copy %d, at a %s of %s: commit %" PRIu64 " is the last, %" PRIu64 " was acknowledged", i, cuts[i].call,
				 cuts[i].file, position, cuts[i].acknowledged);
	for (behind = position; behind > 0 && states[behind] == NULL; behind--)
		;						/* steps of flush and compaction change nothing that shows */
	text = show(kit);
	if (strcmp(text, states[behind]) != 0)
		fail_msg("copy %d, at a %s of %s: behind commit %" PRIu64 " there should be %s, but there is %s", i, cuts[i].call,
				 cuts[i].file, position, states[behind], text);
	free(text);
}

static void
test_power_loss(void **state)
{
	Kit			kit;

	kit_txn_memory = TXN_MEMORY;
	kit_open(&kit);
	applied(&kit);
	assert_ok(&kit, wc_engine_sync(kit.engine, &kit.err));
	snprintf(cuts_dir, sizeof(cuts_dir), "/tmp/wc_test_XXXXXX");
	assert_non_null(mkdtemp(cuts_dir));
	inside = true;
	store_dir = kit.dir;
	names_now(&on_disk);
	for (int i = 0; i < nfiles; i++)
	{
		Syncing		s;

		look_at_file(&files[i], &s);
		note_synced(&files[i], &s);
	}
	inside = false;
	pthread_mutex_lock(&mutex);
	recording = true;
	pthread_mutex_unlock(&mutex);

	work(&kit);

	pthread_mutex_lock(&mutex);
	recording = false;
	pthread_mutex_unlock(&mutex);
	print_message("# %d copies\n", ncuts);
	assert_true(ncuts > 50);
	for (int i = 0; i < ncuts; i++)
	{
		wc_engine_close(kit.engine);
		check_cut(&kit, i);
	}
	for (int i = 0; i < nfiles; i++)
		close(files[i].fd);
	for (int i = 0; i < POSITIONS_MAX; i++)
		free(states[i]);
	run("rm -rf %s%s", cuts_dir, "");
	kit_close(&kit);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_loss)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
