/* Least roles: the table of verbs is the truth, and doc/operations.md repeats it. */
#include "daemon/verbs.h"

#include <string.h>

#include "api/server.h"
#include "base/file.h"
#include "support/property.h"

static const char doc[] = "doc/operations.md";

static const char *const rows[] = {
	[NEEDS_READ] = "| `read` |",
	[NEEDS_USER] = "| `user` |",
	[NEEDS_OWNER] = "| `user`, of the job's owner |",
	[NEEDS_OPERATOR] = "| `operator` |",
	[NEEDS_ADMIN] = "| `admin` |",
};

static bool begins(struct slice line, const char *text)
{
	return line.n > strlen(text) && !memcmp(line.at, text, strlen(text));
}

/* The last cell of a row. */
static struct slice cell_of(const struct file *file, const char *row)
{
	struct lines lines = lines_of(file->at, file->n);
	struct slice line;

	while (lines_next(&lines, &line)) {
		struct slice left = line, cell = line;

		if (!begins(line, row))
			continue;
		while (left.n > 1)
			cell = slice_cut(&left, '|');
		return cell;
	}
	fail_msg("%s has no row %s", doc, row);
	return (struct slice){ 0 };
}

static bool names(struct slice cell, const char *name)
{
	struct slice word;

	while (cell.n) {
		word = slice_cut(&cell, ' ');
		if (word.n == strlen(name) + 2 && word.at[0] == '`' &&
			!memcmp(word.at + 1, name, strlen(name)))
			return true;
	}
	return false;
}

static size_t count(struct slice cell)
{
	size_t n = 0;

	for (size_t i = 0; i < cell.n; i++)
		n += cell.at[i] == '`';
	return n / 2;
}

static void check_row(const char *row, const struct verb *verb)
{
	struct file file;
	struct err err = { 0 };
	struct slice cell;

	assert_int_equal(file_read(doc, &file, &err), 0);
	cell = cell_of(&file, row);
	if (!names(cell, verb->name))
		fail_msg("%s: the row %s does not name `%s`", doc, row, verb->name);
	file_fini(&file);
}

static bool is_open(const char *name)
{
	static const char *const all[] = { "page", "asset", "login", "healthz" };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!strcmp(name, all[i]))
			return true;
	}
	return false;
}

static void the_document_says_what_the_table_says(void **state)
{
	size_t have[NEEDS_ADMIN + 1] = { 0 };
	struct err err = { 0 };
	struct file file;

	(void)state;
	for (const struct verb *v = verbs; v->name; v++) {
		check_row(rows[v->needs], v);
		have[v->needs]++;
	}
	for (const struct verb *v = server_routes; v->name; v++) {
		check_row(is_open(v->name) ? "| none |" : rows[v->needs], v);
		have[v->needs] += !is_open(v->name);
	}
	/* And nothing else. */
	assert_int_equal(file_read(doc, &file, &err), 0);
	for (int i = 0; i <= NEEDS_ADMIN; i++) {
		if (count(cell_of(&file, rows[i])) != have[i])
			fail_msg("%s: the row %s names what needs another role", doc, rows[i]);
	}
	file_fini(&file);
}

static void each_role_may_what_the_one_before_may(void **state)
{
	static const enum role order[] = { ROLE_NONE, ROLE_READ, ROLE_USER, ROLE_OPERATOR, ROLE_ADMIN };

	(void)state;
	for (const struct verb *v = verbs; v->name; v++) {
		struct caller caller = { .uid = 5 };
		bool before = false;

		for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
			caller.role = order[i];
			if (before)
				assert_true(verb_allows(v, &caller));
			before = verb_allows(v, &caller);
		}
		assert_true(before);
	}
}

static void a_reader_changes_nothing(void **state)
{
	struct caller reader = { .uid = 5, .role = ROLE_READ };

	(void)state;
	for (const struct verb *v = verbs; v->name; v++) {
		if (strcmp(v->method, "GET") != 0) {
			assert_false(verb_allows(v, &reader));
			assert_non_null(strstr(verb_denial(v), "role"));
		}
	}
	/* But sees the output of jobs of before. */
	assert_true(verb_allows(verb_find("log"), &reader));
	assert_true(verb_allows_job(verb_find("log"), &reader, 5));
	assert_false(verb_allows_job(verb_find("log"), &reader, 6));
}

static void an_operator_changes_jobs_and_devices_but_no_rules(void **state)
{
	struct caller operator= { .uid = 5, .role = ROLE_OPERATOR };
	static const char *const may[] = { "cancel", "hold", "release", "requeue", "signal", "update" };
	static const char *const never[] = { "set_policy", "set_quota", "prune", "forget",
		"set_foreign", "audit" };

	(void)state;
	for (size_t i = 0; i < sizeof(may) / sizeof(*may); i++)
		assert_true(verb_allows_job(verb_find(may[i]), &operator, 6));
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		assert_false(verb_allows(verb_find(never[i]), &operator));
	assert_true(verb_allows(verb_find("drain"), &operator));
	assert_true(verb_allows(verb_find("resume"), &operator));
	assert_false(verb_allows_job(verb_find("log"), &operator, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_says_what_the_table_says),
		cmocka_unit_test(each_role_may_what_the_one_before_may),
		cmocka_unit_test(a_reader_changes_nothing),
		cmocka_unit_test(an_operator_changes_jobs_and_devices_but_no_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
