/*
 * Sizes of past jobs.
 */
#include "policy/order/sizes.h"

#include "base/file.h"

const char *const index_names[] = { "textbook", "published", NULL };

static int read_history(struct sizes *sizes, struct err *err)
{
	struct file file;
	struct lines lines;
	struct slice line;
	int rc = 0;

	if (file_read(sizes->history, &file, err) < 0)
		return err_prefix(err, "history");
	lines = lines_of(file.at, file.n);
	while (rc == 0 && lines_next(&lines, &line)) {
		double size;

		if (slice_trim(line).n == 0)
			continue;
		if (slice_double(line, &size) && size >= 0)
			history_add(&sizes->known, size);
		else if (lines.number > 1) /* the first line may be a heading */
			rc = err_set(err, ERR_FORMAT,
				"%s:%zu: '%.*s' is not a size; give GPU-seconds, one per line",
				sizes->history, lines.number, (int)(line.n < 40 ? line.n : 40),
				line.at);
	}
	file_fini(&file);
	history_sort(&sizes->known, true);
	if (rc == 0 && sizes->known.sizes.n == 0)
		rc = err_set(err, ERR_FORMAT, "%s: no sizes in it; give GPU-seconds, one per line",
			sizes->history);
	return rc;
}

int sizes_init(struct sizes *sizes, struct err *err)
{
	if (sizes->index == INDEX_PUBLISHED && sizes->quantum_s == 0)
		return err_set(err, ERR_USAGE,
			"index=published needs a quantum: give quantum_s=3250, say, or index=textbook");
	return *sizes->history ? read_history(sizes, err) : 0;
}

void sizes_fini(struct sizes *sizes)
{
	history_fini(&sizes->known);
}

void sizes_learn(struct sizes *sizes, const struct round *round)
{
	if (*sizes->history)
		return;
	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];

		if (job->state == JOB_FINISHED)
			history_add(&sizes->known, job->served_s);
	}
	history_sort(&sizes->known, false);
}

double sizes_index(const struct sizes *sizes, double served_s)
{
	if (sizes->index == INDEX_PUBLISHED)
		return gittins_index_published(&sizes->known, floor(served_s), sizes->quantum_s);
	return gittins_index(&sizes->known, served_s, sizes->quantum_s);
}
