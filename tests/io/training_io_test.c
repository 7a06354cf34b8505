/*
 * Profile folders: what is wrong is named with file and line; the published
 * ones give the values of the published simulators (vectors in the data
 * folder, skipped loudly without).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "io/training_io.h"
#include "support/data.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

struct world {
	struct cluster cluster;
	struct names models;
	struct training *training;
	struct notes notes;
	struct err err;
	uint64_t hash;
};

static struct world *world(const char *cluster, const char *const *models)
{
	struct world *w = mem_alloc(sizeof(*w));

	assert_int_equal(cluster_parse(cluster, &w->cluster, &w->err), 0);
	for (; *models; models++)
		names_add(&w->models, *models, strlen(*models));
	w->training = training_create(&w->cluster, &w->models);
	return w;
}

static int world_read(struct world *w, const char *dir)
{
	return training_read(dir, &w->cluster, &w->models, w->training, &w->notes, &w->hash, &w->err);
}

static void world_free(struct world *w)
{
	training_destroy(w->training);
	names_fini(&w->models);
	notes_fini(&w->notes);
	cluster_fini(&w->cluster);
	free(w);
}

/* ---- small folders */

static const char *const files[] = { "placements-aws.csv", "scalability-aws.csv",
	"validation-32.csv", "validation-64.csv", "model.csv" };

/* A folder in order; NULL: the file is not there. */
static const char *const good[] = {
	"local_bsz,step_time,sync_time,placement\n8,0.1,0.01,1\n16,0.2,0.01,1\n8,0.2,0.1,4-12\n16,0.3,0.1,4-12\n",
	"num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,4,8,0.3,0.1\n4,4,16.0,0.4,0.1\n",
	"progress,iteration,metric,grad_sqr,grad_var\n10,10,1,1,2\n20,20,2,1,3\n",
	"progress,iteration,metric,grad_sqr,grad_var\n10.5,6,1,1,2\n19.5,11,2,1,3\n",
	NULL,
};

struct folder_case {
	const char *what;
	int file;         /* replaced */
	const char *text; /* by this; NULL: not there */
	const char *want; /* part of the error; NULL: it is read */
};

static const struct folder_case cases[] = {
	{ "in order", 4, NULL, NULL },
	{ "facts of its own", 4,
		"name,value\nepochs,1\nrestart_s,5\nslowdown,1.5\nmax_local-t4,12\n", NULL },
	{ "without larger jobs", 1, NULL, NULL },
	{ "without placements", 0, NULL,
		"model m has no profile for any type of the cluster; looked for" },
	{ "a batch that is no number", 0,
		"local_bsz,step_time,sync_time,placement\n8,0.1,0.01,1\nx,0.2,0.01,1\n",
		"placements-aws.csv:3: local_bsz: \"x\" is not a number" },
	{ "a part of a sample", 0, "local_bsz,step_time,sync_time,placement\n8.5,0.1,0.01,1\n",
		"placements-aws.csv:2: local_bsz: \"8.5\" is not a whole number" },
	{ "no time", 0, "local_bsz,step_time,sync_time,placement\n8,nan,0.01,1\n",
		"placements-aws.csv:2: step_time: \"nan\" is not a number" },
	{ "a time below 0", 0, "local_bsz,step_time,sync_time,placement\n8,0.1,-0.01,1\n",
		"placements-aws.csv:2: sync_time: \"-0.01\" is not a number from 0" },
	{ "no time at all", 0, "local_bsz,step_time,sync_time,placement\n8,0,0,1\n",
		"placements-aws.csv:2: step_time: a step takes more than 0 seconds" },
	{ "a part larger than the whole", 0, "local_bsz,step_time,sync_time,placement\n8,0.1,0.2,1\n",
		"placements-aws.csv:2: sync_time: 0.2 s is more than the whole step of 0.1 s" },
	{ "a placement with an empty node", 0,
		"local_bsz,step_time,sync_time,placement\n8,0.1,0.01,102\n",
		"placements-aws.csv:2: placement: \"102\" does not say" },
	{ "one batch only", 0,
		"local_bsz,step_time,sync_time,placement\n8,0.1,0.01,1\n16,0.2,0.01,1\n8,1,1,21\n",
		"placement 1-2 was measured at one batch (8) only" },
	{ "a column is missing", 0, "local_bsz,step_time,placement\n8,0.1,1\n",
		"placements-aws.csv:1: the header has no column sync_time" },
	{ "a row is cut off", 0, "local_bsz,step_time,sync_time,placement\n8,0.1\n",
		"placements-aws.csv:2: sync_time: missing; the row has 2 fields" },
	{ "empty", 0, "", "placements-aws.csv:1: empty; a header belongs here" },
	{ "no rows", 0, "local_bsz,step_time,sync_time,placement\n", "no rows in it" },
	{ "more nodes than devices", 1,
		"num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,3,8,1,0\n",
		"scalability-aws.csv:2: num_replicas: 3 devices cannot be on 4 nodes" },
	{ "an epoch is missing", 3, "progress,iteration,metric,grad_sqr,grad_var\n10.5,6,1,1,2\n",
		"validation-64.csv: epoch 2 is missing; training takes 2" },
	{ "epochs out of order", 3,
		"progress,iteration,metric,grad_sqr,grad_var\n20,11,1,1,2\n10,6,1,1,2\n",
		"validation-64.csv:3: progress: epoch 2 does not go on" },
	{ "no gradient", 3, "progress,iteration,metric,grad_sqr,grad_var\n10,6,1,0,0\n20,11,1,1,2\n",
		"validation-64.csv:2: grad_sqr, grad_var: both are 0" },
	{ "an infinite gradient", 3, "progress,iteration,metric,grad_sqr,grad_var\n10,6,1,inf,0\n",
		"validation-64.csv:2: grad_sqr: \"inf\" is not a number" },
	{ "a fact nobody knows", 4, "name,value\nepoch,1\n",
		"model.csv:2: name: \"epoch\" with 1 says nothing (did you mean \"epochs\"?)" },
	{ "no epochs", 4, "name,value\nepochs,0\n",
		"model.csv:2: value: epochs is 0, but must be 1 or more" },
	{ "half an epoch", 4, "name,value\nepochs,1.5\n",
		"model.csv:2: value: epochs is 1.5, but must be a whole number" },
	{ "no slowdown at all", 4, "name,value\nslowdown,0\n",
		"model.csv:2: value: slowdown is 0, but must be more than 0" },
	{ "more epochs than measured", 4, "name,value\nepochs,3\n",
		"validation-32.csv: epoch 3 is missing; training takes 3" },
	{ "batches that exclude everything", 4, "name,value\nmax_local-t4,4\n",
		"no batch is possible on t4: the smallest local one is 8, the largest 4, and 64 in all" },
	{ "a largest batch below the first", 4, "name,value\nmax_batch,16\n",
		"max_batch 16 is below the smallest, 32" },
};

