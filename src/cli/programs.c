#include "cli/programs.h"

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

static char *find_for(const char *path, const char *name, const char *variable)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;
	const char *told = getenv(variable);
	char *found = if_program(mem_printf("%.*s/%s", n, path, name));

	if (!found)
		found = if_program(mem_printf("%.*s/../libexec/stint/%s", n, path, name));
	if (!found && told && *told)
		found = if_program(mem_strdup(told));
	return found;
}

char *program_find(const char *name, const char *variable)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n < 0 ? 0 : n] = '\0';
	return find_for(path, name, variable);
}

char *guard_find_for(const char *path)
{
	return find_for(path, "stint-guard", "STINT_GUARD");
}

char *guard_find(void)
{
	return program_find("stint-guard", "STINT_GUARD");
}
