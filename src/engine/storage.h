/*
 * engine/storage.h: the engine's functions for reads (read/storage.h).
 */
#ifndef WC_ENGINE_STORAGE_H
#define WC_ENGINE_STORAGE_H

#include "read/storage.h"

extern const WcStorageOps wc_engine_storage_ops;

#endif
