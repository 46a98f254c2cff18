/*
 * engine/rocks/imagelist.c: the images of a store, and the files of an image.
 */
#include "engine/rocks/imagelist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "engine/rocks/image.h"

bool
wc_image_is_table_file(const char *name)
{
	size_t		len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".sst") == 0;
}

WcStatus
wc_image_at(WcImage *image, const char *path, uint64_t position, WcError *err)
{
	image->position = position;
	snprintf(image->name, sizeof(image->name), "image-%016" PRIX64, position);
	return wc_file_join(image->path, path, image->name, err);
}

static WcStatus
note_image(void *arg, const char *name, WcError *err)
{
	WcImagePositions *p = arg;
	uint64_t	position;
	int			end = 0;

	if (sscanf(name, "image-%16" SCNx64 "%n", &position, &end) != 1 || end != 22 || name[end] != '\0')
		return WC_OK;
	if (p->n == p->cap)
	{
		size_t		cap = p->cap ? 2 * p->cap : 16;
		uint64_t   *at = realloc(p->at, cap * sizeof(*at));

		if (at == NULL)
			return wc_error(err, WC_NO_MEMORY, "out of memory for the list of images");
		p->at = at;
		p->cap = cap;
	}
	p->at[p->n++] = position;
	return WC_OK;
}

static int
newest_first(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x > y ? -1 : x < y;
}

WcStatus
wc_image_list(const char *path, WcImagePositions *p, WcError *err)
{
	WcStatus	status;

	memset(p, 0, sizeof(*p));
	status = wc_file_each(path, note_image, p, err);
	if (p->n > 1)
		qsort(p->at, p->n, sizeof(*p->at), newest_first);
	return status == WC_END ? WC_OK : status;
}

WcStatus
wc_image_each_file(const WcImage *image, WcStatus (*fn) (void *arg, const char *name, int64_t size, WcError *err),
				   void *arg, WcError *err)
{
	char		path[WC_PATH_MAX];
	char		line[WC_IMAGE_FILE_NAME_SIZE + 32];
	char		name[WC_IMAGE_FILE_NAME_SIZE];
	int64_t		size;
	bool		ended = false;
	WcStatus	status = wc_file_join(path, image->path, WC_IMAGE_FILES, err);
	FILE	   *f;

	if (status != WC_OK)
		return status;
	f = fopen(path, "re");
	if (f == NULL && errno != ENOENT)
		return wc_file_error(err, "open file", path);
	if (f == NULL)
		return wc_error(err, WC_CORRUPT, "file \"%s\" is missing", path);
	if (fgets(line, sizeof(line), f) == NULL || strcmp(line, WC_IMAGE_FILES_HEAD) != 0)
		status = wc_error(err, WC_CORRUPT, "file \"%s\" is damaged", path);
	while (status == WC_OK && !ended && fgets(line, sizeof(line), f) != NULL)
	{
		if (strcmp(line, WC_IMAGE_FILES_END) == 0)
			ended = true;
		else if (sscanf(line, "%255s %" SCNd64, name, &size) != 2)
			status = wc_error(err, WC_CORRUPT, "file \"%s\" is damaged", path);
		else
			status = fn(arg, name, size, err);
	}
	fclose(f);
	if (status == WC_OK && !ended)
		status = wc_error(err, WC_CORRUPT, "file \"%s\" ends too early", path);
	return status;
}

WcStatus
wc_image_place(char *buf, const char *path, const WcImage *image, const char *name, WcError *err)
{
	char		pool[WC_PATH_MAX];
	WcStatus	status;

	if (!wc_image_is_table_file(name))
		return wc_file_join(buf, image->path, name, err);
	status = wc_file_join(pool, path, WC_IMAGE_POOL, err);
	return status == WC_OK ? wc_file_join(buf, pool, name, err) : status;
}

/* --- the newest complete image -------------------------------------------------*/

typedef struct Checking
{
	const char *path;
	const WcImage *image;
} Checking;

static WcStatus
check_file(void *arg, const char *name, int64_t size, WcError *err)
{
	const Checking *c = arg;
	char		place[WC_PATH_MAX];
	struct stat st;
	WcStatus	status = wc_image_place(place, c->path, c->image, name, err);

	if (status != WC_OK)
		return status;
	if (stat(place, &st) != 0)
		return errno == ENOENT ? wc_error(err, WC_CORRUPT, "file \"%s\" is missing", place)
			: wc_file_error(err, "look at file", place);
	if ((int64_t) st.st_size != size)
		return wc_error(err, WC_CORRUPT, "file \"%s\" has %" PRId64 " bytes instead of %" PRId64, place,
						(int64_t) st.st_size, size);
	return WC_OK;
}

WcStatus
wc_image_newest(const char *path, uint64_t *position, WcError *err)
{
	WcImagePositions list;
	WcStatus	status = wc_image_list(path, &list, err);
	bool		found = false;

	for (size_t i = 0; status == WC_OK && !found && i < list.n; i++)
	{
		WcImage		image;
		Checking	checking = {path, &image};

		status = wc_image_at(&image, path, list.at[i], err);
		if (status == WC_OK)
			status = wc_image_each_file(&image, check_file, &checking, err);
		found = status == WC_OK;
		if (status == WC_CORRUPT)
		{
			wc_log(WC_LOG_WARNING, "image \"%s\" of the stored tables is not complete: %s", image.path, err->message);
			status = WC_OK;
		}
		*position = list.at[i];
	}
	free(list.at);
	return status == WC_OK && !found ? WC_END : status;
}
