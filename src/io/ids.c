/*
 * Whether an id was seen before.
 */
#include "io/ids.h"

#include <string.h>

void ids_fini(struct ids *ids)
{
	names_fini(&ids->table);
	*ids = (struct ids){ 0 };
}

/* A number written the one usual way, so that equal numbers are equal texts; else -1. */
static int64_t number_of(struct slice id)
{
	int64_t x = 0;

	if (!id.n || id.n > 18 || (*id.at == '0' && id.n > 1))
		return -1;
	for (size_t i = 0; i < id.n; i++) {
		if (id.at[i] < '0' || id.at[i] > '9')
			return -1;
		x = x * 10 + (id.at[i] - '0');
	}
	return x;
}

static void build(struct ids *ids, const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->njobs; i++)
		names_add(&ids->table, trace->jobs[i].label, strlen(trace->jobs[i].label));
	ids->tabled = true;
}

bool ids_add(struct ids *ids, const struct trace *trace, struct slice id)
{
	if (!ids->tabled) {
		int64_t number = number_of(id);

		if (number > ids->last || (number == 0 && trace->njobs == 0)) {
			ids->last = number;
			return true;
		}
		build(ids, trace);
	}
	return names_add(&ids->table, id.at, id.n) == trace->njobs;
}

uint32_t ids_find(struct ids *ids, const struct trace *trace, struct slice id)
{
	uint32_t i;

	if (!ids->tabled)
		build(ids, trace);
	i = names_find(&ids->table, id.at, id.n);
	return i < trace->njobs ? i : JOB_NONE;
}
