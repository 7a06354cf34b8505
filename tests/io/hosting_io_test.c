/*
 * Profiles of hosts from files: CSV of our own, and Synergy's JSON.
 */
#include "io/hosting_io.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

#define GB (1024.0 * 1024 * 1024)

struct world {
	struct cluster cluster;
	struct names models;
	struct profile *profile;
	struct hosting *hosting;
	struct notes notes;
	struct err err;
};

static void world_init(struct world *w)
{
	*w = (struct world){ 0 };
	assert_int_equal(cluster_parse("2x4:v100", &w->cluster, &w->err), 0);
	w->profile = profile_create(&w->cluster, &w->models);
	w->hosting = hosting_create();
}

static void world_fini(struct world *w)
{
	notes_fini(&w->notes);
	hosting_destroy(w->hosting);
	profile_destroy(w->profile);
	names_fini(&w->models);
	cluster_fini(&w->cluster);
}

static int read_text(struct world *w, const char *text)
{
	return hosting_read_text("hosts", slice_of(text), &w->cluster, &w->models, w->hosting,
		w->profile, &w->notes, &w->err);
}

static double speed(const struct world *w, const char *model, uint32_t gpus, double cpus, double gb)
{
	uint32_t m = names_find(&w->models, model, strlen(model));
	const struct host_table *t = hosting_find(w->hosting, m, gpus);

	assert_non_null(t);
	return host_table_speed(t, (struct host_share){ cpus, gb * GB });
}

static void points_make_a_table(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	/* In any order, with a second model between. */
	assert_int_equal(read_text(&w,
				 "model,gpus,cpus,memory,speed,split,step_s\n"
				 "# measured on a server of 8\n"
				 "a,1,4,60G,1.5,,0.25\n"
				 "b,2,1,20G,1,0.9,\n"
				 "a,1,2,60G,1,,\n"
				 "a,1,2,20G,0.5,,\n"
				 "a,1,4,20G,0.6,,\n"),
		0);
	assert_float_equal(speed(&w, "a", 1, 2, 20), 0.5, 1e-12);
	assert_float_equal(speed(&w, "a", 1, 3, 60), 1.25, 1e-12);
	assert_float_equal(speed(&w, "a", 1, 4, 60), 1.5, 1e-12);
	assert_float_equal(speed(&w, "b", 2, 1, 20), 1, 1e-12);
	assert_float_equal(hosting_find(w.hosting, names_find(&w.models, "b", 1), 2)->split, 0.9, 0);
	/* What a step takes is a speed of its own. */
	assert_float_equal(profile_rate(w.profile, names_find(&w.models, "a", 1), 0,
				   (struct shape){ 1, 1, 1, 0 }),
		4, 1e-12);
	world_fini(&w);
}

static void memory_comes_of_the_data_set_or_does_not_matter(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(read_text(&w,
				 "model,cpus,speed,dataset,storage,epoch_s\n"
				 "a,1,0.5,,,\n"
				 "a,4,1,100G,1G,50\n"
				 "b,1,0.5,,,\n"
				 "b,4,1,,,\n"),
		0);
	assert_float_equal(speed(&w, "a", 1, 4, 100), 1, 1e-12);
	assert_float_equal(speed(&w, "a", 1, 4, 25), 50 / 75.0, 1e-12);
	assert_float_equal(speed(&w, "b", 1, 4, 1), 1, 1e-12);
	world_fini(&w);
}

#define MATRIX \
	"[[0.1,0.3,0.3,0.3,0.3],[0.1,0.66,0.66,0.66,0.66],[0.1,1,1,1,1],[0.1,1.25,1.5,1.5,1.5]]"

