/*
 * fdw/dump/shown.c: which cells of a stored table foreign tables show, so that their own rows
 * bring them back.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_foreign_table.h"
#include "utils/fmgroids.h"

#include "client/client.h"
#include "client/foreign/foreign.h"
#include "fdw/dump/dump.h"
#include "fdw/relation/recordtype.h"

typedef struct WcView
{
	Relation	rel;
	WcRelation *wrel;
	bool		cells;			/* layout cell, with all columns that make a cell ... */
	bool		newest;			/* ... or all but its timestamp, so that one version comes back */
	bool		dumped;			/* its rows are in the same dump */
} WcView;

struct WcShown
{
	int			nviews;
	WcView	   *views;
};

static bool
is_visible(Oid relid, Snapshot snapshot)
{
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	bool		visible;

	ScanKeyInit(&key, Anum_pg_foreign_table_ftrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, ForeignTableRelidIndexId, true, snapshot, 1, &key);
	visible = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return visible;
}

WcShown *
wc_shown_open(const WcTableDesc *desc, Oid server, Snapshot snapshot)
{
	List	   *relids = wc_foreign_tables_of(InvalidOid, wc_client_table_fullname(desc));
	WcShown    *shown = palloc0(sizeof(WcShown));
	ListCell   *lc;

	shown->views = palloc0(sizeof(WcView) * (list_length(relids) + 1));
	foreach(lc, relids)
	{
		WcView	   *view = &shown->views[shown->nviews];

		if (!is_visible(lfirst_oid(lc), snapshot))
			continue;
		shown->nviews++;
		view->rel = table_open(lfirst_oid(lc), AccessShareLock);
		view->wrel = wc_relation_open(view->rel);
		view->cells = wc_relation_shows_cells(view->wrel);
		view->newest = !view->cells && wc_relation_names_cells(view->wrel);
		view->dumped = GetForeignTable(lfirst_oid(lc))->serverid == server;
	}
	return shown;
}

void
wc_shown_close(WcShown *shown)
{
	for (int i = 0; i < shown->nviews; i++)
	{
		wc_relation_close(shown->views[i].wrel);
		table_close(shown->views[i].rel, NoLock);
	}
	shown->nviews = 0;
}

static bool
maps_family(const WcRelation *wrel, uint32 family)
{
	for (int i = 0; i < wrel->natts; i++)
		if (wrel->columns[i].family_name != NULL && wrel->columns[i].family == family)
			return true;
	return wrel->default_family == family;
}

WcShownFamily
wc_shown_family(const WcShown *shown, uint32 family)
{
	WcShownFamily found = WC_SHOWN_NOT;

	for (int i = 0; i < shown->nviews; i++)
	{
		const WcView *view = &shown->views[i];

		if (view->wrel->cell_versions == 0 && wc_relation_shows_whole_cells(view->wrel))
		{
			/* a restore of another server's brings the same cells again, which changes nothing */
			if (view->dumped)
				return WC_SHOWN_WHOLLY;
			continue;
		}
		if (view->cells || view->newest || (view->wrel->layout == WC_LAYOUT_ROW && maps_family(view->wrel, family)))
			found = WC_SHOWN_PARTLY;
	}
	return found;
}

static int
versions_of(const WcRelation *wrel, const WcRelColumn *col, uint32 family, WcSlice qualifier)
{
	if (col->family_name == NULL || col->family != family)
		return 0;
	switch (col->role)
	{
		case WC_ROLE_VALUE:
		case WC_ROLE_KEY:
			return wc_slice_eq(col->qualifier, qualifier) ? 1 : 0;
		case WC_ROLE_VERSIONS:
			return wc_slice_eq(col->qualifier, qualifier) ? col->versions : 0;
		case WC_ROLE_MAP:
		case WC_ROLE_PREFIX_MAP:
			return wc_slice_starts_with(qualifier, col->qualifier) && !wc_relation_declares(wrel, family, qualifier) ? 1 : 0;
		default:
			return 0;
	}
}

int
wc_shown_versions(const WcShown *shown, WcSlice row, uint32 family, WcSlice qualifier, WcSlice value)
{
	int			most = 0;

	for (int i = 0; i < shown->nviews; i++)
	{
		const WcView *view = &shown->views[i];
		int			versions = 0;

		if (!view->dumped)
			continue;
		if (view->cells)
			versions = view->wrel->cell_versions > 0 ? view->wrel->cell_versions : PG_INT32_MAX;
		else if (view->newest)
			versions = 1;
		else if (view->wrel->layout == WC_LAYOUT_ROW)
		{
			/* the marker of a row without values */
			if (family == view->wrel->default_family && qualifier.len == 0 && value.len == 0)
				versions = 1;
			for (int c = 0; c < view->wrel->natts; c++)
				versions = Max(versions, versions_of(view->wrel, &view->wrel->columns[c], family, qualifier));
		}
		if (versions > most && wc_recordtype_matches(view->wrel, row))
			most = versions;
	}
	return most;
}
