/*
 * Results of simulations: the run directories (store/run_dir.h) below one
 * directory, and below the comparisons there.
 *
 * The library reads them, since files may be large and disks slow.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "daemon/library.h"
#include "daemon/run_spans.h"
#include "daemon/verbs_run.h"
#include "io/cluster_io.h"
#include "io/csv.h"
#include "store/run_dir.h"

enum {
	RUNS_MAX = 500,
	TEXT_MAX = 16 << 20, /* bytes of summary.json, manifest.json, compare.json */
	JOBS_MAX = 64 << 20, /* bytes of jobs.csv */
};

/* ---- names: "run1", or "comparison/las" */

static bool word_is_fine(struct slice word)
{
	return word.n && word.n < 200 && word.at[0] != '.';
}

/* No way out of the directory. */
static bool name_is_fine(const char *name)
{
	struct slice left = slice_of(name), first = slice_cut(&left, '/'),
		     second = slice_cut(&left, '/');

	return word_is_fine(first) && (!strchr(name, '/') || word_is_fine(second)) && !left.n &&
		name[strlen(name) - 1] != '/';
}

/* The JSON of DIR/FILE, or NULL. */
static json_t *load(const char *dir, const char *file)
{
	char *path = path_join(dir, file);
	struct err ignored = { 0 };
	struct file text;
	json_t *json = NULL;

	if (file_exists(path) && file_read_upto(path, TEXT_MAX, &text, &ignored) == 0) {
		json = json_loadb(text.at, text.n, 0, NULL);
		file_fini(&text);
	}
	free(path);
	return json;
}

static void put_json(struct json *j, const char *key, const json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text)
		json_raw(j, key, text, strlen(text));
	free(text);
}

static double written_s(const char *dir, const char *file)
{
	char *path = path_join(dir, file);
	struct stat st;
	double at = stat(path, &st) == 0 ? (double)st.st_mtime : 0;

	free(path);
	return at;
}

/* ---- all of them */

struct listing {
	struct json *j;
	uint32_t n;
	bool more;
};

static void put_run(struct listing *l, const char *name, const char *of, const char *dir,
	const json_t *summary)
{
	static const char *const figures[] = { "policy", "placer", "seed", "jobs_submitted",
		"jobs_finished", "jct_mean_s", "jct_p95_s", "wait_mean_s", "makespan_s",
		"utilisation", "ftf_max", "preemptions" };

	json_begin_object(l->j, NULL);
	json_str(l->j, "name", name);
	json_str(l->j, "kind", "run");
	if (of)
		json_str(l->j, "of", of);
	json_double(l->j, "at", written_s(dir, RUN_SUMMARY));
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		put_json(l->j, figures[i], json_object_get(summary, figures[i]));
	json_end(l->j, '}');
}

static void put_compare(struct listing *l, const char *name, const char *dir)
{
	json_begin_object(l->j, NULL);
	json_str(l->j, "name", name);
	json_str(l->j, "kind", "compare");
	json_double(l->j, "at", written_s(dir, COMPARE_FIGURES));
	json_end(l->j, '}');
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
	return word_is_fine(slice_of(entry->d_name));
}

static void list_dir(struct listing *l, const char *dir, const char *of);

static void list_one(struct listing *l, const char *dir, const char *of, const char *word)
{
	char *path = path_join(dir, word), *name = of ? path_join(of, word) : mem_strdup(word);
	json_t *summary = load(path, RUN_SUMMARY), *compare = of ? NULL : load(path, COMPARE_FIGURES);

	l->n += summary || compare;
	if (l->n > RUNS_MAX) {
		l->more = true;
	} else if (summary) {
		put_run(l, name, of, path, summary);
	} else if (compare) {
		put_compare(l, name, path);
		list_dir(l, path, name);
	}
	json_decref(summary);
	json_decref(compare);
	free(path);
	free(name);
}

