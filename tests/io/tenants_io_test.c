#include "io/tenants_io.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "io/tenants_quota.h"
#include "support/property.h"

static int read_yaml(const char *text, struct tenants *out, struct err *err)
{
	return tenants_read_yaml("labs.yaml", text, strlen(text), out, err);
}

static struct tenants good(const char *text)
{
	struct tenants tenants = { 0 };
	struct err err = { 0 };

	if (read_yaml(text, &tenants, &err) < 0)
		fail_msg("%s", err.text);
	return tenants;
}

static void everything_a_file_can_say(void **state)
{
	static const char text[] = "# the labs\n"
				   "tenants:\n"
				   "  - name: interns\n"
				   "    parent: speech   # stands further down\n"
				   "    weight: 0.5\n"
				   "  - name: speech\n"
				   "    weight:\n"
				   "  - {name: vision, weight: 2e0, within: fifo}\n"
				   "  - {name: 'Ünïcode lab', within: fair}\n";
	struct tenants t = good(text);

	(void)state;
	assert_int_equal(t.n, 4);
	assert_string_equal(t.at[0].name, "interns");
	assert_true(t.at[0].parent == 1 && t.at[0].weight == 0.5 && t.at[0].within == WITHIN_FAIR);
	assert_true(t.at[1].parent == TENANT_NONE && t.at[1].weight == 1);
	assert_true(t.at[2].weight == 2 && t.at[2].within == WITHIN_FIFO && t.at[2].stated);
	assert_int_equal(tenants_find(&t, "Ünïcode lab", strlen("Ünïcode lab")), 3);
	assert_true(t.hash == hash_bytes(HASH_START, text, strlen(text)));
	tenants_fini(&t);
}

static void quotas_are_read_and_written(void **state)
{
	static const char text[] =
		"tenants:\n"
		"  - {name: labs, guaranteed: {v100: 8, a100: 4}, borrow: all, lend: {a100: 1}}\n"
		"  - {name: vision, parent: labs, guaranteed: {v100: 6}, lend: 0}\n"
		"  - {name: guests, borrow: 3, lend: 2}\n"
		"  - {name: own, guaranteed: 0, borrow: 0}\n"
		"  - {name: silent, guaranteed: , borrow: , lend: }\n";
	struct tenants t = good(text), again;
	struct buf yaml = { 0 };

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		assert_true(t.at[0].promised && t.at[0].nparts == 2 && t.at[0].guaranteed == 12);
		assert_true(t.at[0].borrow == QUOTA_ALL && t.at[0].parts[0].lend == QUOTA_ALL);
		assert_true(t.at[0].parts[1].guaranteed == 4 && t.at[0].parts[1].lend == 1);
		assert_true(t.at[1].parts[0].guaranteed == 6 && t.at[1].parts[0].lend == 0);
		assert_true(!t.at[2].promised && t.at[2].borrow == 3 && t.at[2].lend == 2);
		assert_true(t.at[3].promised && t.at[3].guaranteed == 0 && t.at[3].borrow == 0);
		assert_true(!t.at[4].promised && t.at[4].borrow == QUOTA_ALL &&
			t.at[4].lend == QUOTA_ALL);
		yaml.n = 0;
		tenants_write_yaml(&t, &yaml);
		again = good(yaml.at);
		tenants_fini(&t);
		t = again;
	}
	tenants_fini(&t);
	buf_fini(&yaml);
}

