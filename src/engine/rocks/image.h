/*
 * engine/rocks/image.h: images: complete pictures of the store in files, as of a position of the log.
 *
 * A backup of the cluster copies images and never the live database, whose files change
 * meanwhile.  All is in one directory, the store's:
 *
 *    sst/NUMBER.sst          table files of all images, each once: hard links of the live ones
 *    image-POSITION/         what is not a table file, and FILES, which is written last
 *    pgsql_tmp.live/         the live database; backups leave names out that begin with pgsql_tmp
 *    pgsql_tmp.building/     an image being made
 *
 * POSITION has 16 hexadecimal digits.  engine/README, "Images", has the rest.  One thread at a
 * time.
 */
#ifndef WC_ENGINE_ROCKS_IMAGE_H
#define WC_ENGINE_ROCKS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <rocksdb/c.h>

#include "base/status.h"
#include "engine/engine.h"

/*
 * The newest image that is complete: all files that it names are there and have their
 * sizes.  Those that are not are told of in the log.  WC_END: there is none.
 */
extern WcStatus wc_image_newest(const char *path, uint64_t *position, WcError *err) WC_WARN_UNUSED;

/*
 * Builds an image of the database, without a name yet: an unfinished one that is there goes.
 * Nothing is flushed: what table files do not have yet comes from the database's log, a
 * copy of which is in the image.  The store's file ID comes along.  Durable but for its name.
 */
extern WcStatus wc_image_build(const char *path, rocksdb_t *db, WcError *err) WC_WARN_UNUSED;

/* Gives the image that was built its position; durable when it returns.  One of that position
 * that is there is replaced. */
extern WcStatus wc_image_install(const char *path, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Replaces the live database, which must be closed, by an image, as if it had been closed in
 * order (identity.h).  Newer images go. */
extern WcStatus wc_image_restore(const char *path, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Moves the files of a live database that are in path itself to where it has to be: stores of
 * before there were images.  Nothing to do is no error; goes on with what a crash interrupted. */
extern WcStatus wc_image_adopt_live(const char *path, WcError *err) WC_WARN_UNUSED;

/* Removes images older than the `keep` newest, and table files that no image names.  An
 * image younger than min_age seconds stays.  What is left of an image whose removal a crash has interrupted goes. */
extern WcStatus wc_image_prune(const char *path, unsigned keep, int64_t min_age, WcError *err) WC_WARN_UNUSED;

#endif
