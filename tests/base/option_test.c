#include "base/option.h"

#include <math.h>
#include <string.h>

#include "property.h"

struct sample {
	double limit_s;
	double share;
	double patience;
	int queues;
	bool backfill;
	int misfit;
	char label[OPTION_TEXT_MAX];
	char note[OPTION_TEXT_MAX];
};

static const char *const misfits[] = { "block", "skip", "shrink", NULL };

static const struct option options[] = { OPT_DOUBLE(struct sample, limit_s, 3600, 1, 1e9,
						 "service in the first queue"),
	OPT_DOUBLE(struct sample, share, 0.5, 0, 1, "share"),
	OPT_DOUBLE(struct sample, patience, INFINITY, 0, INFINITY, "how long to wait"),
	OPT_INT(struct sample, queues, 2, 1, 16, "number of queues"),
	OPT_BOOL(struct sample, backfill, true, "whether to backfill"),
	OPT_CHOICE(struct sample, misfit, 1, misfits, "what to do with a job that does not fit"),
	OPT_TEXT(struct sample, label, "plain", "a label"),
	OPT_TEXT(struct sample, note, NULL, "a note"), { 0 } };

static struct sample defaults(void)
{
	struct sample s;

	memset(&s, 0xff, sizeof(s));
	option_defaults(options, &s);
	return s;
}

static char *formatted(const struct sample *s)
{
	struct buf out = { 0 };

	option_format(options, s, &out);
	return out.at;
}

#define DEFAULTS "limit_s=3600,share=0.5,patience=inf,queues=2,backfill=1,misfit=skip,label=plain"

static void good_texts(void **state)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
		{ "no text: the defaults", NULL, DEFAULTS },
		{ "empty text: the defaults", "", DEFAULTS },
		{ "blank text: the defaults", "  ", DEFAULTS },
		{ "one value", "queues=3",
			"limit_s=3600,share=0.5,patience=inf,queues=3,backfill=1,misfit=skip,label=plain" },
		{ "all of them, with spaces",
			"limit_s = 60, share=1, patience=5, queues=16, backfill=0, misfit=shrink, label=a b, note=x=y",
			"limit_s=60,share=1,patience=5,queues=16,backfill=0,misfit=shrink,label=a b,note=x=y" },
		{ "a duration with a unit", "limit_s=1.5h",
			"limit_s=5400,share=0.5,patience=inf,queues=2,backfill=1,misfit=skip,label=plain" },
		{ "a duration as a clock", "limit_s=1:00:00", DEFAULTS },
		{ "a large number is written short", "limit_s=250000000",
			"limit_s=2.5e8,share=0.5,patience=inf,queues=2,backfill=1,misfit=skip,label=plain" },
		{ "an infinite value where the range has it", "patience=INF", DEFAULTS },
		{ "a whole number may have an exponent", "queues=1e1",
			"limit_s=3600,share=0.5,patience=inf,queues=10,backfill=1,misfit=skip,label=plain" },
		{ "a bare bool", "backfill", DEFAULTS },
		{ "no", "backfill=no",
			"limit_s=3600,share=0.5,patience=inf,queues=2,backfill=0,misfit=skip,label=plain" },
		{ "on", "backfill=On", DEFAULTS },
		{ "the last of a name counts", "queues=5,queues=2", DEFAULTS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sample s = defaults();
		struct err err = { 0 };
		char *got;

		if (option_parse(options, &s, "tiresias", rows[i].text, &err))
			fail_msg("%s: %s", rows[i].what, err.text);
		got = formatted(&s);
		if (strcmp(got, rows[i].want))
			fail_msg("%s: got %s", rows[i].what, got);
		free(got);
	}
}

