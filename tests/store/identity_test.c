/*
 * A record cannot be confused with another: what is missing, empty, cut, older or another record is
 * refused before anything is changed, and what a crash leaves is not.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "store/record_fixture.h"
#include "store/record_schema.h"
#include "support/property.h"

static struct record *opened(void)
{
	struct record *r = NULL;
	struct err err = { 0 };

	if (record_open(place, false, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

/* One commit of one job. */
static void add_job(struct record *r, uint32_t id)
{
	struct err err = { 0 };

	if (record_begin(r, &err) < 0 || submit(r, a_job(id), "{}", &err) < 0 ||
		record_commit(r, &err) < 0)
		fail_msg("%s", err.text);
}

static void a_record_of(uint32_t from, uint32_t to)
{
	struct record *r = opened();

	for (uint32_t id = from; id <= to; id++)
		add_job(r, id);
	record_close(r);
}

static void expect_refused(const char *word)
{
	struct record *r = NULL;
	struct err err = { 0 };

	assert_int_equal(record_open(place, false, &r, &err), ERR_REFUSED);
	assert_null(r);
	if (!strstr(err.text, word) || !strstr(err.text, place) || !strstr(err.text, "stint db"))
		fail_msg("no \"%s\" in: %s", word, err.text);
}

static void id_of_record(char out[LINEAGE_ID_DIGITS + 1], uint32_t *generation)
{
	struct record *r = NULL;
	struct lineage lineage;
	struct err err = { 0 };

	if (record_open(place, true, &r, &err) < 0 || record_lineage(r, &lineage, &err) < 0)
		fail_msg("%s", err.text);
	memcpy(out, lineage.id, sizeof(lineage.id));
	*generation = lineage.generation;
	lineage_fini(&lineage);
	record_close(r);
}

static void keep(const char *as)
{
	run_shell("cp '%s' '%s'", place, as);
}

static char *beside(const char *name)
{
	return path_join(folder, name);
}

/* ---- */

static void a_record_has_an_id_that_stays(void **state)
{
	char first[LINEAGE_ID_DIGITS + 1], again[LINEAGE_ID_DIGITS + 1];
	struct record_mark mark;
	uint32_t generation;
	struct err err = { 0 };

	(void)state;
	a_record_of(1, 3);
	id_of_record(first, &generation);
	assert_true(lineage_id_is_good(first));
	assert_int_equal(generation, 1);
	assert_int_equal(record_mark_read(place, &mark, &err), 0);
	assert_string_equal(mark.id, first);
	assert_int_equal(mark.seq, 3);
	assert_int_equal(mark.job, 3);
	a_record_of(4, 5);
	id_of_record(again, &generation);
	assert_string_equal(first, again);
	forget_record();
	a_record_of(1, 1);
	id_of_record(again, &generation);
	assert_string_not_equal(first, again);
}

static void every_commit_is_known_beside(void **state)
{
	struct record *r = opened();
	struct record_mark mark;

	(void)state;
	for (uint32_t id = 1; id <= 5; id++) {
		add_job(r, id);
		assert_int_equal(record_mark_read(place, &mark, NULL), 0);
		assert_int_equal(mark.seq, id);
		assert_int_equal(mark.job, id);
	}
	assert_int_equal(record_begin(r, NULL), 0);
	assert_int_equal(submit(r, a_job(6), "{}", NULL), 0);
	record_rollback(r);
	assert_int_equal(record_mark_read(place, &mark, NULL), 0);
	assert_int_equal(mark.seq, 5);
	record_close(r);
}

static void a_missing_or_empty_one_is_refused(void **state)
{
	(void)state;
	a_record_of(1, 3);
	unlink(place);
	expect_refused("not there");
	assert_false(file_exists(place));
	file_write(place, "", 0, NULL);
	expect_refused("empty");
}

static void an_empty_database_is_refused(void **state)
{
	sqlite3 *db;

	(void)state;
	a_record_of(1, 3);
	unlink(place);
	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	expect_refused("no record in it");
}

