/*
 * The table of trace formats.
 */
#include <string.h>

#include "base/lookup.h"
#include "io/header.h"
#include "io/trace_io.h"

#define IMPORTER(name) extern const struct importer importer_##name;
#include "io/importers.def"
#undef IMPORTER

#define IMPORTER(name) &importer_##name,
const struct importer *const importers[] = {
#include "io/importers.def"
	NULL,
};
#undef IMPORTER

enum { IMPORTERS = sizeof(importers) / sizeof(importers[0]) - 1 };

enum { SURE_BY_HEADER = 95 };

int importer_sure(const struct importer *importer, struct slice head, const char *path)
{
	if (importer->recognise)
		return importer->recognise(head, path);
	return header_match(head, importer->header) > 0 ? SURE_BY_HEADER : 0;
}

const struct importer *importer_find(const char *name, struct err *err)
{
	const char *names[IMPORTERS];

	for (size_t i = 0; i < IMPORTERS; i++) {
		names[i] = importers[i]->name;
		if (strcmp(names[i], name) == 0)
			return importers[i];
	}
	lookup_failed("trace format", name, names, IMPORTERS, "stint trace formats", err);
	return NULL;
}
