/*
 * fdw/relation/enumlabel.h: enum values that were renamed keep the bytes they are stored as.
 *
 * A cell, or a part of the key, holds an enum's label.  When ALTER TYPE renames one, each column that
 * has the type gets, in its option `labels`, what the label is stored as: what it was.
 */
#ifndef WC_FDW_RELATION_ENUMLABEL_H
#define WC_FDW_RELATION_ENUMLABEL_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "fdw/relation/relation.h"

/* The option's value, a JSON object of labels and what they are stored as: List of WcLabel *. */
extern List *wc_enum_labels_parse(const char *json);

/* Raises 22023 unless they are labels of enums in the column's type and no two are stored alike. */
extern void wc_enum_labels_check(const WcRelation *wrel, const WcRelColumn *col, const List *labels);

/* Around ALTER TYPE ... ADD VALUE, RENAME VALUE: locks the foreign tables with columns of the type, then
 * gives these columns their option. */
extern void wc_enum_labels_before(const AlterEnumStmt *stmt);
extern void wc_enum_labels_after(const AlterEnumStmt *stmt);

#endif
