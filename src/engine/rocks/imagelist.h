/*
 * engine/rocks/imagelist.h: the images of a store, and the files of an image.
 *
 * For image.c.  FILES, in an image's directory, lists the image's files: the head, "name size" a line, "end".
 */
#ifndef WC_ENGINE_ROCKS_IMAGELIST_H
#define WC_ENGINE_ROCKS_IMAGELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/status.h"

#define WC_IMAGE_POOL	"sst"
#define WC_IMAGE_FILES	"FILES"
#define WC_IMAGE_FILES_HEAD	"widecol image 1\n"
#define WC_IMAGE_FILES_END	"end\n"

#define WC_IMAGE_NAME_SIZE		32	/* "image-" and 16 digits */
#define WC_IMAGE_FILE_NAME_SIZE	256

typedef struct WcImage
{
	uint64_t	position;
	char		name[WC_IMAGE_NAME_SIZE];
	char		path[WC_PATH_MAX];
} WcImage;

/* The positions of images. */
typedef struct WcImagePositions
{
	uint64_t   *at;				/* newest first, once sorted */
	size_t		n;
	size_t		cap;
} WcImagePositions;

/* Sets *image to the image of this position, whether it exists or not. */
extern WcStatus wc_image_at(WcImage *image, const char *path, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* All images, complete or not.  The caller frees p->at, also after an error. */
extern WcStatus wc_image_list(const char *path, WcImagePositions *p, WcError *err) WC_WARN_UNUSED;

/* Calls fn for each file that FILES names.  WC_CORRUPT: FILES is not there or not whole. */
extern WcStatus wc_image_each_file(const WcImage *image,
								   WcStatus (*fn) (void *arg, const char *name, int64_t size, WcError *err),
								   void *arg, WcError *err) WC_WARN_UNUSED;

/* The path of an image's file: table files are in the pool. */
extern WcStatus wc_image_place(char *buf, const char *path, const WcImage *image, const char *name, WcError *err) WC_WARN_UNUSED;

/* Is this the name of one of RocksDB's table files? */
extern bool wc_image_is_table_file(const char *name);

#endif