static void an_older_copy_is_refused(void **state)
{
	char *copy = beside("copy");

	(void)state;
	a_record_of(1, 3);
	keep(copy);
	a_record_of(4, 4);
	run_shell("cp '%s' '%s'", copy, place);
	expect_refused("ends with event 3");
	expect_refused("event 4 was recorded");
	free(copy);
}

/* The daemon died with a log that somebody cut or removed. */
static void a_log_that_was_cut_is_refused(void **state)
{
	struct rng rng = property("a log cut anywhere, with record.id");
	struct record *r = opened(), *back;
	char *live = mem_strdup(place);
	uint32_t refused = 0;

	(void)state;
	for (uint32_t id = 1; id <= 20; id++)
		add_job(r, id);
	free(place);
	run_shell("mkdir '%s/dead'%s", folder, "");
	place = beside("dead/stint.db");
	for (size_t i = 0; i < rounds(30); i++) {
		char *log = mem_printf("%s-wal", place);
		off_t left;
		struct stat st;
		struct err err = { 0 };

		forget_record();
		run_shell("cp '%s' '%s'", live, place);
		run_shell("cp '%s-wal' '%s'", live, log);
		run_shell("cp '%s/record.id' '%s/dead'", folder, folder);
		assert_int_equal(stat(log, &st), 0);
		left = i == 0 ? st.st_size : (off_t)rng_below(&rng, (uint64_t)st.st_size);
		assert_int_equal(truncate(log, left), 0);
		if (i == 1)
			unlink(log);
		if (record_open(place, false, &back, &err) == 0) {
			assert_int_equal(record_last_seq(back), 20);
			record_close(back);
		} else {
			assert_int_equal(err.code, ERR_REFUSED);
			refused++;
			if (i > 1) { /* what is left of it is left */
				assert_int_equal(stat(log, &st), 0);
				assert_int_equal(st.st_size, left);
			}
		}
		free(log);
	}
	assert_true(refused > 0);
	record_close(r);
	free(live);
}

static void a_file_that_was_cut_is_refused(void **state)
{
	char *copy = beside("copy");
	struct stat st;

	(void)state;
	a_record_of(1, 200);
	keep(copy);
	assert_int_equal(stat(place, &st), 0);
	assert_true(st.st_size > 10 * 4096);
	for (off_t left = st.st_size - 4096; left >= 0; left -= st.st_size / 7) {
		struct record *r = NULL;
		struct err err = { 0 };

		run_shell("cp '%s' '%s'", copy, place);
		assert_int_equal(truncate(place, left), 0);
		if (record_open(place, false, &r, &err) != ERR_REFUSED)
			fail_msg("%lld bytes left: %s", (long long)left, err.text);
	}
	free(copy);
}

static void another_record_is_refused(void **state)
{
	char *copy = beside("copy");

	(void)state;
	a_record_of(1, 9);
	keep(copy);
	forget_record();
	a_record_of(1, 3);
	run_shell("cp '%s' '%s'", copy, place);
	expect_refused("belongs here");
	free(copy);
}

static void set_meta(const char *key, const char *value)
{
	char *sql = mem_printf("UPDATE meta SET value = '%s' WHERE key = '%s'", value, key);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	free(sql);
}

static void an_earlier_generation_is_refused(void **state)
{
	char *copy = beside("copy");
	struct record_mark mark;

	(void)state;
	a_record_of(1, 3);
	keep(copy);
	set_meta("generation", "2"); /* a restore that did not come to write record.id */
	set_meta("past", "1@3");
	a_record_of(4, 4);
	assert_int_equal(record_mark_read(place, &mark, NULL), 0);
	assert_int_equal(mark.generation, 2);
	run_shell("cp '%s' '%s'", copy, place);
	expect_refused("generation 1");
	free(copy);
}

/* As a machine without power leaves it: the numbers beside it are older than the record. */
static void what_a_power_cut_leaves_is_taken(void **state)
{
	char *old = beside("old");

	(void)state;
	a_record_of(1, 3);
	run_shell("cp '%s/record.id' '%s'", folder, old);
	a_record_of(4, 6);
	run_shell("cp '%s' '%s/record.id'", old, folder);
	a_record_of(7, 7);
	run_shell("rm '%s/record.id'%s", folder, ""); /* it died before the first was made */
	a_record_of(8, 8);
	free(old);
}

