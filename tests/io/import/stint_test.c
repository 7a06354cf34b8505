#include <math.h>

#include "base/rng.h"
#include "io/import_case.h"

static const struct import_case rows[] = {
	{ "the least there can be", "arrival_s,duration_s\n0,5\n3,6\n",
		"id,gpus,arrival_s,duration_s\n0,1,0,5\n1,1,3,6\n", "not given: 1 GPU" },
	{ "all there can be",
		"id,name,tenant,model,gpus,min_gpus,max_gpus,types,arrival_s,duration_s,est_s,weight,priority,class,"
		"deadline_s,cpus,mem,share,gpu_mem,batch,epochs,after,start_cost_s,resume_cost_s,resize_cost_s,checkpoint_every_s,measured_on\n"
		"a,first one,t,m,4,2,8,v100|a100,1.5,100,90,2.5,-3,opportunistic,500,16,1K,0.25,2K,256,90,,1,2.5,0.1,600,v100\n"
		"b,\"with, comma\",t,m,1,1,1,a100,2,100,100,1,0,guaranteed,,0,0,0,0,0,0,a,0,0,0,0,\n",
		"id,name,tenant,model,gpus,min_gpus,max_gpus,types,arrival_s,duration_s,est_s,weight,priority,class,"
		"deadline_s,cpus,mem,share,gpu_mem,batch,epochs,after,start_cost_s,resume_cost_s,resize_cost_s,checkpoint_every_s,measured_on\n"
		"a,first one,t,m,4,2,8,a100|v100,1.5,100,90,2.5,-3,opportunistic,500,16,1024,0.25,2048,256,90,,1,2.5,0.1,600,v100\n"
		"b,\"with, comma\",t,m,1,,,a100,2,100,,,,,,,,,,,,a,,,,,\n" },
	{ "names may be in capitals, and other names are known",
		"ARRIVAL,Duration,User,num_gpus\n0,5,u,2\n",
		"id,tenant,gpus,arrival_s,duration_s\n0,u,2,0,5\n", .unrecognised = true },
	{ "units", "arrival_s,duration_s,mem\n1m,1.5h,2G\n90s,2d,1\n",
		"id,gpus,arrival_s,duration_s,mem\n0,1,60,5400,2147483648\n1,1,90,172800,1\n" },
	{ "steps with a speed, with a run time, with neither",
		"arrival_s,steps,rate,duration_s\n0,100,4,\n0,100,,50\n0,100,,\n",
		"id,gpus,arrival_s,steps,rate\n0,1,0,100,4\n1,1,0,100,2\n2,1,0,100,\n" },
	{ "what is believed of steps, in steps or seconds",
		"arrival_s,steps,rate,est_s,est_steps\n0,100,4,20,\n0,100,4,,90\n",
		"id,gpus,arrival_s,steps,rate,est_steps\n0,1,0,100,4,80\n1,1,0,100,4,90\n" },
	{ "run times that only a profile knows", "arrival_s,steps,model\n0,?,bert\n",
		"id,model,gpus,arrival_s,steps\n0,bert,1,0,?\n" },
	{ "both kinds of them", "arrival_s,duration_s,steps\n0,?,\n1,,?\n2,7,\n",
		"id,gpus,arrival_s,duration_s,steps\n0,1,0,?,\n1,1,1,,?\n2,1,2,7,\n" },
	{ "a range of GPUs without a wish", "arrival_s,duration_s,min_gpus,max_gpus\n0,5,2,8\n0,5,2,\n",
		"id,gpus,min_gpus,arrival_s,duration_s\n0,8,2,0,5\n1,2,,0,5\n" },
	{ "an unknown column is said, with what may be meant", "arrival_s,duration_s,tennant\n0,5,u\n",
		"id,gpus,arrival_s,duration_s\n0,1,0,5\n", "a column that stint traces do not have" },
	{ "jobs without GPUs are left out", "arrival_s,duration_s,gpus\n0,5,0\n0,5,1\n",
		"id,gpus,arrival_s,duration_s\n1,1,0,5\n", "without GPUs" },
	{ "any type", "arrival_s,duration_s,types\n0,5,any\n0,5,\n",
		"id,gpus,arrival_s,duration_s\n0,1,0,5\n1,1,0,5\n" },
	{ "gangs by type, in the order of the alphabet",
		"arrival_s,duration_s,gpus,gpus_by_type\n0,5,2, v100:4  a100:1 \n0,5,3,\n",
		"id,gpus,gpus_by_type,arrival_s,duration_s\n0,2,a100:1 v100:4,0,5\n1,3,,0,5\n" },
	{ "gangs by type alone: the largest is asked for elsewhere",
		"arrival_s,duration_s,gpus_by_type,types\n0,5,a100:2 v100:65535,a100\n",
		"id,gpus,types,gpus_by_type,arrival_s,duration_s\n0,65535,a100,a100:2 v100:65535,0,5\n" },
	{ "a byte order mark",
		"\xef\xbb\xbf"
		"arrival_s,duration_s\n0,5\n",
		"id,gpus,arrival_s,duration_s\n0,1,0,5\n" },
	{ "dependencies may look ahead, and survive sorting",
		"id,arrival_s,duration_s,after\nc,9,5,a|b\nb,3,5,\na,1,5,b\n",
		"id,gpus,arrival_s,duration_s,after\na,1,1,5,b\nb,1,3,5,\nc,1,9,5,a|b\n" },
	{ "dependencies by number where there are no ids", "arrival_s,duration_s,after\n0,5,\n0,5,0\n",
		"id,gpus,arrival_s,duration_s,after\n0,1,0,5,\n1,1,0,5,0\n" },
};