static void list_dir(struct listing *l, const char *dir, const char *of)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, is_shown, by_name);

	for (int i = 0; i < n; i++) {
		list_one(l, dir, of, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void read_runs(struct record *record, const struct desk *desk, struct call *call)
{
	struct json j;
	struct listing l = { .j = &j };

	(void)record;
	call_begin(call, &j);
	json_str(&j, "dir", desk->runs);
	json_begin_array(&j, "runs");
	list_dir(&l, desk->runs, NULL);
	json_end(&j, ']');
	json_bool(&j, "more", l.more);
	json_end(&j, '}');
}

void verb_runs(struct daemon *d, struct call *call)
{
	library_ask(d, call, read_runs);
}

/* ---- one */

/* Columns by name; numbers as numbers. */
static void put_cell(struct json *j, const char *key, struct slice cell)
{
	static const char *const texts[] = { "id", "name", "tenant", "model", "state", "why",
		"reason", "deadline_met" };
	bool text = false;
	double number;
	char *copy;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		text |= !strcmp(key, texts[i]);
	if (!cell.n)
		return;
	if (!text && slice_double(cell, &number)) {
		json_double(j, key, number);
		return;
	}
	cell = csv_text(cell);
	copy = mem_strndup(cell.at, cell.n);
	json_str(j, key, copy);
	free(copy);
}

/* The names of the columns are those of the first row, which goes when the next one comes. */
static char **take_head(const struct csv *csv, size_t *n)
{
	char **head = mem_alloc(mem_array_size(csv->n + 1, sizeof(*head)));

	*n = csv->n;
	for (size_t i = 0; i < csv->n; i++)
		head[i] = mem_strndup(csv->fields[i].at, csv->fields[i].n);
	return head;
}

static void put_rows(struct json *j, struct slice text)
{
	const struct csv_style style = CSV_COMMAS;
	struct err ignored = { 0 };
	struct csv csv;
	char **head = NULL;
	size_t n = 0;

	csv_init(&csv, text, style);
	if (csv_next(&csv, &ignored) > 0)
		head = take_head(&csv, &n);
	while (head && csv_next(&csv, &ignored) > 0) {
		json_begin_object(j, NULL);
		for (size_t i = 0; i < n && i < csv.n; i++)
			put_cell(j, head[i], csv.fields[i]);
		json_end(j, '}');
	}
	for (size_t i = 0; i < n; i++)
		free(head[i]);
	free(head);
	csv_fini(&csv);
}

static void put_jobs(struct json *j, const char *dir)
{
	char *path = path_join(dir, RUN_JOBS);
	struct err ignored = { 0 };
	struct file text;

	json_begin_array(j, "jobs");
	if (file_exists(path) && file_read_upto(path, JOBS_MAX, &text, &ignored) == 0) {
		put_rows(j, (struct slice){ text.at, text.n });
		file_fini(&text);
	}
	json_end(j, ']');
	free(path);
}

static void put_spans(struct json *j, const char *dir)
{
	char *path = path_join(dir, RUN_EVENTS);
	struct err ignored = { 0 };
	struct file text = { 0 };
	bool there = file_exists(path) && file_read(path, &text, &ignored) == 0;

	run_spans_write((struct slice){ text.at, text.n }, j);
	if (there)
		file_fini(&text);
	free(path);
}

static void put_cluster(struct json *j, const char *yaml)
{
	struct cluster cluster;
	struct err ignored = { 0 };

	json_begin_array(j, "devices");
	if (yaml && cluster_read_yaml("manifest", yaml, strlen(yaml), &cluster, &ignored) == 0) {
		for (uint32_t node = 0; node < cluster.nnodes; node++) {
			for (uint32_t i = 0; i < cluster.nodes[node].devices; i++) {
				json_begin_object(j, NULL);
				json_str(j, "node", cluster.nodes[node].name);
				json_int(j, "device", i);
				json_str(j, "type", cluster.types[cluster.nodes[node].type].name);
				json_end(j, '}');
			}
		}
		cluster_fini(&cluster);
	}
	json_end(j, ']');
}

static void put_whole(struct json *j, const char *dir, const json_t *summary)
{
	json_t *manifest = load(dir, RUN_MANIFEST);

	put_json(j, "summary", summary);
	put_json(j, "command", json_object_get(manifest, "command"));
	put_json(j, "trace", json_object_get(manifest, "trace"));
	put_json(j, "cluster", json_object_get(manifest, "cluster"));
	put_cluster(j, member_text(manifest, "cluster_yaml"));
	put_jobs(j, dir);
	put_spans(j, dir);
	json_decref(manifest);
}

static void read_run(struct record *record, const struct desk *desk, struct call *call)
{
	const char *name = member_text(call->args, "name");
	char *dir = path_join(desk->runs, name);
	json_t *summary = load(dir, RUN_SUMMARY), *compare = load(dir, COMPARE_FIGURES);
	struct json j;

	(void)record;
	if (summary || compare) {
		call_begin(call, &j);
		json_str(&j, "name", name);
		json_str(&j, "kind", summary ? "run" : "compare");
		if (summary)
			put_whole(&j, dir, summary);
		else
			put_json(&j, "compare", compare);
		json_end(&j, '}');
	} else {
		call_problem(call, 404, 3, "there is no run '%.200s' in %s", name, desk->runs);
	}
	json_decref(summary);
	json_decref(compare);
	free(dir);
}

void verb_run_one(struct daemon *d, struct call *call)
{
	const char *name = member_text(call->args, "name");

	if (name && *name && name_is_fine(name))
		library_ask(d, call, read_run);
	else
		call_problem(call, 404, 3, "there is no run of that name");
}