static void bad_texts_change_nothing_and_say_why(void **state)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
		{ "too small", "queues=0", "tiresias: queues=0: out of range (allowed: 1..16)" },
		{ "too large", "queues=17", "tiresias: queues=17: out of range (allowed: 1..16)" },
		{ "much too large", "queues=1e12",
			"tiresias: queues=1e12: out of range (allowed: 1..16)" },
		{ "a double out of range", "share=1.01",
			"tiresias: share=1.01: out of range (allowed: 0..1)" },
		{ "a duration out of range", "limit_s=1e10",
			"tiresias: limit_s=1e10: out of range (allowed: 1..1e9)" },
		{ "infinity where the range has none", "share=inf",
			"tiresias: share=inf: out of range (allowed: 0..1)" },
		{ "a word for a number", "share=half",
			"tiresias: share=half: not a number (allowed: 0..1)" },
		{ "nan", "share=nan", "tiresias: share=nan: not a number (allowed: 0..1)" },
		{ "a unit where there is none", "share=1h",
			"tiresias: share=1h: not a number (allowed: 0..1)" },
		{ "a fraction for a whole number", "queues=2.5",
			"tiresias: queues=2.5: not a whole number (allowed: 1..16)" },
		{ "a word for a whole number", "queues=two",
			"tiresias: queues=two: not a whole number (allowed: 1..16)" },
		{ "infinity for a whole number", "queues=inf",
			"tiresias: queues=inf: not a whole number (allowed: 1..16)" },
		{ "no duration", "limit_s=soon",
			"tiresias: limit_s=soon: not a duration such as 90, 30m, 1.5h or 1:30:00 (allowed: 1..1e9)" },
		{ "no bool", "backfill=maybe",
			"tiresias: backfill=maybe: neither yes nor no (allowed: 0|1)" },
		{ "a slip in a choice", "misfit=skp",
			"tiresias: misfit=skp: not one of the choices; did you mean skip? (allowed: block|skip|shrink)" },
		{ "no choice", "misfit=7",
			"tiresias: misfit=7: not one of the choices (allowed: block|skip|shrink)" },
		{ "a value is missing",
			"queues=", "tiresias: queues=: a value is missing (allowed: 1..16)" },
		{ "the value of a bool is missing",
			"backfill=", "tiresias: backfill=: a value is missing (allowed: 0|1)" },
		{ "a bare name that is no bool", "queues",
			"tiresias: queues=: a value is missing (allowed: 1..16)" },
		{ "an empty text", "label= ", "tiresias: label=: a value is missing (allowed: text)" },
		{ "a comma too many", "queues=3,,share=1",
			"tiresias: empty option in 'queues=3,,share=1' (a comma too many?)" },
		{ "a comma at the end", "queues=3,",
			"tiresias: empty option in 'queues=3,' (a comma too many?)" },
		{ "a comma at the beginning", ",queues=3",
			"tiresias: empty option in ',queues=3' (a comma too many?)" },
		{ "a slip in a name", "quues=3",
			"tiresias: unknown option 'quues'; did you mean 'queues'? "
			"(known: limit_s, share, patience, queues, backfill, misfit, label, note)" },
		{ "an unknown name", "zzz=3",
			"tiresias: unknown option 'zzz' (known: limit_s, share, patience, queues, backfill, misfit, label, note)" },
		{ "no name at all", "=3",
			"tiresias: unknown option '' (known: limit_s, share, patience, queues, backfill, misfit, label, note)" },
		{ "a good one before a bad one", "queues=3,share=9",
			"tiresias: share=9: out of range (allowed: 0..1)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sample s = defaults();
		struct err err = { 0 };
		char *got;

		if (option_parse(options, &s, "tiresias", rows[i].text, &err) != ERR_USAGE)
			fail_msg("%s: accepted", rows[i].what);
		if (strcmp(err.text, rows[i].want))
			fail_msg("%s: says %s", rows[i].what, err.text);
		got = formatted(&s);
		assert_string_equal(got, DEFAULTS);
		free(got);
	}
}

static void texts_have_a_longest(void **state)
{
	struct sample s = defaults();
	struct err err = { 0 };
	char text[400] = "label=";

	(void)state;
	memset(text + 6, 'x', OPTION_TEXT_MAX - 1);
	assert_int_equal(option_parse(options, &s, "p", text, &err), 0);
	assert_int_equal(strlen(s.label), OPTION_TEXT_MAX - 1);
	memset(text + 6, 'y', OPTION_TEXT_MAX);
	assert_int_equal(option_parse(options, &s, "p", text, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "too long"));
	assert_int_equal(s.label[0], 'x');
}

static void no_table_takes_no_options(void **state)
{
	static const struct option none[] = { { 0 } };
	struct buf out = { 0 };
	struct err err = { 0 };

	(void)state;
	option_defaults(NULL, NULL);
	option_format(NULL, NULL, &out);
	assert_int_equal(out.n, 0);
	assert_int_equal(option_parse(NULL, NULL, "fifo", "", &err), 0);
	assert_int_equal(option_parse(NULL, NULL, "fifo", "x=1", &err), ERR_USAGE);
	assert_string_equal(err.text, "fifo takes no options, but was given 'x'");
	assert_int_equal(option_parse(none, NULL, "fifo", "x", &err), ERR_USAGE);
	buf_fini(&out);
}

