#include "cli/html_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/ui.h"
#include "report/html.h"

/* Whether `path` names a file in the directory that is being written. */
static bool lies_in(const char *path, const struct run_dir *dir)
{
	char *report, *parent, *real;
	bool same;

	if (!dir || !dir->path)
		return false;
	report = path_base(path) == path ? mem_strdup(".")
					 : mem_strndup(path, (size_t)(path_base(path) - path));
	while (strlen(report) > 1 && report[strlen(report) - 1] == '/')
		report[strlen(report) - 1] = '\0';
	parent = realpath(report, NULL);
	real = realpath(dir->path, NULL);
	same = parent && real ? !strcmp(parent, real) : !strcmp(report, dir->path);
	free(report);
	free(parent);
	free(real);
	return same;
}

int html_file_open(struct html_file *f, const char *path, const struct run_dir *dir, struct err *err)
{
	*f = (struct html_file){ 0 };
	if (!path)
		return 0;
	if (lies_in(path, dir)) {
		if (strcmp(path_base(path), RUN_REPORT) != 0)
			return err_set(err, ERR_USAGE,
				"the report inside --out is called " RUN_REPORT
				": name it so, or put %s elsewhere",
				path_base(path));
		f->inside = dir;
		return 0;
	}
	return outfile_open(&f->file, path, err);
}

int html_file_write(struct html_file *f, const struct buf *text, struct err *err)
{
	if (f->inside)
		return run_dir_write(f->inside, RUN_REPORT, text, err);
	fwrite(text->at, 1, text->n, f->file.to); /* commit sees a failure */
	return outfile_commit(&f->file, err);
}

void html_file_abandon(struct html_file *f)
{
	outfile_abandon(&f->file);
}

void add_grouped(struct buf *out, uint64_t number)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf_char(out, ',');
		buf_char(out, digits[i]);
	}
}

void trace_title(const struct trace *trace, struct buf *out)
{
	buf_printf(out, "%s (%s, ", trace->source, trace->format ? trace->format : "generated");
	add_grouped(out, trace->njobs);
	buf_str(out, trace->njobs == 1 ? " job)" : " jobs)");
}

/* The lines of notes as an array of texts; all in `memory`. */
static size_t note_lines(const struct workload *workload, const char *first, struct arena *memory,
	const char ***out)
{
	const struct notes *notes = &workload->notes;
	const char **lines = arena_array(memory, const char *, notes->n + 1);
	struct buf line = { 0 };
	size_t n = 0;

	if (first)
		lines[n++] = first;
	for (size_t i = 0; i < notes->n; i++) {
		buf_clear(&line);
		ui_note(workload->source, &notes->at[i], &line);
		lines[n++] = arena_strndup(memory, line.at, line.n - 1); /* without the newline */
	}
	buf_fini(&line);
	*out = lines;
	return n;
}

static void title_of(const struct setup *setup, struct buf *out)
{
	const char *trace = path_base(setup->base.source);

	if (setup->npairings == 1)
		buf_printf(out, "%s on %s", setup->pairings[0].label, trace);
	else if (setup->policies.n == 1)
		buf_printf(out, "%s with %zu placers on %s", setup->policies.at[0].label,
			setup->placers.n, trace);
	else if (setup->placers.n == 1)
		buf_printf(out, "%zu policies on %s", setup->policies.n, trace);
	else
		buf_printf(out, "%zu policies with %zu placers on %s", setup->policies.n,
			setup->placers.n, trace);
}

void html_of(const struct setup *setup, const struct comparison *c, const char *note, bool timings,
	struct buf *out)
{
	struct buf title = { 0 }, command = { 0 }, trace = { 0 }, settings = { 0 };
	struct arena memory = { 0 };
	const char **notes;
	size_t nnotes = note_lines(&setup->base, note, &memory, &notes);

	title_of(setup, &title);
	args_command(setup->args, &command);
	trace_title(&setup->base.trace, &trace);
	setup_settings(setup, &settings);
	html_compare(c,
		&(struct html_info){
			.title = title.at,
			.command = command.at,
			.version = STINT_VERSION,
			.trace = trace.at,
			.cluster = setup->cluster.spec,
			.settings = settings.at,
			.notes = notes,
			.nnotes = nnotes,
			.timings = timings,
		},
		out);
	arena_fini(&memory);
	buf_fini(&title);
	buf_fini(&command);
	buf_fini(&trace);
	buf_fini(&settings);
}
