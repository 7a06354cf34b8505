#include "cli/guard_path.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Takes `path`; returns it without links and dots if it is a program. */
static char *if_program(char *path)
{
	char *real = is_program(path) ? realpath(path, NULL) : NULL;

	free(path);
	return real;
}

char *guard_find_for(const char *path)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;
	const char *told = getenv("STINT_GUARD");
	char *found = if_program(mem_printf("%.*s/stint-guard", n, path));

	if (!found)
		found = if_program(mem_printf("%.*s/../libexec/stint/stint-guard", n, path));
	if (!found && told && *told)
		found = if_program(mem_strdup(told));
	return found;
}

char *guard_find(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = '\0';
	return guard_find_for(path);
}
