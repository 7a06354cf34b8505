/*
 * The file is one number in text, and no secret.  What cannot be read counts as
 * no port: the daemon then takes any that is free.
 */
#include "api/port.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

enum { FILE_MAX = 64, PORT_FIRST = 1024 };

uint16_t port_recall(const char *dir)
{
	char *path = path_join(dir, "port");
	struct err ignored = { 0 };
	struct file file;
	int64_t port = 0;

	if (file_read_upto(path, FILE_MAX, &file, &ignored) == 0) {
		struct lines lines = lines_of(file.at, file.n);
		struct slice line;

		if (!lines_next(&lines, &line) || !slice_int(line, &port))
			port = 0;
		file_fini(&file);
	}
	free(path);
	return port >= PORT_FIRST && port <= UINT16_MAX ? (uint16_t)port : 0;
}

int port_remember(const char *dir, uint16_t port, struct err *err)
{
	char *path = path_join(dir, "port"), *text = mem_printf("%u\n", port);
	int rc = file_write_soon(path, text, strlen(text), err);

	free(path);
	free(text);
	return rc;
}
