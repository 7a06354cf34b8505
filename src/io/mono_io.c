#include "io/mono_io.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/names.h"
#include "base/vec.h"
#include "io/csv.h"
#include "io/header.h"

enum { C_JOB, C_STAGE, C_ARRIVAL, C_TASKS, C_RUN, C_MEM, C_AFTER, COLUMNS };

static const struct column columns[] = {
	[C_JOB] = { "job", "job_id", true },
	[C_STAGE] = { "stage", NULL, true },
	[C_ARRIVAL] = { "arrival_s", "arrival|submit_s", false },
	[C_TASKS] = { "tasks", "count", false },
	[C_RUN] = { "run", "steps|monotasks", true },
	[C_MEM] = { "mem", "memory", false },
	[C_AFTER] = { "after", "dependencies", false },
	[COLUMNS] = { 0 },
};

/* "Stage `stage` comes after the stage called `name` of its job." */
struct mono_dep {
	uint32_t stage;
	struct slice name;
};

struct reading {
	struct csv csv;
	int where[COLUMNS];
	struct mono_load load;
	struct names jobs;
	VEC(struct mono_job) job_list;
	VEC(struct mono_stage) stages;
	VEC(struct mono_dep) deps;
	VEC(struct dag_edge) edges;
};

static struct slice field(const struct reading *r, int column)
{
	int at = r->where[column];

	if (at < 0 || (size_t)at >= r->csv.n)
		return (struct slice){ "", 0 };
	return slice_trim(r->csv.fields[at]);
}

static int bad(const struct reading *r, int column, const char *what, struct err *err)
{
	struct slice text = field(r, column);

	return err_set(err, ERR_FORMAT, "%s '%.*s' is not %s", columns[column].name,
		text.n > 60 ? 60 : (int)text.n, text.at, what);
}

static int read_header(struct reading *r, struct err *err)
{
	for (int i = 0; i < COLUMNS; i++)
		r->where[i] = -1;
	for (size_t i = 0; i < r->csv.n; i++) {
		int column = columns_find(columns, r->csv.fields[i]);

		if (column >= 0 && r->where[column] >= 0)
			return err_set(err, ERR_FORMAT, "column %s is there twice",
				columns[column].name);
		if (column >= 0)
			r->where[column] = (int)i;
	}
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i].required && r->where[i] < 0)
			return err_set(err, ERR_FORMAT,
				"there is no column %s; the first line is job,stage,arrival_s,tasks,run,mem,after",
				columns[i].name);
	return 0;
}

/* ---- one row */