static const struct {
	const char *text, *part;
} bad[] = {
	{ "", "labs.yaml: no tenants; a file needs at least one, such as" },
	{ "tenants: []", "no tenants" },
	{ "tenants:\n", "no tenants" },
	{ "- a", "labs.yaml:1: " },
	{ "tenants: vision", "labs.yaml:1: tenants: a list expected here, not a single value" },
	{ "tenants:\n  - vision\n", "labs.yaml:2: tenants #1: fields (name: value) expected here" },
	{ "tenants:\n  - weight: 2\n", "labs.yaml:2: tenants #1: a tenant needs its name" },
	{ "tenants:\n  - name: ''\n", "a tenant needs its name" },
	{ "tenants:\n  - name: \"a\\tb\"\n", "labs.yaml:2: tenants #1 name: a name has no line ends" },
	{ "tenants:\n  - name: a\n    wieght: 2\n",
		"labs.yaml:3: tenants #1 wieght: no such field (did you mean \"weight\"?)" },
	{ "tenants:\n  - {name: a, name: b}\n", "given twice" },
	{ "tenants:\n  - name: a\n  - name: b\n  - name: a\n",
		"labs.yaml:4: tenants #3 name: tenant \"a\" is given twice; keep one" },

	{ "tenants:\n  - name: a\n    weight: 0\n",
		"labs.yaml:3: tenants #1 weight: with weight 0 tenant \"a\" would never run; give it" },
	{ "tenants: [{name: a, weight: -0.0}]", "would never run" },
	{ "tenants: [{name: a, weight: -2}]", "-2 is negative; a weight is above 0" },
	{ "tenants: [{name: a, weight: nan}]", "\"nan\" is not a number; write one above 0" },
	{ "tenants: [{name: a, weight: .nan}]", "\".nan\" is not a number" },
	{ "tenants: [{name: a, weight: inf}]", "\"inf\" is not a number" },
	{ "tenants: [{name: a, weight: much}]", "\"much\" is not a number" },
	{ "tenants: [{name: a, weight: 2e9}]", "2e9 is out of range; a weight is from 1e-09 to 1e+09" },
	{ "tenants: [{name: a, weight: 1e-300}]", "out of range" },
	{ "tenants: [{name: a, weight: [1, 2]}]", "a single value expected here, not a list" },

	{ "tenants:\n  - name: a\n    within: lifo\n",
		"labs.yaml:3: tenants #1 within: \"lifo\" is not a way to share; write fair" },
	{ "tenants: [{name: a, within: FIFO}]", "\"FIFO\" is not a way to share" },

	{ "tenants:\n  - name: vision\n  - name: b\n    parent: vison\n",
		"labs.yaml:4: tenants #2 parent: there is no tenant \"vison\" in this file; did you mean \"vision\"?" },
	{ "tenants: [{name: vision, parent: university}]",
		"there is no tenant \"university\" in this file; add it, or leave parent out" },
	{ "tenants:\n  - name: a\n    parent: a\n",
		"labs.yaml:3: tenants #1 parent: \"a\" is its own parent; leave parent out" },
	{ "tenants:\n  - {name: a, parent: b}\n  - {name: b, parent: c}\n  - {name: c, parent: b}\n",
		"labs.yaml:3: tenants #2 parent: parents go round in a circle (\"b\" below \"c\" below \"b\"); "
		"leave one of them out" },
	{ "tenants: [{name: a, parent: b}, {name: b, parent: c}, {name: c, parent: d}, "
	  "{name: d, parent: e}, {name: e, parent: f}, {name: f, parent: g}, {name: g, parent: a}]",
		"below \"f\" below ... \"a\"); leave" },
	{ "tenants: [{name: a, guaranteed: -1}]",
		"\"-1\" is not a number of devices; write a whole one" },
	{ "tenants: [{name: a, guaranteed: 1.5}]", "not a number of devices" },
	{ "tenants: [{name: a, guaranteed: all}]", "\"all\" is not a number of devices" },
	{ "tenants: [{name: a, guaranteed: 4294967297}]", "not a number of devices" },
	{ "tenants: [{name: a, guaranteed: [8]}]", "a number of devices expected here" },
	{ "tenants: [{name: a, guaranteed: {}}]", "no type is named; write {v100: 8}, or 0" },
	{ "tenants:\n  - name: a\n    guaranteed: {v100: much}\n",
		"labs.yaml:3: tenants #1 guaranteed v100: \"much\" is not a number" },
	{ "tenants: [{name: a, guaranteed: {v100: 1, v100: 2}}]", "guaranteed v100: given twice" },
	{ "tenants: [{name: a, guaranteed: {'a b': 1}}]", "types of devices expected here" },
	{ "tenants: [{name: a, borrow: few}]",
		"borrow: \"few\" is not a number of devices; write a whole one, such as 8, or all" },
	{ "tenants: [{name: a, guaranteed: {v100: 4}, lend: 2}]",
		"it is guaranteed devices by type; say of which it lends, such as {v100: 2}" },
	{ "tenants: [{name: a, guaranteed: {v100: 4}, lend: {a100: 2}}]",
		"it is guaranteed no a100 by type" },
	{ "tenants:\n  - {name: p, guaranteed: 4}\n  - {name: a, parent: p, guaranteed: 3}\n  - {name: b, parent: p, guaranteed: 3}\n",
		"labs.yaml:2: tenants #1 guaranteed: \"a\" and \"b\" are promised 3 + 3 = 6 devices, and \"p\" above has 4" },
	{ "tenants: [{name: p, guaranteed: {v100: 4}}, {name: a, parent: p, guaranteed: 2}]",
		"\"p\" is promised devices by type, \"a\" below it 2 of any type; say of which" },
	{ "tenants: [{name: p, guaranteed: {v100: 4}}, {name: a, parent: p, guaranteed: {a100: 1}}]",
		"\"a\" is promised 1 a100, and \"p\" above has 0" },
	{ "tenants: [{name: &x a, parent: *x}]", "aliases" },
	{ "tenants: [{name: a}]\n---\ntenants: [{name: b}]", "a second document" },
	{ "tenants: [", "not valid YAML" },
};