static const struct import_case wrong[] = {
	{ "no arrival", "id,duration_s\n1,5\n", "error: t:1: field 'arrival_s': not in the header" },
	{ "nearly", "arival_s,duration_s\n1,5\n", "error: did you mean it by 'arival_s'?" },
	{ "no work", "id,arrival_s\n1,5\n", "error: t:1: field 'duration_s': neither it nor 'steps'" },
	{ "a column twice", "arrival_s,duration_s,arrival\n1,5,1\n",
		"error: t:1: field 'arrival_s': two columns of the header mean this" },
	{ "only a header", "arrival_s,duration_s\n",
		"error: t: no jobs: there is a header and nothing below" },
	{ "NaN", "arrival_s,duration_s\n0,nan\n",
		"error: t:2: field 'duration_s': \"nan\" is not a time" },
	{ "infinite", "arrival_s,duration_s\n0,inf\n",
		"error: t:2: field 'duration_s': \"inf\" is not a time" },
	{ "too large a number", "arrival_s,duration_s\n0,1e999\n",
		"error: field 'duration_s': \"1e999\" is" },
	{ "negative work", "arrival_s,duration_s\n0,5\n1,-5\n",
		"error: t:3: field 'duration_s': \"-5\" is negative; correct it, or leave such rows out with --lenient" },
	{ "no work at all", "arrival_s,duration_s\n0,0\n", "error: t:2: field 'duration_s': \"0\" is 0" },
	{ "no work given", "arrival_s,duration_s\n0,\n", "error: t:2: field 'duration_s': is missing" },
	{ "no arrival given", "arrival_s,duration_s\n,1\n", "error: t:2: field 'arrival_s': is missing" },
	{ "a negative arrival", "arrival_s,duration_s\n-1,1\n",
		"error: t:2: field 'arrival_s': \"-1\" is negative" },
	{ "half a GPU", "arrival_s,duration_s,gpus\n0,1,1.5\n",
		"error: t:2: field 'gpus': \"1.5\" is not a whole number" },
	{ "words for GPUs", "arrival_s,duration_s,gpus\n0,1,two\n",
		"error: t:2: field 'gpus': \"two\" is not a number" },
	{ "a billion GPUs", "arrival_s,duration_s,gpus\n0,1,1000000000\n",
		"error: \"1000000000\" is too large" },
	{ "a minimum above the wish", "arrival_s,duration_s,gpus,min_gpus\n0,1,2,4\n",
		"error: t:2: field 'min_gpus': \"4\" is more than gpus" },
	{ "a maximum below it", "arrival_s,duration_s,gpus,max_gpus\n0,1,2,1\n",
		"error: t:2: field 'max_gpus': \"1\" is less than gpus" },
	{ "a gang without a type", "arrival_s,duration_s,gpus_by_type\n0,1,4\n",
		"error: t:2: field 'gpus_by_type': \"4\" is not a type and a number of GPUs; write types" },
	{ "a type without a gang", "arrival_s,duration_s,gpus_by_type\n0,1,a100:1 v100:\n",
		"error: t:2: field 'gpus_by_type': \"v100:\" is not a type and a number" },
	{ "a gang of any type", "arrival_s,duration_s,gpus_by_type\n0,1,any:2\n",
		"error: t:2: field 'gpus_by_type': \"any:2\" is not a type and a number" },
	{ "half a GPU of a type", "arrival_s,duration_s,gpus_by_type\n0,1,a100:1.5\n",
		"error: t:2: field 'gpus_by_type': \"a100:1.5\" is not a type and a number" },
	{ "no GPU of a type", "arrival_s,duration_s,gpus_by_type\n0,1,a100:0\n",
		"error: t:2: field 'gpus_by_type': \"a100:0\" is 0" },
	{ "too many of a type", "arrival_s,duration_s,gpus_by_type\n0,1,a100:65536\n",
		"error: t:2: field 'gpus_by_type': \"a100:65536\" is too large" },
	{ "a type twice", "arrival_s,duration_s,gpus_by_type\n0,1,a100:1 a100:2\n",
		"error: t:2: field 'gpus_by_type': \"a100:2\" names a type again" },
	{ "gangs by type of an elastic job",
		"arrival_s,duration_s,gpus,max_gpus,gpus_by_type\n0,1,2,4,a100:1\n",
		"error: t:2: field 'gpus_by_type': \"a100:1\" is given of an elastic job" },
	{ "no weight", "arrival_s,duration_s,weight\n0,1,0\n", "error: t:2: field 'weight': \"0\" is 0" },
	{ "no class", "arrival_s,duration_s,class\n0,1,best\n",
		"error: t:2: field 'class': \"best\" is not a class; write guaranteed or opportunistic" },
	{ "no size", "arrival_s,duration_s,mem\n0,1,big\n",
		"error: t:2: field 'mem': \"big\" is not a size" },
	{ "a speed without steps", "arrival_s,duration_s,rate\n0,1,3\n",
		"error: t:2: field 'rate': \"3\" is a speed without steps" },
	{ "too few fields", "arrival_s,duration_s\n0\n", "error: t:2: 1 columns where the header has 2" },
	{ "too many fields", "arrival_s,duration_s\n0,1,2\n",
		"error: t:2: 3 columns where the header has 2" },
	{ "two jobs with one id", "id,arrival_s,duration_s\n7,0,1\nx,0,1\n7,0,1\n",
		"error: t:4: \"7\" is the id of an earlier job too; ids must differ" },
	{ "two jobs with one name for an id", "id,arrival_s,duration_s\nx,0,1\nx,0,1\n",
		"error: t:3: \"x\" is the id of an earlier job too" },
	{ "an empty id takes the row's number, which another may have",
		"id,arrival_s,duration_s\n1,0,1\n,0,1\n",
		"error: t:3: \"1\" is the id of an earlier job too" },
	{ "an id with a bar", "id,arrival_s,duration_s\na|b,0,1\n", "error: t:2: \"a|b\" is no id" },
	{ "after nobody", "id,arrival_s,duration_s,after\na,0,1,b\n",
		"error: t:2: field 'after': \"b\" is not the id of a job" },
	{ "after itself", "id,arrival_s,duration_s,after\na,0,1,a\n",
		"error: t:2: field 'after': \"a\" is the job itself" },
	{ "a quote left open", "arrival_s,duration_s,name\n0,1,\"x\n", "error: t:2: a quote opens here" },
	{ "a control character is not printed", "arrival_s,duration_s\n0,\x1b[31m\n",
		"error: \"?[31m\" is not a time" },
};