static void write_folder(const char *dir, const struct folder_case *c)
{
	struct err err = { 0 };

	for (int i = 0; i < (int)COUNT(files); i++) {
		const char *text = i == c->file ? c->text : good[i];
		char *path = mem_printf("%s/m/%s", dir, files[i]);

		unlink(path);
		if (text)
			assert_int_equal(file_write(path, text, strlen(text), &err), 0);
		free(path);
	}
}

static void remove_folder(const char *dir)
{
	static const struct folder_case none = { .file = -1 };
	char *inner = mem_printf("%s/m", dir);

	write_folder(dir, &none);
	for (size_t i = 0; i < COUNT(files); i++) {
		char *path = mem_printf("%s/%s", inner, files[i]);

		unlink(path);
		free(path);
	}
	rmdir(inner);
	rmdir(dir);
	free(inner);
}

static char *make_folder(void)
{
	char *dir = mem_strdup("/tmp/stint-training-XXXXXX"), *inner;
	struct err err = { 0 };

	assert_non_null(mkdtemp(dir));
	inner = mem_printf("%s/m", dir);
	assert_int_equal(dir_make(inner, &err), 0);
	free(inner);
	return dir;
}

static const char *const one_model[] = { "m", NULL };

static void test_folders(void **state)
{
	char *dir = make_folder();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world *w = world("2x4:t4", one_model);
		int rc;

		write_folder(dir, &cases[i]);
		rc = world_read(w, dir);
		if ((cases[i].want == NULL) != (rc == 0) ||
			(rc && !strstr(w->err.text, cases[i].want))) {
			print_error("%s: %s\n", cases[i].what, rc ? w->err.text : "was read");
			fail();
		}
		world_free(w);
	}
	remove_folder(dir);
	free(dir);
}