static void options_describe_themselves(void **state)
{
	static const struct {
		const char *preset, *range;
	} rows[] = {
		{ "3600", "1..1e9" },
		{ "0.5", "0..1" },
		{ "inf", "0..inf" },
		{ "2", "1..16" },
		{ "1", "0|1" },
		{ "skip", "block|skip|shrink" },
		{ "plain", "text" },
		{ "", "text" },
	};
	struct sample s = defaults();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf preset = { 0 }, value = { 0 }, range = { 0 };

		option_preset(&options[i], &preset);
		option_value(&options[i], &s, &value);
		option_range(&options[i], &range);
		assert_string_equal(preset.at, rows[i].preset);
		assert_string_equal(value.at, rows[i].preset);
		assert_string_equal(range.at, rows[i].range);
		buf_fini(&preset);
		buf_fini(&value);
		buf_fini(&range);
	}
}

static void what_is_formatted_reads_back(void **state)
{
	struct rng rng = property("formatted options read back equal");

	(void)state;
	for (size_t i = 0; i < rounds(20000); i++) {
		struct sample a = defaults(), b = defaults();
		struct err err = { 0 };
		char *text;

		a.limit_s = rng_below(&rng, 2)
			? rng_between(&rng, 1, 1e9)
			: (double)(1 + rng_below(&rng, 1000)) * pow(10, (double)rng_below(&rng, 6));
		a.share = rng_uniform(&rng);
		a.queues = 1 + (int)rng_below(&rng, 16);
		a.backfill = rng_below(&rng, 2);
		a.misfit = (int)rng_below(&rng, 3);
		snprintf(a.label, sizeof(a.label), "%llx", (unsigned long long)rng_u64(&rng));
		text = formatted(&a);
		if (option_parse(options, &b, "p", text, &err))
			fail_msg("%s", err.text);
		assert_true(a.limit_s == b.limit_s && a.share == b.share && a.queues == b.queues);
		assert_true(a.backfill == b.backfill && a.misfit == b.misfit &&
			!strcmp(a.label, b.label));
		free(text);
	}
}

static void lists_split_between_items(void **state)
{
	static const struct {
		const char *text;
		const char *want[5];
	} rows[] = {
		{ "", { 0 } },
		{ "fifo", { "fifo" } },
		{ "fifo,sjf,las", { "fifo", "sjf", "las" } },
		{ "fifo,sjf,tiresias:queues=2,limit_s=60",
			{ "fifo", "sjf", "tiresias:queues=2,limit_s=60" } },
		{ "tiresias:queues=2,limit_s=60,fifo", { "tiresias:queues=2,limit_s=60", "fifo" } },
		{ "a:x=1,b:y=2,z=3", { "a:x=1", "b:y=2,z=3" } },
		{ "a:flag,x=1", { "a:flag,x=1" } },
		{ "a:t=1:30:00,u=2:00", { "a:t=1:30:00,u=2:00" } },
		{ "fifo,x=1", { "fifo", "x=1" } },
		{ "fifo,,sjf", { "fifo", "", "sjf" } },
		{ "fifo,", { "fifo", "" } },
		{ " fifo , sjf ", { "fifo", "sjf" } },
		{ "a:,x=1", { "a:,x=1" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char **items = NULL;
		size_t n = option_split_list(rows[i].text, &items);

		for (size_t k = 0; k < n; k++) {
			if (k >= 5 || !rows[i].want[k] || strcmp(items[k], rows[i].want[k]))
				fail_msg("'%s': item %zu is '%s'", rows[i].text, k, items[k]);
			free(items[k]);
		}
		if (n < 5 && rows[i].want[n])
			fail_msg("'%s': %zu items", rows[i].text, n);
		free(items);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_texts),
		cmocka_unit_test(bad_texts_change_nothing_and_say_why),
		cmocka_unit_test(texts_have_a_longest),
		cmocka_unit_test(no_table_takes_no_options),
		cmocka_unit_test(options_describe_themselves),
		cmocka_unit_test(what_is_formatted_reads_back),
		cmocka_unit_test(lists_split_between_items),
	};

	return cmocka_run_group_tests_name("base/option", tests, NULL, NULL);
}