static const struct import_case lenient[] = {
	{ "bad rows are left out, and the rest is kept",
		"id,arrival_s,duration_s\na,0,1\nb,0,-1\nc,0,x\na,0,1\nd,0,4\n",
		"id,gpus,arrival_s,duration_s\na,1,0,1\nd,1,0,4\n",
		"is negative; the row does not count", .lenient = true },
	{ "a dependency on a row left out does not count",
		"id,arrival_s,duration_s,after\na,0,1,b|c\nb,0,-1,\nc,0,1,\n",
		"id,gpus,arrival_s,duration_s,after\na,1,0,1,c\nc,1,0,1,\n",
		"the dependency does not count", .lenient = true },
	{ "nothing is left", "arrival_s,duration_s\n0,-1\n",
		"error: t: no job is left: the only row does not count", .lenient = true },
};

static void rows_become_jobs(void **state)
{
	(void)state;
	run_import_cases("stint", rows);
}

static void bad_rows_fail(void **state)
{
	(void)state;
	run_import_cases("stint", wrong);
}

static void lenient_reading_leaves_them_out(void **state)
{
	(void)state;
	run_import_cases("stint", lenient);
}

static void problems_have_lines_and_remedies(void **state)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_text("arrival_s,duration_s,tennant\n0,1,\n0,-1,\n0,-2,\n", NULL, true,
				 &trace, &notes, &err),
		0);
	assert_int_equal(notes_count(&notes, NOTE_PROBLEM), 2);
	assert_int_equal(notes_count(&notes, NOTE_DROPPED), 1);
	for (size_t i = 0; i < notes.n; i++) {
		const struct note *note = &notes.at[i];

		if (note->level == NOTE_PROBLEM) {
			assert_int_equal(note->line, 3);
			assert_string_equal(note->field, "duration_s");
			assert_non_null(strstr(note->fix, "here it is \"-1\""));
		} else if (note->level == NOTE_DROPPED) {
			assert_string_equal(note->field, "tennant");
			assert_string_equal(note->fix, "did you mean 'tenant'?");
		}
	}
	trace_fini(&trace);
	notes_fini(&notes);
}

