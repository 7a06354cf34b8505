/*
 * Policies, placers and admission rules seen as one kind of thing: a name
 * with options.  Checks what a person asked for before anything runs, and
 * lists the tables.
 */
#ifndef CLI_RULES_H
#define CLI_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/option.h"

struct rule {
	const char *name, *summary;
	const char *origin; /* NULL: none stated */
	const char *family; /* NULL: the kind has none */
	unsigned traits;    /* enum policy_traits; POLICY_RANDOM is set for placers too */
	const struct option *options;
	size_t state_size;
	int (*init)(void *self, struct err *err);
	void (*fini)(void *self);
};

struct rule_kind {
	const char *word;   /* "policy" */
	const char *plural; /* "policies": also the verb */
	const char *flag;   /* "policy" of --policy */
	const char *preset; /* used when none is named */
	/* The i-th of the table; false past its end. */
	bool (*at)(size_t i, struct rule *out);
	/* By name; ERR_USAGE with "did you mean". */
	int (*find)(const char *name, struct rule *out, struct err *err);
};

extern const struct rule_kind rules_policy, rules_placer, rules_admission;

/* What "NAME[:options]" means. */
struct chosen {
	char *label; /* as it was written */
	char *full;  /* with every option, defaults included */
	bool random; /* draws from the generator */
};

/*
 * Checks name and options, alone and together; a file that an option names (its help
 * begins with "file") and that is not there is ERR_MISSING.  `text` NULL: the preset.
 * Release with chosen_fini().
 */
int rule_choose(const struct rule_kind *kind, const char *text, struct chosen *out, struct err *err);
void chosen_fini(struct chosen *chosen);

#endif
