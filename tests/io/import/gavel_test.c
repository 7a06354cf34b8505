#include "io/import_case.h"

#define JOB(type, steps, gpus, weight, slo, arrival) \
	type "\tpython3 main.py \"%s\"\tdir\t--steps\t1\t" steps "\t" gpus "\t" weight "\t" slo \
	     "\t" arrival "\n"

static const struct import_case rows[] = {
	{ "work is steps, ids are line numbers from 0",
		JOB("LM (batch size 5)", "100", "1", "1", "-1.000000", "0")
			JOB("A3C", "50", "2", "1", "-1", "7.5"),
		"id,model,gpus,arrival_s,steps\n0,LM (batch size 5),1,0,100\n1,A3C,2,7.5,50\n" },
	{ "weights are kept", JOB("A3C", "50", "2", "5", "-1", "0"),
		"id,model,gpus,arrival_s,steps,weight\n0,A3C,2,0,50,5\n" },
	{ "an SLO needs a run time, which is not there", JOB("A3C", "50", "2", "1", "1.2", "0"),
		"id,model,gpus,arrival_s,steps\n0,A3C,2,0,50\n", "no deadline" },
	{ "windows line ends and no last one",
		"A3C\tc\td\t-s\t1\t50\t2\t1\t-1\t0\r\nA3C\tc\td\t-s\t1\t60\t2\t1\t-1\t4",
		"id,model,gpus,arrival_s,steps\n0,A3C,2,0,50\n1,A3C,2,4,60\n" },
	{ "no weight at all fails", JOB("A3C", "50", "2", "0", "-1", "0"),
		"error: t:1: field 'priority weight': \"0\" is no weight" },
	{ "no steps fails", JOB("A3C", "", "2", "1", "-1", "0"),
		"error: t:1: field 'total steps': is missing", .unrecognised = true },
	{ "no type fails", JOB("", "5", "2", "1", "-1", "0"),
		"error: t:1: field 'job type': no job type is given" },
	{ "a row of the older layout says so",
		JOB("A3C", "50", "2", "1", "-1", "0") "A3C\tc\t-s\t1\t50\t0\t2\n",
		"error: t:2: 7 columns where gavel has 10; this is the older layout, use --format gavel7" },
	{ "a row of Shockwave's says so",
		JOB("A3C", "50", "2", "1", "-1", "0") "A3C\tc\td\t-s\t1\t50\t2\tgns\t1\t-1\t9\t0\n",
		"error: use --format shockwave" },
	{ "some other number of columns", "A3C\tc\td\t-s\t1\t50\n",
		"error: t:1: 6 columns where gavel has 10; columns are separated by tabs" },
	{ "and with leniency the row is left out",
		JOB("A3C", "50", "2", "1", "-1", "0") "A3C\tc\n" JOB("LM", "9", "1", "1", "-1", "1"),
		"id,model,gpus,arrival_s,steps\n0,A3C,2,0,50\n2,LM,1,1,9\n",
		"another number of fields", .lenient = true },
};

static const struct import_case older[] = {
	{ "the older layout has arrival before GPUs",
		"Transformer (batch size 128)\tcd x && y\t-step\t1\t14612\t0.000000\t1\n"
		"A3C\tc\t-n\t1\t1550\t11.000000\t8\n",
		"id,model,gpus,arrival_s,steps\n0,Transformer (batch size 128),1,0,14612\n1,A3C,8,11,1550\n" },
	{ "a row of the current layout says so",
		"A3C\tc\t-n\t1\t1550\t11.000000\t8\n" JOB("A3C", "50", "2", "1", "-1", "0"),
		"error: t:2: 10 columns where gavel7 has 7; this is the current layout of Gavel" },
};

static const struct import_case shockwave[] = {
	{ "the run time gives the nominal speed", "LM\tc\td\t-s\t1\t1000\t1\tstatic\t1\t-1\t500\t0\n",
		"id,model,gpus,arrival_s,steps,rate\n0,LM,1,0,1000,2\n" },
	{ "and a deadline", "LM\tc\td\t-s\t1\t1000\t1\tstatic\t2\t1.5\t500\t10\n",
		"id,model,gpus,arrival_s,steps,rate,weight,deadline_s\n0,LM,1,10,1000,2,2,760\n" },
	{ "a batch size that adapts in a way not known is said to be dropped",
		"LM\tc\td\t-s\t1\t1000\t1\tgns\t1\t-1\t1000\t0\n",
		"id,model,gpus,arrival_s,steps\n0,LM,1,0,1000\n", "is not known" },
	{ "one that is known is kept", "LM (batch size 10)\tc\td\t-s\t1\t1000\t1\tgns\t1\t-1\t1000\t0\n",
		"id,model,gpus,arrival_s,steps\n0,LM (batch size 10),1,0,1000\n", "batch sizes change" },
	{ "and what is no mode is an error",
		"LM (batch size 10)\tc\td\t-s\t1\t1000\t1\tbellows\t1\t-1\t1000\t0\n",
		"error: write static, accordion or gns" },
};

static void gavel(void **state)
{
	(void)state;
	run_import_cases("gavel", rows);
}

static void gavel7(void **state)
{
	(void)state;
	run_import_cases("gavel7", older);
}

static void shockwave_(void **state)
{
	(void)state;
	run_import_cases("shockwave", shockwave);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gavel),
		cmocka_unit_test(gavel7),
		cmocka_unit_test(shockwave_),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
