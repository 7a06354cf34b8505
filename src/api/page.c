/*
 * A table made by tools/embed, and the types of its files.
 */
#include "api/page.h"

#include <string.h>

#include "api/page_files.h"

static const struct {
	const char *end, *type;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
};

const struct page_file *page_all(void)
{
	return page_files;
}

const struct page_file *page_find(const char *name)
{
	for (const struct page_file *file = page_files; file->name; file++) {
		if (!strcmp(file->name, name))
			return file;
	}
	return NULL;
}

const char *page_type(const struct page_file *file)
{
	const char *end = strrchr(file->name, '.');

	for (size_t i = 0; end && i < sizeof(types) / sizeof(*types); i++) {
		if (!strcmp(end, types[i].end))
			return types[i].type;
	}
	return "application/octet-stream";
}
