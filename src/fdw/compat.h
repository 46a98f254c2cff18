/*
 * fdw/compat.h: where PostgreSQL's planner interface differs between versions.
 */
#ifndef WC_FDW_COMPAT_H
#define WC_FDW_COMPAT_H

#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/selfuncs.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM >= 170000
#define wc_make_foreign_path(root, rel, rows, startup, total, pathkeys, outer, private_) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, outer, NULL, NIL, private_)
#define wc_estimate_array_length(root, node) estimate_array_length(root, node)
#else
#define wc_make_foreign_path(root, rel, rows, startup, total, pathkeys, outer, private_) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, pathkeys, outer, NULL, private_)
#define wc_estimate_array_length(root, node) ((double) estimate_array_length(node))
#endif

#if PG_VERSION_NUM >= 160000
#define wc_expression_pathkey(root, expr, opno, rel) \
	build_expression_pathkey(root, expr, opno, (rel)->relids, false)
#else
#define wc_expression_pathkey(root, expr, opno, rel) \
	build_expression_pathkey(root, expr, NULL, opno, (rel)->relids, false)
#endif

#endif