static void synergy_s_matrices_are_read(void **state)
{
	const struct host_table *t;
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(
		read_text(&w,
			"[{\"profile\": \"res_net_1\", \"set\": \"models\", \"cpus\": 4, \"mem\": 125, "
			"\"iter_time\": 0.5, \"placement_penalty\": 0.8, \"tput\": " MATRIX "},"
			"{\"profile\": \"res_net_2\", \"set\": \"models\", \"tput\": "
			"[[1, 1, 1, 1], [2, 2, 2, 2], [0, 0, 0, 0]]},"
			"{\"profile\": \"res_net_1\", \"set\": \"models-4\", \"tput\": [[9]]}]"),
		0);
	assert_float_equal(speed(&w, "res_net", 1, 3, 62.5), 1, 1e-12);
	assert_float_equal(speed(&w, "res_net", 1, 4, 62.5), 1.25, 1e-12);
	assert_float_equal(speed(&w, "res_net", 1, 4, 125), 1.5, 1e-12);
	assert_float_equal(speed(&w, "res_net", 2, 3, 62.5), 2, 1e-12); /* 0 was not measured */
	t = hosting_find(w.hosting, 0, 1);
	assert_float_equal(t->best.cpus, 4, 0);
	assert_float_equal(t->best.mem_bytes, 125 * GB, 0);
	assert_float_equal(t->split, 0.8, 0);
	/* Without the column of 20.83 GB. */
	assert_float_equal(hosting_find(w.hosting, 0, 2)->mem_bytes[0], 62.5 * GB, 0);
	assert_float_equal(profile_rate(w.profile, 0, 0, (struct shape){ 1, 1, 1, 0 }), 2, 1e-12);
	assert_int_equal(notes_count(&w.notes, NOTE_DROPPED), 1);
	world_fini(&w);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "no profiles in it" },
		{ "model,cpus,speed\n", "no profiles in it" },
		{ "model,cpus\na,1\n", "the header must name model, cpus and speed" },
		{ "model,cpus,sped\na,1,1\n", "did you mean speed?" },
		{ "model,cpus,speed\na,1,1\n,1,1\n", "hosts:3: model: empty" },
		{ "model,cpus,speed\na,x,1\n", "hosts:2: cpus: \"x\" is not a number above 0" },
		{ "model,cpus,speed\na,1,-1\n", "speed: \"-1\" is not a number above 0" },
		{ "model,cpus,speed\na,1,\n", "speed: empty" },
		{ "model,cpus,memory,speed\na,1,60Q,1\n", "memory: \"60Q\" is not a size such as 62.5G" },
		{ "model,cpus,memory,speed\na,1,60G,1\na,2,,1\n", "names it, or none does" },
		{ "model,gpus,cpus,speed\na,1.5,1,1\n", "gpus: not a whole number" },
		{ "model,cpus,speed,dataset\na,1,1,5G\n", "belong together" },
		{ "{}", "a list of profiles belongs here" },
		{ "[{\"profile\": \"x\"}]", "write MODEL_GPUS" },
		{ "[{\"profile\": \"x_1\", \"tput\": 3}]", "x_1: tput: a matrix" },
		{ "[{\"profile\": \"x_1\", \"tput\": [[1, 1], [1]]}]", "row 2, column 2 is not a speed" },
		{ "[{\"profile\": \"x_1\", \"tput\": [[0]]}]", "model x has no speed above 0" },
		{ "[", "not valid JSON" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;

		world_init(&w);
		assert_int_equal(read_text(&w, rows[i].text), ERR_FORMAT);
		if (!strstr(w.err.text, rows[i].says))
			fail_msg("'%s' does not say '%s'", w.err.text, rows[i].says);
		assert_int_equal(w.models.n, 0); /* nothing changed */
		world_fini(&w);
	}
}

static void more_points_than_fit_are_refused(void **state)
{
	struct buf text = { 0 };
	struct world w;

	(void)state;
	world_init(&w);
	buf_str(&text, "model,cpus,speed\n");
	for (int i = 1; i <= HOST_AXIS_MAX + 1; i++)
		buf_printf(&text, "a,%d,1\n", i);
	assert_int_equal(read_text(&w, text.at), ERR_FORMAT);
	assert_non_null(strstr(w.err.text, "more than 32 values of cpus"));
	buf_fini(&text);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_make_a_table),
		cmocka_unit_test(memory_comes_of_the_data_set_or_does_not_matter),
		cmocka_unit_test(synergy_s_matrices_are_read),
		cmocka_unit_test(what_is_wrong_is_said_with_its_place),
		cmocka_unit_test(more_points_than_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
