/*
 * engine/rocks/image.c: makes, removes and restores images.
 */
#include "engine/rocks/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "engine/rocks/identity.h"
#include "engine/rocks/imagelist.h"
#include "engine/rocks/rocks.h"

#define BUILDING	"pgsql_tmp.building"
#define RESTORING	"pgsql_tmp.restoring"
#define REPLACED	"pgsql_tmp.replaced"
#define CURRENT		"CURRENT"	/* RocksDB's */

#define DIRECTORY_MODE	0750	/* the server's umask is subtracted */

static WcStatus
copy_file(const char *from, const char *to, WcError *err)
{
	char		bytes[65536];
	int			in = open(from, O_RDONLY | O_CLOEXEC);
	int			out;
	ssize_t		n;
	WcStatus	status = WC_OK;

	if (in < 0)
		return wc_file_error(err, "open file", from);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, WC_FILE_MODE);
	if (out < 0)
		status = wc_file_error(err, "make file", to);
	while (status == WC_OK && (n = read(in, bytes, sizeof(bytes))) != 0)
	{
		if (n < 0)
			status = wc_file_error(err, "read file", from);
		else if (errno = ENOSPC, write(out, bytes, (size_t) n) != n)
			status = wc_file_error(err, "write file", to);
	}
	if (status == WC_OK && fsync(out) != 0)
		status = wc_file_error(err, "sync file", to);
	close(in);
	if (out >= 0)
		close(out);
	return status;
}

static WcStatus
remove_image(const WcImage *image, WcError *err)
{
	char		files[WC_PATH_MAX];
	WcStatus	status = wc_file_join(files, image->path, WC_IMAGE_FILES, err);

	/* Without FILES it is no image, even if other files are still there. */
	if (status == WC_OK && unlink(files) != 0 && errno != ENOENT)
		status = wc_file_error(err, "remove file", files);
	return status == WC_OK ? wc_file_remove_directory(image->path, err) : status;
}

/* Removes the live database that an image has replaced; also what a crash has left of it. */
static WcStatus
remove_replaced(const char *path, WcError *err)
{
	char		replaced[WC_PATH_MAX];
	WcStatus	status = wc_file_join(replaced, path, REPLACED, err);

	return status == WC_OK ? wc_file_remove_directory(replaced, err) : status;
}

/* --- making ----------------------------------------------------------------*/

/* How the name of a file ends that is to take another one's place. */
#define NEW ".new"

typedef struct Making
{
	const char *building;
	const char *pool;
	WcBuf		files;			/* content of FILES */
} Making;

/* The pool's file of this number is another one than the live database's, since a damaged file has been replaced from a
 * copy.  The live database's file takes its place, for older images too: in one database a number means one file. */
static WcStatus
replace_in_pool(const char *from, const char *to, WcError *err)
{
	char		new[WC_PATH_MAX];

	if (snprintf(new, sizeof(new), "%s" NEW, to) >= (int) sizeof(new))
		return wc_error(err, WC_INVALID, "the name of file \"%s\" is too long", to);
	if ((unlink(new) != 0 && errno != ENOENT) || link(from, new) != 0)	/* a crash here leaves it to remove_unnamed */
		return wc_file_error(err, "link file", new);
	if (rename(new, to) != 0)
		return wc_file_error(err, "rename file", new);
	wc_log(WC_LOG_WARNING, "file \"%s\" was another one than that of the live database, which has taken its place", to);
	return WC_OK;
}

static WcStatus
into_pool(const char *from, const char *to, WcError *err)
{
	struct stat have,
				there;

	if (link(from, to) == 0)
		return WC_OK;
	if (errno != EEXIST)
		return wc_file_error(err, "link file", to);
	if (stat(from, &have) != 0 || stat(to, &there) != 0)
		return wc_file_error(err, "look at file", to);
	if (have.st_ino == there.st_ino && have.st_dev == there.st_dev)
		return WC_OK;
	return replace_in_pool(from, to, err);
}

static WcStatus
take_file(void *arg, const char *name, WcError *err)
{
	Making	   *m = arg;
	char		from[WC_PATH_MAX];
	char		to[WC_PATH_MAX];
	char		line[WC_IMAGE_FILE_NAME_SIZE + 32];
	struct stat st;
	WcStatus	status = wc_file_join(from, m->building, name, err);

	if (status == WC_OK && stat(from, &st) != 0)
		status = wc_file_error(err, "look at file", from);
	if (status == WC_OK && wc_image_is_table_file(name))
	{
		status = wc_file_join(to, m->pool, name, err);
		if (status == WC_OK)
			status = into_pool(from, to, err);
		if (status == WC_OK && unlink(from) != 0)
			status = wc_file_error(err, "remove file", from);
	}
	else if (status == WC_OK)
		status = wc_file_sync(from, err);
	if (status == WC_OK)
	{
		snprintf(line, sizeof(line), "%s %" PRId64 "\n", name, (int64_t) st.st_size);
		wc_buf_append(&m->files, line, strlen(line));
	}
	return status;
}