/* Half a line is not taken for a number: the other line counts. */
static void a_torn_line_is_not_believed(void **state)
{
	char *path;
	struct record_mark mark;
	struct stat st;
	int fd;

	(void)state;
	a_record_of(1, 99);
	path = record_mark_path(place);
	assert_int_equal(stat(path, &st), 0);
	for (int line = 0; line < 2; line++) {
		a_record_of(100 + (uint32_t)line, 100 + (uint32_t)line);
		fd = open(path, O_WRONLY);
		assert_int_equal(pwrite(fd, "seq 9999999", 11, st.st_size - 61 * (2 - line)), 11);
		close(fd);
		assert_int_equal(record_mark_read(place, &mark, NULL), 0);
		assert_in_range(mark.seq, 98, 101);
	}
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "stint diary", 11, 0), 11);
	close(fd);
	expect_refused("damaged");
	free(path);
}

/* ---- records of before */

static void make_first_schema(bool with_events)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	assert_int_equal(record_schema_raise(db, place, record_steps, 1, NULL), 0);
	if (with_events)
		assert_int_equal(
			sqlite3_exec(db,
				"INSERT INTO event(seq, at_s, kind, body) VALUES(1, 0, 'epoch', '{}')",
				NULL, NULL, NULL),
			SQLITE_OK);
	sqlite3_close(db);
}

static void a_record_of_before_gets_an_id(void **state)
{
	char id[LINEAGE_ID_DIGITS + 1];
	struct buf unmarked = { 0 };
	struct record *r;
	uint32_t generation;

	(void)state;
	for (int with_events = 0; with_events < 2; with_events++) {
		forget_record();
		make_first_schema(with_events);
		r = opened();
		assert_int_equal(record_meta(r, "unmarked", &unmarked), with_events);
		record_close(r);
		id_of_record(id, &generation);
		assert_int_equal(generation, 1);
	}
	buf_fini(&unmarked);
	/* A copy from before that is put in its place is not the record. */
	unlink(place);
	make_first_schema(true);
	expect_refused("before records had an id");
}

/* ---- lineage */

static void a_past_generation_counts_up_to_its_end(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef";
	struct lineage l = { .generation = 3 };
	struct lineage_point p = { .generation = 3, .seq = 999 };
	struct buf text = { 0 };

	(void)state;
	memcpy(l.id, id, sizeof(id));
	memcpy(p.id, id, sizeof(id));
	assert_true(lineage_past_read(&l, "1@1200 2@1500"));
	assert_true(lineage_has(&l, &p));
	p = (struct lineage_point){ .generation = 1, .seq = 1200 };
	assert_false(lineage_has(&l, &p)); /* no id */
	memcpy(p.id, id, sizeof(id));
	assert_true(lineage_has(&l, &p));
	p.seq = 1201;
	assert_false(lineage_has(&l, &p));
	p.generation = 4;
	p.seq = 1;
	assert_false(lineage_has(&l, &p));
	p.generation = 2;
	p.id[0] = 'f';
	assert_false(lineage_has(&l, &p));
	lineage_past_write(&l, &text);
	assert_string_equal(text.at, "1@1200 2@1500");
	assert_false(lineage_past_read(&l, "1@x"));
	buf_fini(&text);
	lineage_fini(&l);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_record_has_an_id_that_stays),
		CASE(every_commit_is_known_beside),
		CASE(a_missing_or_empty_one_is_refused),
		CASE(an_empty_database_is_refused),
		CASE(an_older_copy_is_refused),
		CASE(a_log_that_was_cut_is_refused),
		CASE(a_file_that_was_cut_is_refused),
		CASE(another_record_is_refused),
		CASE(an_earlier_generation_is_refused),
		CASE(what_a_power_cut_leaves_is_taken),
		CASE(a_torn_line_is_not_believed),
		CASE(a_record_of_before_gets_an_id),
		CASE(a_past_generation_counts_up_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