/* ---- any trace survives ---- */

static void word(struct rng *rng, char text[16])
{
	static const char letters[] = "ab c,\"\n'x\t;0-\r";
	size_t n = 1 + rng_below(rng, 8);

	for (size_t i = 0; i < n; i++)
		text[i] = letters[rng_below(rng, sizeof(letters) - 1)];
	text[n] = '\0';
}

static bool coin(struct rng *rng)
{
	return rng_below(rng, 2);
}

static double amount(struct rng *rng)
{
	return coin(rng) ? 1 + (double)rng_below(rng, 1000) : rng_lognormal(rng, 5, 3);
}

static uint32_t random_name(struct rng *rng, struct names *names)
{
	char text[16];

	if (coin(rng))
		return NAME_NONE;
	word(rng, text);
	return names_add(names, text, strlen(text));
}

/* Ids differ, and have no blanks at their ends. */
static const char *random_label(struct rng *rng, struct trace *t, uint32_t i)
{
	char text[16] = "", label[40];
	size_t n;

	if (coin(rng))
		word(rng, text);
	n = (size_t)snprintf(label, sizeof(label), "%uj%s", i, text);
	while (strchr(" \t\r\n", label[n - 1]))
		n--;
	return trace_text(t, label, n);
}

static const char *random_text(struct rng *rng, struct trace *t)
{
	char text[16];

	word(rng, text);
	return trace_text(t, text, strlen(text));
}

