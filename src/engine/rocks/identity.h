/*
 * engine/rocks/identity.h: the cluster to which a store belongs, and whether the store is complete.
 *
 * Three small files tell this (engine/README, "Identity"): ID and OWNER in the store's directory, and the record, a
 * file of the cluster outside of this directory.  A wrong store is refused before anything is changed.
 */
#ifndef WC_ENGINE_ROCKS_IDENTITY_H
#define WC_ENGINE_ROCKS_IDENTITY_H

#include "base/status.h"
#include "engine/engine.h"

/* The file that names the store, in its directory. */
#define WC_FILE_ID "ID"

typedef enum WcOwnerState
{
	WC_OWNER_NEW,				/* the store is being made and was never in use */
	WC_OWNER_OPEN,				/* in use, or the engine crashed */
	WC_OWNER_CLOSED
} WcOwnerState;

/* The content of OWNER. */
typedef struct WcOwner
{
	WcOwnerState state;
	uint64_t	inode;			/* OWNER's own */
	uint64_t	record_inode;	/* the record's; 0: there was none */
	uint64_t	synced;			/* the log was on disk at least up to this commit */
} WcOwner;

/* How a directory is to be opened. */
typedef enum WcOpening
{
	WC_OPEN_AS_IS,
	WC_OPEN_NEW,				/* there is no store yet */
	WC_OPEN_ADOPT,				/* one from before there were identities */
	WC_OPEN_ACCEPT				/* one that does not fit, and is accepted */
} WcOpening;

typedef struct WcIdentity
{
	char	   *path;			/* the store's directory */
	char	   *record;
	uint64_t	cluster;
	uint32_t	store;			/* its id; 0: not known yet */
	int			owner_fd;		/* OWNER, locked; -1: none yet */
	WcOwner		owner;
	WcOpening	opening;
	bool		restorable;		/* refused, and an image of the store would do */
	bool		images;			/* there may be images beside the directory */
} WcIdentity;

/*
 * Only reads.  WC_OK: identity->opening tells how to open the store.  Otherwise the store must not be opened; err names
 * the file that is missing or wrong.
 */
extern WcStatus wc_identity_check(WcIdentity *identity, const WcEngineOptions *options, WcError *err) WC_WARN_UNUSED;

/* Is the store's log all there, if commit `applied` is the last that was found? */
extern WcStatus wc_identity_check_log(const WcIdentity *identity, uint64_t applied, WcError *err) WC_WARN_UNUSED;

/* Adds a hint to an error of RocksDB. */
extern void wc_identity_hint(const WcIdentity *identity, WcError *err);

/* Called before the database is opened for writing: makes the directory of a new store, or notes in OWNER that an
 * existing store is in use. */
extern WcStatus wc_identity_begin(WcIdentity *identity, const WcEngineOptions *options, WcError *err) WC_WARN_UNUSED;

/* When it is open: a store that is new, or was adopted or accepted, gets an id. */
extern WcStatus wc_identity_settle(WcIdentity *identity, uint64_t applied, WcError *err) WC_WARN_UNUSED;

/* Removes OWNER: the next opening does not take the store for the cluster's any more. */
extern WcStatus wc_identity_disown(const WcIdentity *identity, WcError *err) WC_WARN_UNUSED;

/* Remembers that the log is on disk up to a commit.  Not on disk itself before the
 * system likes to, so it may be forgotten, but never says too much.  One thread at a
 * time. */
extern void wc_identity_synced(WcIdentity *identity, uint64_t position);

/* Writes an OWNER into a directory that says what a copy of a store closed in order says. */
extern WcStatus wc_identity_write_closed(const char *path, WcError *err) WC_WARN_UNUSED;

/* The end; closed: the database was closed in order. */
extern void wc_identity_release(WcIdentity *identity, bool closed);

#endif
