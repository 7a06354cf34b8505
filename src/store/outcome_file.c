#include "store/outcome_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Differs where the memory of one build means nothing to another. */
struct shape {
	char version[32];
	uint32_t outcome, job, sample, span;
};

static struct shape shape_of_this(void)
{
	struct shape shape = { "", sizeof(struct outcome), sizeof(struct job),
		sizeof(struct sample), sizeof(struct span) };

	strncpy(shape.version, STINT_VERSION, sizeof(shape.version) - 1);
	return shape;
}

static void pack(struct buf *out, const void *at, size_t n, size_t size)
{
	if (n)
		buf_add(out, at, n * size);
}

/* A job without what lives elsewhere. */
static void pack_job(const struct job *job, struct buf *out)
{
	struct job bare = *job;

	bare.label = bare.name = NULL;
	bare.gpus_by_type = NULL;
	bare.units = NULL;
	bare.adapts = NULL;
	bare.avoid = NULL;
	bare.navoid = 0;
	bare.grant = NULL;
	buf_add(out, (const char *)&bare, sizeof(bare));
}

void outcome_pack(const struct outcome *outcome, struct buf *out)
{
	struct shape shape = shape_of_this();
	struct outcome bare = *outcome;

	bare.jobs = NULL;
	bare.samples = NULL;
	bare.spans = NULL;
	for (uint32_t i = 0; i < FIGURES_MAX; i++)
		bare.figures[i].name = NULL;
	buf_add(out, (const char *)&shape, sizeof(shape));
	buf_add(out, (const char *)&bare, sizeof(bare));
	for (uint32_t i = 0; i < outcome->njobs; i++)
		pack_job(&outcome->jobs[i], out);
	pack(out, outcome->samples, outcome->nsamples, sizeof(*outcome->samples));
	pack(out, outcome->spans, outcome->nspans, sizeof(*outcome->spans));
	for (uint32_t i = 0; i < outcome->nfigures; i++)
		buf_add(out, outcome->figures[i].name, strlen(outcome->figures[i].name) + 1);
}

static bool take(struct slice *from, void *out, size_t n, size_t size)
{
	if (size && n > from->n / size)
		return false;
	if (n)
		memcpy(out, from->at, n * size);
	*from = (struct slice){ from->at + n * size, from->n - n * size };
	return true;
}

/* An array of its own; NULL (and false) if there is not so much. */
static bool take_array(struct slice *from, void **out, size_t n, size_t size)
{
	*out = NULL;
	if (n > from->n / size)
		return false;
	*out = mem_alloc(n ? n * size : 1);
	return take(from, *out, n, size);
}

static bool take_names(struct slice *from, struct names *names, struct outcome *o)
{
	for (uint32_t i = 0; i < o->nfigures; i++) {
		const char *end = from->n ? memchr(from->at, '\0', from->n) : NULL;
		uint32_t at;

		if (!end)
			return false;
		at = names_add(names, from->at, (size_t)(end - from->at));
		o->figures[i].name = names->at[at];
		*from = (struct slice){ end + 1, (size_t)(from->at + from->n - end - 1) };
	}
	return true;
}

static bool take_all(struct slice *from, struct names *names, struct outcome *o)
{
	bool whole = take_array(from, (void **)&o->jobs, o->njobs, sizeof(*o->jobs));

	whole = whole && take_array(from, (void **)&o->samples, o->nsamples, sizeof(*o->samples));
	whole = whole && take_array(from, (void **)&o->spans, o->nspans, sizeof(*o->spans));
	return whole && take_names(from, names, o) && !from->n;
}

int outcome_unpack(struct slice bytes, const struct trace *trace, struct names *names,
	struct outcome *out, struct err *err)
{
	struct shape mine = shape_of_this(), theirs;
	struct outcome o = { 0 };

	if (!take(&bytes, &theirs, 1, sizeof(theirs)) || memcmp(&mine, &theirs, sizeof(mine)) != 0)
		return err_set(err, ERR_FORMAT,
			"written by another build of stint: use the same program everywhere");
	if (!take(&bytes, &o, 1, sizeof(o)) || o.nfigures > FIGURES_MAX || o.njobs != trace->njobs)
		return err_set(err, ERR_FORMAT, "cut short, or of another workload");
	if (!take_all(&bytes, names, &o)) {
		outcome_fini(&o);
		return err_set(err, ERR_FORMAT, "cut short");
	}
	for (uint32_t i = 0; i < o.njobs; i++) {
		o.jobs[i].label = trace->jobs[i].label;
		o.jobs[i].name = trace->jobs[i].name;
	}
	*out = o;
	return 0;
}
