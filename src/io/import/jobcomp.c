/*
 * Slurm's log of ended jobs, JobCompType=jobcomp/filetxt: a line for each run,
 *
 *	JobId=4 UserId=ann(1000) GroupId=ml(100) Name=train JobState=COMPLETED Partition=gpu
 *	TimeLimit=30 StartTime=2026-11-17T04:18:12 EndTime=2026-11-17T04:18:18 NodeList=p100-1
 *	NodeCnt=1 ProcCnt=1 WorkDir=/home/ann ReservationName= Tres=cpu=1,node=1,gres/gpu=2 Account=
 *	QOS= WcKey= Cluster=c SubmitTime=2026-11-17T04:18:06 EligibleTime=… ExitCode=0:0
 *
 * A run that was requeued has the state PENDING, and the job a further line.
 * Names may hold blanks, and anything else that looks like a field.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "io/import/slurm.h"

extern const struct importer importer_jobcomp;

enum {
	ID,
	USER,
	NAME,
	STATE,
	LIMIT,
	START,
	END,
	NODE_LIST,
	NODES,
	CPUS,
	TRES,
	ACCOUNT,
	SUBMIT,
	FIELDS
};

static const struct column columns[] = {
	[ID] = { .name = "JobId" },
	[USER] = { .name = "UserId" },
	[NAME] = { .name = "Name" },
	[STATE] = { .name = "JobState" },
	[LIMIT] = { .name = "TimeLimit" },
	[START] = { .name = "StartTime" },
	[END] = { .name = "EndTime" },
	[NODE_LIST] = { .name = "NodeList" },
	[NODES] = { .name = "NodeCnt" },
	[CPUS] = { .name = "ProcCnt" },
	[TRES] = { .name = "Tres", .aliases = "Gres" },
	[ACCOUNT] = { .name = "Account" },
	[SUBMIT] = { .name = "SubmitTime" },
	{ 0 },
};

/* ---- a line into fields ---- */

static const char *find(struct slice in, const char *text)
{
	return in.n ? memmem(in.at, in.n, text, strlen(text)) : NULL;
}

static struct slice after(struct slice in, const char *at)
{
	return (struct slice){ at, (size_t)(in.at + in.n - at) };
}

/* Up to the next blank. */
static struct slice word_at(struct slice in, const char *at)
{
	struct slice rest = after(in, at);

	return slice_cut(&rest, ' ');
}

/* " JobState=COMPLETED Partition=": capitals between both, as in no name that a person gives. */
static const char *find_state(struct slice in)
{
	static const char state[] = " JobState=", partition[] = " Partition=";
	const char *at;

	while ((at = find(in, state))) {
		struct slice rest = after(in, at + strlen(state)), word = slice_cut(&rest, ' ');
		size_t i = 0;

		while (i < word.n && (isupper((unsigned char)word.at[i]) || word.at[i] == '_'))
			i++;
		if (i && i == word.n && rest.n >= strlen(partition) - 1 &&
			!memcmp(rest.at, partition + 1, strlen(partition) - 1))
			return at;
		in = after(in, at + 1);
	}
	return NULL;
}

static void set_named(struct slice rest, int column, struct slice *field)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), " %s=", columns[column].name);
	at = find(rest, key);
	if (at)
		*field = word_at(rest, at + strlen(key));
}

/* False if it is no line of this log. */
static bool split(struct slice line, struct slice fields[FIELDS])
{
	const char *name = find(line, " Name="), *state = find_state(line);

	for (int i = 0; i < FIELDS; i++)
		fields[i] = (struct slice){ "", 0 };
	if (line.n < 6 || memcmp(line.at, "JobId=", 6) != 0 || !name || !state || name + 6 > state)
		return false;
	fields[ID] = word_at(line, line.at + 6);
	set_named((struct slice){ line.at, (size_t)(name - line.at) }, USER, &fields[USER]);
	fields[NAME] = (struct slice){ name + 6, (size_t)(state - name - 6) };
	for (int i = STATE; i < FIELDS; i++)
		set_named(after(line, state), i, &fields[i]);
	return true;
}

/* ---- fields into a job ---- */

/* "ann(1000)" */
static struct slice user_name(struct slice user)
{
	return slice_cut(&user, '(');
}