static WcStatus
write_files_list(Making *m, WcError *err)
{
	char		path[WC_PATH_MAX];
	WcStatus	status = wc_file_join(path, m->building, WC_IMAGE_FILES, err);

	wc_buf_append(&m->files, WC_IMAGE_FILES_END, sizeof(WC_IMAGE_FILES_END));	/* with its zero byte */
	if (status == WC_OK)
		status = wc_buf_status(&m->files, "list of an image's files", err);
	if (status == WC_OK)
		status = wc_file_replace_text(path, (const char *) m->files.data, err);
	return status;
}

static WcStatus
checkpoint_into(rocksdb_t *db, const char *directory, WcError *err)
{
	char	   *error = NULL;
	rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(db, &error);

	if (error == NULL)
	{
		rocksdb_checkpoint_create(checkpoint, directory, UINT64_MAX, &error);
		rocksdb_checkpoint_object_destroy(checkpoint);
	}
	return wc_rocks_status(error, "make an image of the stored tables", err);
}

static WcStatus
make_directory(const char *path, WcError *err)
{
	if (mkdir(path, DIRECTORY_MODE) == 0 || errno == EEXIST)
		return WC_OK;
	return wc_file_error(err, "make directory", path);
}

/* Copies ID, if the live database has one. */
static WcStatus
take_id(const char *path, const char *building, WcError *err)
{
	char		live[WC_PATH_MAX];
	char		from[WC_PATH_MAX];
	char		to[WC_PATH_MAX];
	WcStatus	status = wc_file_join(live, path, WC_LIVE_DIRECTORY, err);

	if (status == WC_OK)
		status = wc_file_join(from, live, WC_FILE_ID, err);
	if (status == WC_OK)
		status = wc_file_join(to, building, WC_FILE_ID, err);
	if (status == WC_OK && access(from, F_OK) == 0)
		status = copy_file(from, to, err);
	return status;
}

WcStatus
wc_image_build(const char *path, rocksdb_t *db, WcError *err)
{
	char		building[WC_PATH_MAX];
	char		pool[WC_PATH_MAX];
	Making		m = {building, pool, WC_BUF_INIT};
	WcStatus	status = wc_file_join(building, path, BUILDING, err);

	if (status == WC_OK)
		status = wc_file_join(pool, path, WC_IMAGE_POOL, err);
	if (status == WC_OK)
		status = make_directory(pool, err);
	if (status == WC_OK)
		status = remove_replaced(path, err);
	if (status == WC_OK)
		status = wc_file_remove_directory(building, err);
	if (status == WC_OK)
		status = checkpoint_into(db, building, err);
	if (status == WC_OK)
		status = take_id(path, building, err);
	wc_buf_append(&m.files, WC_IMAGE_FILES_HEAD, strlen(WC_IMAGE_FILES_HEAD));
	if (status == WC_OK)
		status = wc_file_each(building, take_file, &m, err);
	if (status == WC_OK)
		status = wc_file_sync(pool, err);
	if (status == WC_OK)
		status = write_files_list(&m, err);
	wc_buf_free(&m.files);
	return status;
}

WcStatus
wc_image_install(const char *path, uint64_t position, WcError *err)
{
	char		building[WC_PATH_MAX];
	WcImage		image;
	WcStatus	status = wc_image_at(&image, path, position, err);

	if (status == WC_OK)
		status = wc_file_join(building, path, BUILDING, err);
	if (status == WC_OK)
		status = remove_image(&image, err);
	if (status == WC_OK && rename(building, image.path) != 0)
		status = wc_file_error(err, "rename directory", building);
	return status == WC_OK ? wc_file_sync(path, err) : status;
}

/* --- removing --------------------------------------------------------------*/

/* Names of table files that images name, sorted. */
typedef struct Named
{
	char	  **names;
	size_t		n;
	size_t		cap;
	const char *pool;			/* for remove_unnamed */
} Named;