static int no_resource(struct slice word, struct err *err)
{
	struct buf known = { 0 };

	for (int i = 0; i < MONO_RESOURCES; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", mono_resource_names[i]);
	err_set(err, ERR_FORMAT, "run: there is no resource '%.*s'; there are %s",
		word.n > 60 ? 60 : (int)word.n, word.at, known.at);
	buf_fini(&known);
	return err->code;
}

static int read_step(const struct reading *r, struct slice text, struct mono_stage *stage,
	struct err *err)
{
	struct slice word = slice_trim(slice_cut(&text, ' '));
	struct mono_step step = { .resource = MONO_RESOURCES };

	for (int i = 0; i < MONO_RESOURCES; i++)
		if (slice_is(word, mono_resource_names[i]))
			step.resource = (enum mono_resource)i;
	if (step.resource == MONO_RESOURCES && word.n)
		return no_resource(word, err);
	if (step.resource == MONO_RESOURCES || !slice_seconds(slice_trim(text), &step.size_s) ||
		!(step.size_s > 0) || step.size_s > 1e9)
		return bad(r, C_RUN, "resources with seconds, such as: disk 2 | net 1 | cpu 5", err);
	if (stage->nsteps == MONO_STEPS_MAX)
		return err_set(err, ERR_FORMAT, "run has more than %d steps; make stages of them",
			MONO_STEPS_MAX);
	stage->steps[stage->nsteps++] = step;
	return 0;
}

static int read_run(const struct reading *r, struct mono_stage *stage, struct err *err)
{
	struct slice text = field(r, C_RUN);

	if (!text.n)
		return err_set(err, ERR_FORMAT, "run is empty; write what a task does: disk 2 | cpu 5");
	while (text.n)
		if (read_step(r, slice_trim(slice_cut(&text, '|')), stage, err) < 0)
			return err->code;
	return 0;
}

static int read_numbers(struct reading *r, struct mono_stage *stage, double *arrival_s, struct err *err)
{
	int64_t tasks = 1, mem_bytes = 0;

	if (field(r, C_TASKS).n && (!slice_int(field(r, C_TASKS), &tasks) || tasks < 1))
		return bad(r, C_TASKS, "a number of tasks, 1 or more", err);
	if ((uint64_t)tasks + r->load.ntasks > MONO_TASKS_MAX)
		return err_set(err, ERR_FORMAT,
			"more than %d tasks in all; make the workload smaller", MONO_TASKS_MAX);
	if (field(r, C_MEM).n && (!slice_bytes(field(r, C_MEM), &mem_bytes) || mem_bytes < 0))
		return bad(r, C_MEM, "a size, such as 2G", err);
	if (field(r, C_ARRIVAL).n && (!slice_seconds(field(r, C_ARRIVAL), arrival_s) || *arrival_s < 0))
		return bad(r, C_ARRIVAL, "a time of 0 or more, such as 30 or 1.5h", err);
	stage->tasks = (uint32_t)tasks;
	stage->mem_bytes = (double)mem_bytes;
	r->load.ntasks += (uint64_t)tasks;
	return 0;
}

/* Rows of a job stand together: its stages are a stretch of the list. */
static int find_job(struct reading *r, double arrival_s, uint32_t *out, struct err *err)
{
	struct slice name = field(r, C_JOB);
	uint32_t before = r->jobs.n, id = names_add(&r->jobs, name.at, name.n);

	if (r->jobs.n > before) {
		vec_push(&r->job_list,
			((struct mono_job){ .name = arena_strndup(&r->load.memory, name.at, name.n),
				.arrival_s = isnan(arrival_s) ? 0 : arrival_s,
				.first = (uint32_t)r->stages.n }));
	} else if (id + 1 != r->jobs.n) {
		return err_set(err, ERR_FORMAT,
			"the rows of job '%.*s' do not stand together; put this one below them",
			name.n > 60 ? 60 : (int)name.n, name.at);
	} else if (!isnan(arrival_s) && arrival_s != r->job_list.at[id].arrival_s) {
		return bad(r, C_ARRIVAL, "what the job's first row says; leave it out", err);
	}
	*out = id;
	return 0;
}

static int add_deps(struct reading *r)
{
	struct slice list = field(r, C_AFTER);

	while (list.n) {
		struct slice name = slice_trim(slice_cut(&list, '|'));

		if (name.n)
			vec_push(&r->deps,
				((struct mono_dep){ (uint32_t)r->stages.n - 1,
					{ arena_strndup(&r->load.memory, name.at, name.n), name.n } }));
	}
	return 0;
}

static int read_row(struct reading *r, struct err *err)
{
	struct mono_stage stage = { .line = (uint32_t)r->csv.line };
	struct slice name = field(r, C_STAGE);
	double arrival_s = NAN;

	if (!field(r, C_JOB).n || !name.n)
		return err_set(err, ERR_FORMAT, "job or stage is empty; give both names");
	if (read_run(r, &stage, err) < 0 || read_numbers(r, &stage, &arrival_s, err) < 0 ||
		find_job(r, arrival_s, &stage.job, err) < 0)
		return err->code;
	stage.name = arena_strndup(&r->load.memory, name.at, name.n);
	for (uint32_t i = r->job_list.at[stage.job].first; i < r->stages.n; i++)
		if (!strcmp(r->stages.at[i].name, stage.name))
			return err_set(err, ERR_FORMAT,
				"stage '%.60s' of job '%.60s' is there twice; keep one, or give it another name",
				stage.name, r->job_list.at[stage.job].name);
	vec_push(&r->stages, stage);
	r->job_list.at[stage.job].nstages++;
	return add_deps(r);
}

/* ---- who waits for whom */

static int resolve(struct reading *r, const struct mono_dep *dep, struct err *err)
{
	const struct mono_stage *stage = &r->stages.at[dep->stage];
	const struct mono_job *job = &r->job_list.at[stage->job];

	for (uint32_t i = job->first; i < job->first + job->nstages; i++) {
		if (!slice_is(dep->name, r->stages.at[i].name))
			continue;
		vec_push(&r->edges, ((struct dag_edge){ i, dep->stage }));
		return 0;
	}
	r->csv.line = stage->line;
	return err_set(err, ERR_FORMAT, "after '%.60s' is no stage of job '%.60s'; name one of its own",
		dep->name.at, job->name);
}

static int refuse_circle(struct reading *r, const uint32_t *circle, uint32_t n, struct err *err)
{
	enum { SHOWN = 8 };
	const struct mono_stage *first = &r->stages.at[circle[0]];
	struct buf text = { 0 };

	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		buf_printf(&text, "'%.40s' (line %u)%s waits for ", r->stages.at[circle[i]].name,
			r->stages.at[circle[i]].line, i ? ", which" : "");
	if (n > SHOWN)
		buf_printf(&text, "another and so on, %u in all, the last of which waits for ", n);
	r->csv.line = first->line;
	if (n == 1)
		err_set(err, ERR_FORMAT, "stage '%.40s' of job '%.60s' waits for itself; remove that",
			first->name, r->job_list.at[first->job].name);
	else
		err_set(err, ERR_FORMAT,
			"stages of job '%.60s' wait for each other in a circle: %s'%.40s'; remove one of these",
			r->job_list.at[first->job].name, text.at, first->name);
	buf_fini(&text);
	return err->code;
}

static int link_stages(struct reading *r, struct err *err)
{
	uint32_t *circle, n;

	for (size_t i = 0; i < r->deps.n; i++)
		if (resolve(r, &r->deps.at[i], err) < 0)
			return err->code;
	dag_build(&r->load.dag, &r->load.memory, (uint32_t)r->stages.n, r->edges.at,
		(uint32_t)r->edges.n);
	n = dag_cycle(&r->load.dag, &r->load.memory, &circle);
	return n ? refuse_circle(r, circle, n, err) : 0;
}

/* ---- the whole */

static int read_all(struct reading *r, struct err *err)
{
	int rc = csv_next(&r->csv, err);

	if (rc == 0)
		return err_set(err, ERR_FORMAT,
			"the file is empty; its first line is job,stage,arrival_s,tasks,run,mem,after");
	if (rc < 0 || read_header(r, err) < 0)
		return err->code;
	while ((rc = csv_next(&r->csv, err)) > 0)
		if (read_row(r, err) < 0)
			return err->code;
	if (rc < 0)
		return rc;
	if (!r->stages.n)
		return err_set(err, ERR_FORMAT, "there is no stage below the names of the columns");
	return link_stages(r, err);
}

static void keep(struct reading *r)
{
	struct mono_load *load = &r->load;

	load->njobs = (uint32_t)r->job_list.n;
	load->nstages = (uint32_t)r->stages.n;
	load->jobs = arena_array(&load->memory, struct mono_job, load->njobs);
	load->stages = arena_array(&load->memory, struct mono_stage, load->nstages);
	memcpy(load->jobs, r->job_list.at, load->njobs * sizeof(*load->jobs));
	memcpy(load->stages, r->stages.at, load->nstages * sizeof(*load->stages));
}

int mono_read_csv(const char *where, const char *text, size_t n, struct mono_load *out, struct err *err)
{
	struct csv_style style = { .separator = ',', .comment = '#', .quotes = true };
	struct reading r = { 0 };
	int rc;

	csv_init(&r.csv, (struct slice){ text, n }, style);
	rc = read_all(&r, err);
	if (rc < 0)
		err_prefix(err, "%s:%zu", where, r.csv.line ? r.csv.line : 1);
	else
		keep(&r);
	vec_fini(&r.job_list);
	vec_fini(&r.stages);
	vec_fini(&r.deps);
	vec_fini(&r.edges);
	names_fini(&r.jobs);
	if (rc < 0) {
		mono_load_fini(&r.load);
		csv_fini(&r.csv);
		return rc;
	}
	csv_fini(&r.csv);
	*out = r.load;
	out->source = mem_strdup(where);
	return 0;
}

int mono_read(const char *path, struct mono_load *out, struct err *err)
{
	struct file file;
	int rc = file_read(path, &file, err);

	if (rc < 0)
		return rc;
	rc = mono_read_csv(path, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}