static void test_facts(void **state)
{
	static const struct folder_case with_facts = { .file = 4,
		.text = "name,value\nepochs,1\nrestart_s,5\nslowdown,1.5\nmax_local-t4,12\n" };
	static const struct folder_case changed = {
		.file = 1,
		.text = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,4,8,0.3,0.1\n4,4,16,0.5,0.1\n"
	};
	struct world *plain = world("2x4:t4,1x8:h100", one_model), *said = world("2x4:t4", one_model);
	struct world *other = world("2x4:t4", one_model);
	char *dir = make_folder();

	(void)state;
	write_folder(dir, &cases[0]);
	assert_int_equal(world_read(plain, dir), 0);
	assert_int_equal(training_of(plain->training, 0)->epochs, 2);
	assert_true(training_of(plain->training, 0)->initial_batch == 32);
	assert_true(training_of(plain->training, 0)->max_batch == 64);
	assert_true(training_of(plain->training, 0)->restart_s == 30);
	assert_true(training_work(plain->training, 0) == 19.5);
	assert_int_equal(training_widest(plain->training, 0), 16);
	assert_true(training_knows(plain->training, 0, 0) && !training_knows(plain->training, 0, 1));
	assert_int_equal(plain->notes.n, 1);
	assert_non_null(strstr(plain->notes.at[0].text,
		"model m has no profile for type h100 (placements-h100.csv); jobs of it run on t4 only"));
	write_folder(dir, &with_facts);
	assert_int_equal(world_read(said, dir), 0);
	assert_int_equal(training_of(said->training, 0)->epochs, 1);
	assert_true(training_of(said->training, 0)->restart_s == 5);
	assert_true(training_of(said->training, 0)->slowdown == 1.5);
	assert_true(training_limits(said->training, 0, 0).max_local == 12);
	assert_true(training_work(said->training, 0) == 10);
	write_folder(dir, &changed);
	assert_int_equal(world_read(other, dir), 0);
	assert_true(plain->hash != said->hash && plain->hash != other->hash);
	remove_folder(dir);
	free(dir);
	world_free(plain);
	world_free(said);
	world_free(other);
}

static void test_missing(void **state)
{
	static const char *const strange[] = { "../m", "x", NULL }, *const none[] = { NULL };
	struct world *w = world("2x4:t4", strange), *nobody = world("2x4:t4", none);
	char *dir = make_folder();

	(void)state;
	assert_int_equal(world_read(w, "/no/such/folder"), ERR_MISSING);
	assert_non_null(strstr(w->err.text, "/no/such/folder: no such folder"));
	assert_int_equal(world_read(w, dir), ERR_MISSING);
	assert_non_null(strstr(w->err.text, "no folder for any model of the trace (../m, x)"));
	assert_int_equal(world_read(nobody, dir), ERR_MISSING);
	assert_non_null(strstr(nobody->err.text, "no job names a model"));
	remove_folder(dir);
	free(dir);
	world_free(w);
	world_free(nobody);
}