static WcStatus
note_named(void *arg, const char *name, int64_t size, WcError *err)
{
	Named	   *named = arg;
	char	   *copy;

	(void) size;
	if (!wc_image_is_table_file(name))
		return WC_OK;
	if (named->n == named->cap)
	{
		size_t		cap = named->cap ? 2 * named->cap : 256;
		char	  **names = realloc(named->names, cap * sizeof(*names));

		if (names == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for the files of images");
		named->names = names;
		named->cap = cap;
	}
	copy = strdup(name);
	if (copy == NULL)
		return wc_error(err, WC_NO_MEMORY, "out of memory for the files of images");
	named->names[named->n++] = copy;
	return WC_OK;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Is it a file that replace_in_pool has left? */
static bool
is_left_over(const char *name)
{
	size_t		len = strlen(name);

	return len > strlen(NEW) && strcmp(name + len - strlen(NEW), NEW) == 0;
}

static WcStatus
remove_unnamed(void *arg, const char *name, WcError *err)
{
	const Named *named = arg;
	char		path[WC_PATH_MAX];
	WcStatus	status;

	if (!is_left_over(name) && !wc_image_is_table_file(name))
		return WC_OK;
	if (named->n > 0 && bsearch(&name, named->names, named->n, sizeof(*named->names), compare_names) != NULL)
		return WC_OK;
	status = wc_file_join(path, named->pool, name, err);
	if (status == WC_OK && unlink(path) != 0 && errno != ENOENT)
		status = wc_file_error(err, "remove file", path);
	return status;
}

/* An image that cannot be read may need any file of the pool: then nothing is removed. */
static WcStatus
prune_pool(const char *path, const WcImagePositions *list, WcError *err)
{
	char		pool[WC_PATH_MAX];
	Named		named = {.pool = pool};
	WcStatus	status = wc_file_join(pool, path, WC_IMAGE_POOL, err);

	for (size_t i = 0; status == WC_OK && i < list->n; i++)
	{
		WcImage		image;

		status = wc_image_at(&image, path, list->at[i], err);
		if (status == WC_OK)
			status = wc_image_each_file(&image, note_named, &named, err);
	}
	if (status == WC_OK && named.n > 0)
		qsort(named.names, named.n, sizeof(*named.names), compare_names);
	if (status == WC_OK)
		status = wc_file_each(pool, remove_unnamed, &named, err);
	for (size_t i = 0; i < named.n; i++)
		free(named.names[i]);
	free(named.names);
	return status == WC_END ? WC_OK : status;
}

static bool
is_younger(const WcImage *image, int64_t seconds)
{
	struct stat st;

	return stat(image->path, &st) == 0 && (int64_t) st.st_mtime > (int64_t) time(NULL) - seconds;
}

/* Has the removal of the image begun, and was it ended by a crash? */
static bool
is_half_removed(const WcImage *image)
{
	char		files[WC_PATH_MAX];
	WcError		err;

	return wc_file_join(files, image->path, WC_IMAGE_FILES, &err) == WC_OK && access(files, F_OK) != 0 && errno == ENOENT;
}

WcStatus
wc_image_prune(const char *path, unsigned keep, int64_t min_age_s, WcError *err)
{
	WcImagePositions list;
	WcStatus	status = wc_image_list(path, &list, err);
	size_t		kept = 0;

	for (size_t i = 0; status == WC_OK && i < list.n; i++)
	{
		WcImage		image;

		status = wc_image_at(&image, path, list.at[i], err);
		if (status != WC_OK)
			break;
		if (!is_half_removed(&image) && (kept < keep || is_younger(&image, min_age_s)))
			list.at[kept++] = list.at[i];
		else
			status = remove_image(&image, err);
	}
	list.n = kept;
	if (status == WC_OK)
		status = prune_pool(path, &list, err);
	free(list.at);
	return status;
}

/* --- restoring -------------------------------------------------------------*/

typedef struct Restoring
{
	const char *path;
	const WcImage *image;
	const char *to;
} Restoring;

/* A table file is never changed, so a link is enough; other files are copied. */
static WcStatus
restore_file(void *arg, const char *name, int64_t size, WcError *err)
{
	const Restoring *r = arg;
	char		from[WC_PATH_MAX];
	char		to[WC_PATH_MAX];
	WcStatus	status = wc_image_place(from, r->path, r->image, name, err);

	(void) size;
	if (status == WC_OK)
		status = wc_file_join(to, r->to, name, err);
	if (status != WC_OK)
		return status;
	if (!wc_image_is_table_file(name))
		return copy_file(from, to, err);
	return link(from, to) == 0 ? WC_OK : wc_file_error(err, "link file", to);
}

/* Removes the images that are newer than the one to restore: table files that only these images name may have numbers that
 * the restored database will give to new files. */
static WcStatus
remove_newer(const char *path, uint64_t position, WcError *err)
{
	WcImagePositions list;
	WcStatus	status = wc_image_list(path, &list, err);
	size_t		gone = 0;

	while (status == WC_OK && gone < list.n && list.at[gone] > position)
	{
		WcImage		image;

		status = wc_image_at(&image, path, list.at[gone++], err);
		if (status == WC_OK)
			status = remove_image(&image, err);
	}
	if (status == WC_OK)
	{
		WcImagePositions rest = {list.at + gone, list.n - gone, 0};

		status = prune_pool(path, &rest, err);
	}
	free(list.at);
	return status;
}

/* A crash leaves all of a live database or none: half of one would be refused as damaged, and not replaced by an image. */
static WcStatus
replace_live(const char *path, const char *restored, WcError *err)
{
	char		live[WC_PATH_MAX];
	char		replaced[WC_PATH_MAX];
	WcStatus	status = wc_file_join(live, path, WC_LIVE_DIRECTORY, err);

	if (status == WC_OK)
		status = wc_file_join(replaced, path, REPLACED, err);
	if (status == WC_OK)
		status = remove_replaced(path, err);
	if (status == WC_OK && rename(live, replaced) != 0 && errno != ENOENT)
		status = wc_file_error(err, "rename directory", live);
	if (status == WC_OK && rename(restored, live) != 0)
		status = wc_file_error(err, "rename directory", restored);
	if (status == WC_OK)
		status = wc_file_sync(path, err);
	return status == WC_OK ? remove_replaced(path, err) : status;
}

WcStatus
wc_image_restore(const char *path, uint64_t position, WcError *err)
{
	char		building[WC_PATH_MAX];
	WcImage		image;
	Restoring	restoring = {path, &image, building};
	WcStatus	status = wc_image_at(&image, path, position, err);

	if (status == WC_OK)
		status = remove_newer(path, position, err);
	if (status == WC_OK)
		status = wc_file_join(building, path, RESTORING, err);
	if (status == WC_OK)
		status = wc_file_remove_directory(building, err);
	if (status == WC_OK)
		status = make_directory(building, err);
	if (status == WC_OK)
		status = wc_image_each_file(&image, restore_file, &restoring, err);
	if (status == WC_OK)
		status = wc_identity_write_closed(building, err);
	if (status == WC_OK)
		status = wc_file_sync(building, err);
	return status == WC_OK ? replace_live(path, building, err) : status;
}

/* --- stores from before there were images --------------------------------------------------------*/

typedef struct Moving
{
	const char *from;
	const char *to;
} Moving;

static WcStatus
move_file(void *arg, const char *name, WcError *err)
{
	const Moving *m = arg;
	char		from[WC_PATH_MAX];
	char		to[WC_PATH_MAX];
	struct stat st;
	WcStatus	status = wc_file_join(from, m->from, name, err);

	if (status == WC_OK)
		status = wc_file_join(to, m->to, name, err);
	if (status != WC_OK || strcmp(name, CURRENT) == 0 || (stat(from, &st) == 0 && S_ISDIR(st.st_mode)))
		return status;
	return rename(from, to) == 0 ? WC_OK : wc_file_error(err, "rename file", from);
}

/* CURRENT is moved last: while it exists, other files may be left, too. */
WcStatus
wc_image_adopt_live(const char *path, WcError *err)
{
	char		live[WC_PATH_MAX];
	char		from[WC_PATH_MAX];
	char		to[WC_PATH_MAX];
	Moving		moving = {path, live};
	WcStatus	status = wc_file_join(live, path, WC_LIVE_DIRECTORY, err);

	if (status == WC_OK)
		status = wc_file_join(from, path, CURRENT, err);
	if (status == WC_OK)
		status = wc_file_join(to, live, CURRENT, err);
	if (status != WC_OK || access(from, F_OK) != 0)
		return status;
	status = make_directory(live, err);
	if (status == WC_OK)
		status = wc_file_each(path, move_file, &moving, err);
	if (status == WC_OK)
		status = wc_file_sync(live, err);
	if (status == WC_OK && rename(from, to) != 0)
		status = wc_file_error(err, "rename file", from);
	if (status == WC_OK)
		status = wc_file_sync(live, err);
	return status == WC_OK ? wc_file_sync(path, err) : status;
}