static void set_resources(struct rows *rows, struct job *job)
{
	struct tres tres = tres_read(row_text(rows, TRES));
	double nodes = 0, cpus = 0;

	slice_double(row_text(rows, NODES), &nodes);
	slice_double(row_text(rows, CPUS), &cpus);
	if (!(tres.cpus > 0) && cpus > 0 && cpus < 1e9)
		tres.cpus = cpus;
	job->gpus = row_gpus_of(rows, TRES, tres_gpus(&tres, nodes, rows->options));
	job->cpus = tres.cpus;
	job->mem_bytes = tres.mem_bytes;
	job->types = row_type(rows, TRES, tres.type);
	row_measured_on(rows, TRES, tres.type);
}

static void set_run_time(struct rows *rows)
{
	double start_s, end_s;

	if (!slurm_time(row_text(rows, START), &start_s) || !slurm_time(row_text(rows, END), &end_s)) {
		row_drop(rows, END, "is not a date: the job never ran", NULL);
		return;
	}
	rows->work = end_s - start_s;
	if (rows->work < 0)
		row_bad(rows, END, row_text(rows, END), "is before StartTime", NULL);
	else if (rows->work < 1e-6 || row_text(rows, NODE_LIST).n == 0 ||
		slice_is(row_text(rows, NODE_LIST), "(null)"))
		row_drop(rows, END, "is StartTime: the job never ran", NULL);
}

static void note_state(struct rows *rows)
{
	struct slice state = row_text(rows, STATE);

	if (!slice_is(state, "PENDING"))
		row_ended(rows, STATE, state, "COMPLETED");
}

static void read_line(struct rows *rows, struct job *job)
{
	struct slice account = row_text(rows, ACCOUNT);

	if (account.n == 0 || slice_is(account, "(null)"))
		account = user_name(row_text(rows, USER));
	row_label(rows, job, row_text(rows, ID));
	job->name = row_kept(rows, NAME);
	job->tenant = row_name(&rows->out->tenants, account);
	job->arrival_s = row_time(rows, SUBMIT);
	set_run_time(rows);
	set_resources(rows, job);
	slurm_limit(row_text(rows, LIMIT), job);
	slurm_ran(rows, row_text(rows, START), NAN, row_text(rows, NODE_LIST), job);
	note_state(rows);
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, ACCOUNT, "tenants are accounts; users where there is none" },
	{ NOTE_ASSUMED, LIMIT, "what users believe of run times is the time limit" },
	{ 0 },
};

static const struct table table = {
	.headless = true,
	.reruns = true,
	.columns = columns,
	.remarks = remarks,
	.none = SLURM_TELLS_GPUS,
};

static int read_lines(struct rows *rows, struct slice text, struct err *err)
{
	struct lines lines = lines_of(text.at, text.n);
	struct slice line;
	struct job job;

	rows_remark(rows);
	while (lines_next(&lines, &line)) {
		int rc;

		line = slice_trim(line);
		if (!line.n)
			continue;
		rows_start(rows, lines.number, &job);
		if (split(line, rows->csv.fields))
			read_line(rows, &job);
		else
			row_bad(rows, -1, (struct slice){ "", 0 },
				"not a line of jobcomp/filetxt (JobId=… Name=… JobState=… Partition=…)",
				NULL);
		rc = rows_end(rows, &job, err);
		if (rc)
			return rc;
	}
	return rows_finish(rows, err);
}

static int read(struct slice text, const struct import_options *options, struct trace *out,
	struct notes *notes, struct err *err)
{
	struct rows rows;
	int rc;

	rows_init(&rows, &importer_jobcomp, options, out, notes);
	rows.csv.fields = mem_alloc(FIELDS * sizeof(*rows.csv.fields));
	rows.csv.n = rows.width = FIELDS;
	for (int i = 0; i < FIELDS; i++)
		rows.where[i] = rows.column_of[i] = i;
	rc = read_lines(&rows, text, err);
	rows_fini(&rows);
	return rc;
}

static int recognise(struct slice head, const char *path)
{
	struct slice fields[FIELDS], line = slice_trim(head);

	(void)path;
	return split(slice_cut(&line, '\n'), fields) ? 95 : 0;
}

const struct importer importer_jobcomp = {
	.name = "jobcomp",
	.summary = "Slurm: the log of jobcomp/filetxt",
	.origin = "SchedMD Slurm",
	.dated = true,
	.recognise = recognise,
	.table = &table,
	.read = read,
};
