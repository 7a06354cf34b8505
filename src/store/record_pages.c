/*
 * How large the file of the record is, and writing it anew without free pages.
 */
#include <assert.h>

#include "store/record_parts.h"
#include "store/record_prune.h"

int record_size(struct record *record, struct record_size *out, struct err *err)
{
	static const char *const asks[] = { "PRAGMA page_count", "PRAGMA freelist_count",
		"PRAGMA page_size", "PRAGMA auto_vacuum" };
	int64_t numbers[4] = { 0 };

	for (int i = 0; i < 4; i++) {
		sqlite3_stmt *st = NULL;

		if (sqlite3_prepare_v2(record->db, asks[i], -1, &st, NULL) != SQLITE_OK ||
			sqlite3_step(st) != SQLITE_ROW) {
			int rc = record_failed(record->db, record->path, "read", err);

			sqlite3_finalize(st);
			return rc;
		}
		numbers[i] = sqlite3_column_int64(st, 0);
		sqlite3_finalize(st);
	}
	*out = (struct record_size){ numbers[0] * numbers[2], numbers[1] * numbers[2], numbers[3] == 2 };
	return 0;
}

int record_vacuum(struct record *record, struct err *err)
{
	static const char *const steps[] = {
		"PRAGMA temp_store = FILE", /* it is as large as the record */
		"PRAGMA auto_vacuum = INCREMENTAL",
		"VACUUM",
		"PRAGMA wal_checkpoint(TRUNCATE)",
		"PRAGMA temp_store = MEMORY",
	};

	assert(!record->readonly && !record->writing);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (sqlite3_exec(record->db, steps[i], NULL, NULL, NULL) != SQLITE_OK)
			return record_failed(record->db, record->path, "rewrite", err);
	}
	return 0;
}
