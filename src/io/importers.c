/*
 * The table of trace formats.
 */
#include <string.h>

#include "io/trace_io.h"

#define IMPORTER(name) extern const struct importer importer_##name;
#include "io/importers.def"
#undef IMPORTER

#define IMPORTER(name) &importer_##name,
const struct importer *const importers[] = {
#include "io/importers.def"
	NULL
};
#undef IMPORTER

enum { IMPORTERS = sizeof(importers) / sizeof(importers[0]) - 1 };

const struct importer *importer_find(const char *name, struct err *err)
{
	const char *names[IMPORTERS];
	struct buf list = { 0 };
	int near;

	for (size_t i = 0; i < IMPORTERS; i++) {
		names[i] = importers[i]->name;
		if (strcmp(names[i], name) == 0)
			return importers[i];
		buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	near = text_nearest(name, names, IMPORTERS);
	if (near >= 0)
		err_set(err, ERR_USAGE, "no trace format '%.60s'; did you mean '%s'?", name,
			names[near]);
	else
		err_set(err, ERR_USAGE, "no trace format '%.60s'; there are %s", name, list.at);
	buf_fini(&list);
	return NULL;
}
