/*
 * Options of policies, placers and admission rules: a table in the module,
 * from which parsing, defaults, range checks, help and documentation come.
 *
 *	struct tiresias { double limit_s; int queues; };
 *	static const struct option options[] = {
 *		OPT_DOUBLE(struct tiresias, limit_s, 3600, 1, 1e9, "GPU-seconds in the first queue"),
 *		OPT_INT(struct tiresias, queues, 2, 1, 16, "number of queues"),
 *		{ 0 }
 *	};
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

enum option_kind { OPTION_DOUBLE, OPTION_INT, OPTION_BOOL, OPTION_CHOICE, OPTION_TEXT };

enum { OPTION_TEXT_MAX = 256 };

struct option {
	const char *name; /* NULL ends the table */
	enum option_kind kind;
	size_t offset;
	double preset;              /* default of numbers, bools and choices (index) */
	double min, max;            /* range of numbers */
	const char *const *choices; /* NULL-terminated, OPTION_CHOICE only */
	const char *text;           /* default of OPTION_TEXT */
	bool file;                  /* OPTION_TEXT: the path of a file that is read; "": none */
	const char *help;
};

#define OPT_DOUBLE(type, field, preset_, min_, max_, help_) \
	{ \
		.name = #field, .kind = OPTION_DOUBLE, .offset = offsetof(type, field), \
		.preset = (preset_), .min = (min_), .max = (max_), .help = (help_) \
	}
#define OPT_INT(type, field, preset_, min_, max_, help_) \
	{ \
		.name = #field, .kind = OPTION_INT, .offset = offsetof(type, field), \
		.preset = (preset_), .min = (min_), .max = (max_), .help = (help_) \
	}
#define OPT_BOOL(type, field, preset_, help_) \
	{ \
		.name = #field, .kind = OPTION_BOOL, .offset = offsetof(type, field), \
		.preset = (preset_), .max = 1, .help = (help_) \
	}
/* The field is an int: the index of the choice. */
#define OPT_CHOICE(type, field, preset_, choices_, help_) \
	{ \
		.name = #field, .kind = OPTION_CHOICE, .offset = offsetof(type, field), \
		.preset = (preset_), .choices = (choices_), .help = (help_) \
	}
/* The field is a char[OPTION_TEXT_MAX]. */
#define OPT_TEXT(type, field, preset_, help_) \
	{ \
		.name = #field, .kind = OPTION_TEXT, .offset = offsetof(type, field), \
		.text = (preset_), .help = (help_) \
	}

/* Writes every default into `self`.  `table` may be NULL: no options. */
void option_defaults(const struct option *table, void *self);

/*
 * Reads "name=value,name=value" over what `self` holds; a bare bool name means 1.
 * All or nothing: on failure `self` is as it was.  Of a name given twice the last counts.
 * Durations may carry units when the option's name ends in _s ("limit_s=1h").
 * Unknown names are ERR_USAGE with the nearest known name; `owner` names the module in messages.
 */
int option_parse(const struct option *table, void *self, const char *owner, const char *text,
	struct err *err);

/* The values of `self` as "name=value,name=value", defaults included: enough to reproduce it. */
void option_format(const struct option *table, const void *self, struct buf *out);

/* The path that `self` has for an option that names a file; NULL: it is no such option, or has none. */
const char *option_file(const struct option *option, const void *self);

/* One value / the default / the range of an option for people, e.g. "3600", "1..1e9", "block|skip". */
void option_value(const struct option *option, const void *self, struct buf *out);
void option_preset(const struct option *option, struct buf *out);
void option_range(const struct option *option, struct buf *out);
/* All of them with meaning, range and default, a line each. */
void option_help(const struct option *table, struct buf *out);

/*
 * Splits a command-line list into "NAME[:options]" items: a comma separates items, except inside the
 * options of one: "fifo,sjf,tiresias:queues=2,limit_s=60" is three items.  Each result is malloc'ed text.
 */
size_t option_split_list(const char *text, char ***items);

#endif
