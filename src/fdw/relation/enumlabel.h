/*
 * fdw/relation/enumlabel.h: enum values that were renamed keep the bytes they are stored as.
 *
 * A cell, or a part of the key, has an enum's label.  When ALTER TYPE renames a label, each column that has the type gets an
 * entry in its option `labels`: the new label is stored as the old one.
 */
#ifndef WC_FDW_RELATION_ENUMLABEL_H
#define WC_FDW_RELATION_ENUMLABEL_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "fdw/relation/relation.h"

/* Raises 22023 unless they are labels of enums in the column's type and no two are stored alike. */
extern void wc_enum_labels_check(const WcRelation *wrel, const WcRelColumn *col, const List *labels);

/* Around ALTER TYPE ... ADD VALUE, RENAME VALUE: locks the foreign tables with columns of the type, then
 * gives these columns their option. */
extern void wc_enum_labels_before(const AlterEnumStmt *stmt);
extern void wc_enum_labels_after(const AlterEnumStmt *stmt);

#endif
