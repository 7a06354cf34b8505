/*
 * The table of commands, and finding one in it.
 */
#include <string.h>

#include "cli/command.h"

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
	NULL,
};

/* Length of the first word of a name. */
static size_t first_word(const char *name)
{
	return strcspn(name, " ");
}

static bool begins(const struct command *command, const char *word)
{
	size_t n = first_word(command->name);

	return strlen(word) == n && !strncmp(command->name, word, n);
}

bool command_is_family(const char *word)
{
	for (size_t i = 0; commands[i]; i++)
		if (strchr(commands[i]->name, ' ') && begins(commands[i], word))
			return true;
	return false;
}

/* The second words of a family, or the first words of all: what could have been meant. */
static size_t candidates(const char *family, struct arena *memory, struct words *out)
{
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		size_t n = first_word(name);

		if (!family)
			vec_push(out, arena_strndup(memory, name, n));
		else if (begins(commands[i], family))
			vec_push(out, name + n + 1);
	}
	return out->n;
}

static const struct command *not_found(const char *family, const char *word, struct err *err)
{
	const char *space = family ? " " : "";
	struct words known = { 0 };
	struct arena memory = { 0 };
	int nearest;

	candidates(family, &memory, &known);
	nearest = text_nearest(word, known.at, known.n);
	family = family ? family : "";
	if (nearest >= 0)
		err_set(err, ERR_USAGE, "there is no command '%s%s%s'; did you mean '%s%s%s'?",
			family, space, word, family, space, known.at[nearest]);
	else
		err_set(err, ERR_USAGE, "there is no command '%s%s%s'", family, space, word);
	vec_fini(&known);
	arena_fini(&memory);
	return NULL;
}

const struct command *command_find(int argc, char **argv, int *words, struct err *err)
{
	bool family = command_is_family(argv[0]);

	if (family && argc < 2) {
		err_set(err, ERR_USAGE, "'%s' wants one more word; 'stint help %s' lists them",
			argv[0], argv[0]);
		return NULL;
	}
	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;

		if (!begins(commands[i], argv[0]))
			continue;
		if (!family || !strcmp(name + first_word(name) + 1, argv[1])) {
			*words = family ? 2 : 1;
			return commands[i];
		}
	}
	return family ? not_found(argv[0], argv[1], err) : not_found(NULL, argv[0], err);
}