static void random_job(struct rng *rng, struct trace *t, bool with_types)
{
	struct job *job = trace_add(t);
	uint32_t i = t->njobs - 1;

	job->label = random_label(rng, t, i);
	if (coin(rng))
		job->name = random_text(rng, t);
	job->tenant = random_name(rng, &t->tenants);
	job->model = random_name(rng, &t->models);
	job->arrival_s = amount(rng);
	job->gpus = 1 + (int32_t)rng_below(rng, 64);
	job->min_gpus = coin(rng) ? 0 : 1 + (int32_t)rng_below(rng, (uint64_t)job->gpus);
	job->max_gpus = coin(rng) ? 0 : job->gpus + (int32_t)rng_below(rng, 9);
	job->types = with_types ? (uint32_t)rng_below(rng, 8) : 0;
	job->class_ = (uint32_t)rng_below(rng, 2);
	job->weight = coin(rng) ? 1 : amount(rng);
	job->priority = (int32_t)rng_below(rng, 7) - 3;
	job->batch = (int32_t)rng_below(rng, 3) * 64;
	job->deadline_s = coin(rng) ? INFINITY : job->arrival_s + amount(rng);
	job->cpus = coin(rng) ? 0 : amount(rng);
	job->mem_bytes = (int64_t)(rng_u64(rng) >> 20);
	job->share = coin(rng) ? 0 : rng_uniform(rng);
	job->gpu_mem_bytes = coin(rng) ? 0 : (int64_t)(rng_u64(rng) >> 20);
	job->start_cost_s = coin(rng) ? 0 : (float)amount(rng);
	job->resume_cost_s = coin(rng) ? 0 : (float)amount(rng);
	job->resize_cost_s = coin(rng) ? 0 : (float)amount(rng);
	job->checkpoint_every_s = coin(rng) ? 0 : (float)amount(rng);
	job->by_steps = coin(rng);
	if (job->by_steps && coin(rng))
		job->nominal_rate = amount(rng);
	job->work_est = coin(rng) ? NAN : amount(rng);
	job->epochs = coin(rng) ? 0 : amount(rng);
	t->work[i] = rng_below(rng, 8) ? amount(rng) : NAN;
	if (with_types && coin(rng))
		trace_measured(t, (uint32_t)rng_below(rng, 3));
}

static void random_trace(struct rng *rng, struct trace *t)
{
	uint32_t n = 1 + (uint32_t)rng_below(rng, 20);
	bool with_types = coin(rng);

	t->source = mem_strdup("random");
	for (int i = 0; with_types && i < 3; i++)
		names_add(&t->types, &"v100\0a100\0h100"[5 * i], 4);
	for (uint32_t i = 0; i < n; i++)
		random_job(rng, t, with_types);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = (uint32_t)rng_below(rng, 3); k > 0; k--)
			trace_add_dep(t, i, (uint32_t)rng_below(rng, i));
	trace_finish(t, NAN);
}

static void any_trace_reads_back_equal(void **state)
{
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
	struct rng rng;

	(void)state;
	printf("[   SEED   ] %llu: any trace reads back equal\n", (unsigned long long)seed);
	rng_init(&rng, seed, RNG_TEST);
	for (int i = getenv("SOAK") ? 100000 : 2000; i > 0; i--) {
		struct trace trace = { 0 };

		random_trace(&rng, &trace);
		assert_round_trip(&trace);
		trace_fini(&trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_become_jobs),
		cmocka_unit_test(bad_rows_fail),
		cmocka_unit_test(lenient_reading_leaves_them_out),
		cmocka_unit_test(problems_have_lines_and_remedies),
		cmocka_unit_test(any_trace_reads_back_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
