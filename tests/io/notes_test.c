#include "io/notes.h"

#include "io/import_case.h"

static void equal_notes_are_one(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	notes_add(&notes, NOTE_DROPPED, 7, "gpus", "give some", "is %d", 0);
	notes_add(&notes, NOTE_DROPPED, 9, "gpus", "another remedy", "is %d", 0);
	notes_add(&notes, NOTE_DROPPED, 9, "cpus", NULL, "is 0");
	notes_add(&notes, NOTE_DROPPED, 9, NULL, NULL, "is 0");
	notes_add(&notes, NOTE_WARNING, 9, "gpus", NULL, "is 0");
	assert_int_equal(notes.n, 4);
	assert_int_equal(notes.at[0].count, 2);
	assert_int_equal(notes.at[0].line, 7);
	assert_string_equal(notes.at[0].field, "gpus");
	assert_string_equal(notes.at[0].text, "is 0");
	assert_string_equal(notes.at[0].fix, "give some");
	assert_null(notes.at[2].field);
	assert_int_equal(notes_count(&notes, NOTE_DROPPED), 4);
	assert_int_equal(notes_count(&notes, NOTE_WARNING), 1);
	assert_int_equal(notes_count(&notes, NOTE_PROBLEM), 0);
	notes_fini(&notes);
	notes_fini(&notes);
}

static void nobody_listens(void **state)
{
	(void)state;
	notes_add(NULL, NOTE_DROPPED, 7, "gpus", NULL, "is 0");
	assert_int_equal(notes_count(NULL, NOTE_DROPPED), 0);
	assert_int_equal(notes_line(NULL, 3), 0);
}

static void a_flood_is_only_counted(void **state)
{
	struct notes notes = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++)
		notes_add(&notes, NOTE_PROBLEM, 1, "x", "y", "number %d", i);
	assert_true(notes.n < 1000);
	assert_int_equal(notes_count(&notes, NOTE_PROBLEM), 10000);
	assert_true(has_note(&notes, "left out"));
	notes_fini(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_notes_are_one),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(a_flood_is_only_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