static void what_is_wrong_is_named_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct tenants tenants = { .n = 77 };
		struct err err = { 0 };
		int rc = read_yaml(bad[i].text, &tenants, &err);

		print_message("%s\n", err.text);
		/* What is well written but promises too much is refused. */
		assert_int_equal(rc, strstr(bad[i].part, "promised") ? ERR_REFUSED : ERR_FORMAT);
		if (!strstr(err.text, bad[i].part))
			fail_msg("wanted: %s", bad[i].part);
		assert_int_equal(tenants.n, 77);
	}
}

/* A trace of a job for each of the names, NULL: without a tenant. */
static struct trace trace_of(const char *const *names, size_t n)
{
	struct trace trace = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct job *job = trace_add(&trace);

		if (names[i])
			job->tenant = names_add(&trace.tenants, names[i], strlen(names[i]));
	}
	return trace;
}

static void where_file_and_trace_do_not_meet_is_noted(void **state)
{
	static const char *const names[] = { "vision", NULL, "p", "q", NULL, "r", "s", "t", "u", "p" };
	struct trace trace = trace_of(names, COUNT(names));
	struct tenants t = good("tenants: [{name: labs}, {name: vision, parent: labs}, "
				"{name: speech, parent: labs}]");
	struct notes notes = { 0 };

	(void)state;
	tenants_note(&t, &trace, &notes);
	assert_int_equal(notes.n, 3);
	assert_int_equal(notes.at[0].level, NOTE_ASSUMED);
	assert_string_equal(notes.at[0].text,
		"weight 1 at the top for what the trace has besides: p, q, r, s, t and 1 more");
	assert_string_equal(notes.at[1].text,
		"weight 1 at the top for the 2 jobs without a tenant, all together");
	assert_int_equal(notes.at[2].level, NOTE_DROPPED);
	assert_string_equal(notes.at[2].text, "no job of the trace is of speech");
	notes_fini(&notes);
	trace_fini(&trace);
	tenants_fini(&t);
}

static void where_they_meet_there_is_nothing_to_say(void **state)
{
	static const char *const names[] = { "vision", "speech", "vision" };
	struct trace trace = trace_of(names, COUNT(names));
	struct tenants t = good("tenants: [{name: vision}, {name: speech}]");
	struct notes notes = { 0 };

	(void)state;
	tenants_note(&t, &trace, &notes);
	assert_int_equal(notes.n, 0);
	trace_fini(&trace);
	tenants_fini(&t);
}

