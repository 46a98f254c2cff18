/*
 * engine/rocks/image.h: images: complete copies of the store in files, as of a position of the log.
 *
 * A backup of the cluster copies images, and never the live database, whose files change during the backup.  The
 * store's directory has
 *
 *    sst/NUMBER.sst          table files of all images, each once: hard links of the live ones
 *    image-POSITION/         the other files, and FILES, which is written last
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
 * The newest complete image: all files that it names exist and have their sizes.  Incomplete images are logged.  WC_END:
 * there is no complete one.
 */
extern WcStatus wc_image_newest(const char *path, uint64_t *position, WcError *err) WC_WARN_UNUSED;

/*
 * Builds an image of the database, without a name yet: an unfinished one is removed first.  Nothing is
 * flushed: changes that are not in table files yet are in the database's log, a copy of which is in the image.
 * The store's file ID is copied too.  Durable but for its name.
 */
extern WcStatus wc_image_build(const char *path, rocksdb_t *db, WcError *err) WC_WARN_UNUSED;

/* Gives the image that was built its position, and replaces an existing image of that position.  Durable when it
 * returns. */
extern WcStatus wc_image_install(const char *path, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Replaces the live database, which must be closed, by an image, as if it had been closed in
 * order (identity.h).  Newer images go. */
extern WcStatus wc_image_restore(const char *path, uint64_t position, WcError *err) WC_WARN_UNUSED;

/* Moves the files of a live database that are in `path` itself into the live directory: for stores from before there
 * were images.  WC_OK also if there is nothing to move; continues a move that a crash interrupted. */
extern WcStatus wc_image_adopt_live(const char *path, WcError *err) WC_WARN_UNUSED;

/* Removes images older than the `keep` newest, and table files that no image names.  An
 * image younger than min_age seconds is kept.  Also removes the rest of an image whose removal a crash interrupted. */
extern WcStatus wc_image_prune(const char *path, unsigned keep, int64_t min_age, WcError *err) WC_WARN_UNUSED;

#endif