static void test_suffixes(void **state)
{
	static const char *const rows[][2] = { { "t4", "aws" }, { "AWS", "aws" },
		{ "a100", "dgx-ext" }, { "dgx", "dgx-ext" }, { "dgx-ext", "dgx-ext" },
		{ "rtx", "rtx" }, { "2080ti", "rtx" }, { "rtx2080ti", "rtx" }, { "quad", "quad" },
		{ "rtx6000", "quad" }, { "v100", "azure" }, { "V100-SXM2", "azure" },
		{ "azure", "azure" }, { "h100", "h100" }, { "mine", "mine" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(training_suffix(rows[i][0]), rows[i][1]);
}

/* ---- the published folders */

static const char *const published[] = { "cifar10", "deepspeech2", "bert", "yolov3", "imagenet",
	"ncf", "gpt_pmp", NULL };

static struct world *read_published(void)
{
	char *dir = mem_printf("%s/sia/profiles", data_dir());
	struct world *w = NULL;

	if (!file_is_dir(dir)) {
		print_message("SKIPPED: there is no %s; set STINT_DATA to compare with Sia's simulator\n",
			dir);
	} else {
		w = world("16x4:t4,2x8:a100,3x8:rtx,1x4:quad,5x8:v100", published);
		if (world_read(w, dir)) {
			print_error("%s\n", w->err.text);
			fail();
		}
	}
	free(dir);
	return w;
}

static uint32_t split(char *line, char **fields, uint32_t most)
{
	uint32_t n = 0;

	for (char *at = strtok(line, ",\r\n"); at && n < most; at = strtok(NULL, ",\r\n"))
		fields[n++] = at;
	return n;
}

static FILE *vectors(const char *name)
{
	char *path = mem_printf("%s/sia/vectors/%s", data_dir(), name), line[512];
	FILE *in = fopen(path, "r");

	free(path);
	assert_non_null(in);
	assert_non_null(fgets(line, sizeof(line), in)); /* the header */
	return in;
}

static uint32_t lay_of(const char *text, uint16_t *on_node)
{
	uint32_t n = 0;

	if (strchr(text, '-')) {
		for (; text; text = strchr(text, '-') ? strchr(text, '-') + 1 : NULL)
			on_node[n++] = (uint16_t)atoi(text);
		return n;
	}
	for (; *text; text++)
		on_node[n++] = (uint16_t)(*text - '0');
	return n;
}

/* Relative to the step. */
static double off_by(const struct world *w, char **f)
{
	uint32_t model = names_find(&w->models, f[0], strlen(f[0]));
	uint16_t on_node[64];
	struct lay lay = { on_node, lay_of(f[2], on_node) };
	double step_s = atof(f[4]), sync_s = atof(f[5]);
	int type = cluster_find_type(&w->cluster,
		!strcmp(f[1], "aws")               ? "t4"
			: !strcmp(f[1], "dgx-ext") ? "a100"
						   : f[1]);
	struct pass pass;

	assert_true(model != NAME_NONE && type >= 0);
	if (!training_pass(w->training, model, (uint32_t)type, lay, atof(f[3]), &pass))
		return INFINITY;
	return fmax(fabs(pass.step_s - step_s), fabs(pass.sync_s - sync_s)) / step_s;
}

/* Measured placements to the last digits, and the 180 others, on grids that can be cut in several ways. */
static void test_throughput_vectors(void **state)
{
	struct world *w = read_published();
	uint32_t equal = 0, all = 0;
	char line[512], *f[7];
	FILE *in;

	(void)state;
	if (!w)
		return;
	in = vectors("throughput.csv");
	for (; fgets(line, sizeof(line), in); all++) {
		double off;

		assert_int_equal(split(line, f, 7), 7);
		off = off_by(w, f);
		if (off < 1e-12)
			equal++;
		else
			print_error("%s on %s, %s at %s: off by %g\n", f[0], f[1], f[2], f[3], off);
	}
	fclose(in);
	assert_int_equal(all, 600);
	assert_int_equal(equal, 600);
	world_free(w);
}

static void test_gain_vectors(void **state)
{
	struct world *w = read_published();
	char line[512], *f[7];
	uint32_t n = 0;
	FILE *in;

	(void)state;
	if (!w)
		return;
	in = vectors("gain.csv");
	for (; fgets(line, sizeof(line), in); n++) {
		uint32_t model, epoch;
		struct gradient g;
		double batch, gain;

		assert_int_equal(split(line, f, 7), 7);
		model = names_find(&w->models, f[0], strlen(f[0]));
		batch = atof(f[1]);
		epoch = (uint32_t)atoi(f[2]);
		g = training_gradient(w->training, model, batch, epoch);
		gain = goodput_gain(g, batch, training_of(w->training, model)->initial_batch);
		assert_true(fabs(g.sqr - atof(f[3])) <= 1e-12 * atof(f[3]));
		assert_true(fabs(g.var - atof(f[4])) <= 1e-12 * atof(f[4]));
		assert_true(fabs(gain - atof(f[5])) <= 1e-12 * atof(f[5]));
		assert_true(fabs(training_progress(w->training, model, epoch + 1) - atof(f[6])) <=
			1e-12 * atof(f[6]));
	}
	fclose(in);
	assert_int_equal(n, 72);
	world_free(w);
}

static void test_published_limits(void **state)
{
	static const struct {
		const char *model, *type;
		double initial, max, min_local, max_local, osdi21;
	} rows[] = {
		{ "cifar10", "t4", 128, 4096, 32, 1024, 1024 },
		{ "bert", "t4", 12, 384, 4, 12, 12 },
		{ "deepspeech2", "rtx", 20, 640, 10, 57, 57 },
		{ "yolov3", "t4", 8, 512, 4, 16, 8 },
		{ "gpt_pmp", "a100", 12, 384, 48, 48, 48 },
	};
	struct world *w = read_published();

	(void)state;
	for (size_t i = 0; w && i < COUNT(rows); i++) {
		uint32_t model = names_find(&w->models, rows[i].model, strlen(rows[i].model));
		uint32_t type = (uint32_t)cluster_find_type(&w->cluster, rows[i].type);
		struct batch_limits l = training_limits(w->training, model, type);

		print_message("%s on %s: %g..%g, local %g..%g\n", rows[i].model, rows[i].type,
			l.initial, l.max, l.min_local, l.max_local);
		assert_true(l.initial == rows[i].initial && l.max == rows[i].max);
		assert_true(l.min_local == rows[i].min_local && l.max_local == rows[i].max_local);
		l = training_limits_as(w->training, model, type, COMPAT_OSDI21);
		assert_true(l.max_local == rows[i].osdi21);
	}
	if (w)
		world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_suffixes),
		cmocka_unit_test(test_throughput_vectors),
		cmocka_unit_test(test_gain_vectors),
		cmocka_unit_test(test_published_limits),
	};

	return cmocka_run_group_tests_name("training_io", tests, NULL, NULL);
}