static void files_are_read(void **state)
{
	char path[] = "/tmp/stint-tenants-XXXXXX";
	static const char text[] = "tenants: [{name: a}, {name: b, parent: a, weight: 0}]";
	struct tenants t = { 0 };
	struct err err = { 0 };

	(void)state;
	close(mkstemp(path));
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	assert_int_equal(tenants_read(path, &t, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(file_write(path, text, 20, &err), 0);
	assert_int_equal(tenants_read(path, &t, &err), ERR_FORMAT);
	unlink(path);
	assert_true(tenants_read(path, &t, &err) < 0);
	assert_int_equal(t.n, 0);
}

static void the_example_is_good(void **state)
{
	struct tenants t = { 0 };
	struct err err = { 0 };

	(void)state;
	if (tenants_read("examples/tenants.yaml", &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(t.n, 7);
	assert_int_equal(t.at[tenants_find(&t, "tenant-6", 8)].parent, tenants_find(&t, "speech", 6));
	tenants_fini(&t);
}

/* A file of one tenant for each line, each below a later one. */
static void a_large_file_is_read_at_once(void **state)
{
	enum { MANY = 10000 };
	struct buf text = { 0 };
	struct tenants t;

	(void)state;
	buf_str(&text, "tenants:\n");
	for (int i = 0; i < MANY; i++)
		buf_printf(&text, "  - {name: t%d, parent: t%d}\n", i, i + 1);
	buf_printf(&text, "  - {name: t%d}\n", MANY);
	t = good(text.at);
	assert_int_equal(t.n, MANY + 1);
	assert_int_equal(t.at[MANY - 1].parent, MANY);
	tenants_fini(&t);
	buf_fini(&text);
}

static const struct {
	const char *word, *yaml; /* how a table with it alone ends, or how the error begins */
} words[] = {
	{ "vision=2", "\"vision\"\n    weight: 2\n    within: fair\n" },
	{ "a:b=2", "\"a:b\"\n    weight: 2\n    within: fair\n" },
	{ "vision:guaranteed=8", "\"vision\"\n    weight: 1\n    within: fair\n    guaranteed: 8\n" },
	{ "vision:lend=v100:1,guaranteed=v100:8,a100:4,borrow=all",
		"\"vision\"\n    weight: 1\n    within: fair\n    guaranteed: {\"v100\": 8, \"a100\": 4}\n"
		"    lend: {\"v100\": 1}\n" },
	{ "vision:weight=3,borrow=4", "\"vision\"\n    weight: 3\n    within: fair\n    borrow: 4\n" },
	{ "vision", "'vision' is not TENANT=WEIGHT" },
	{ "=2", "'=2' is not TENANT=WEIGHT" },
	{ "vision=0", "vision: weight: \"0\" is not" },
	{ "vision:borrow=4,borrow=5", "vision: \"borrow=5\": that was said before" },
	{ "vision:borrow=4,", "vision: borrow: \"4,\" is not" },
	{ "vision:borrow=4,lends=3", "vision: borrow: \"4,lends=3\" is not" },
	{ "vision:guaranteed=", "vision: guaranteed: \"\" is not" },
	{ "vision:parent=labs", "vision: parent: there is no tenant \"labs\"" },
	{ "vision:parent=vision", "vision: parent: \"vision\" cannot be its own parent" },
};

static void a_quota_can_be_said_in_one_word(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		struct tenants t = { 0 };
		struct buf yaml = { 0 };
		struct err err = { 0 };

		if (quota_say(&t, words[i].word, &err) == 0) {
			tenants_write_yaml(&t, &yaml);
			assert_true(yaml.n > strlen(words[i].yaml));
			assert_string_equal(yaml.at + yaml.n - strlen(words[i].yaml), words[i].yaml);
		} else if (strncmp(err.text, words[i].yaml, strlen(words[i].yaml)) != 0) {
			fail_msg("%s: %s", words[i].word, err.text);
		}
		buf_fini(&yaml);
		tenants_fini(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_a_file_can_say),
		cmocka_unit_test(quotas_are_read_and_written),
		cmocka_unit_test(what_is_wrong_is_named_with_its_line),
		cmocka_unit_test(where_file_and_trace_do_not_meet_is_noted),
		cmocka_unit_test(where_they_meet_there_is_nothing_to_say),
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(the_example_is_good),
		cmocka_unit_test(a_large_file_is_read_at_once),
		cmocka_unit_test(a_quota_can_be_said_in_one_word),
	};

	return cmocka_run_group_tests_name("tenants_io", tests, NULL, NULL);
}
