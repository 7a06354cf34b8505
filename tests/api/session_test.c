#include "api/session.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/property.h"

static const char token[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static const char other[] = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct place {
	char dir[64];
	char *file;
};

static struct place place_make(void)
{
	const char *tmp = getenv("TMPDIR");
	struct place p;

	snprintf(p.dir, sizeof(p.dir), "%s/stint-sess-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	assert_non_null(mkdtemp(p.dir));
	p.file = path_join(p.dir, "sessions");
	return p;
}

static void place_remove(struct place *p)
{
	unlink(p->file);
	assert_int_equal(rmdir(p->dir), 0);
	free(p->file);
}

static void it_takes_both_halves(void **state)
{
	struct sessions s = { 0 };
	const struct session *one;
	struct session kept;

	(void)state;
	assert_int_equal(sessions_begin(&s, 100, &one, NULL), 0);
	kept = *one;
	assert_true(sessions_know(&s, kept.id, kept.key, 101));
	assert_false(sessions_know(&s, kept.id, NULL, 101));
	assert_false(sessions_know(&s, NULL, kept.key, 101));
	assert_false(sessions_know(&s, kept.key, kept.id, 101));
	assert_false(sessions_know(&s, kept.id, "", 101));
	assert_false(sessions_know(&s, kept.id, kept.key, 101 + SESSION_S)); /* too old */
	sessions_end(&s, kept.id);
	assert_false(sessions_know(&s, kept.id, kept.key, 101));
	sessions_fini(&s);
}

static void the_oldest_goes_when_there_are_too_many(void **state)
{
	struct sessions s = { 0 };
	const struct session *one;
	struct session first, last;

	(void)state;
	for (int i = 0; i <= SESSIONS_MAX; i++) {
		assert_int_equal(sessions_begin(&s, i, &one, NULL), 0);
		first = i ? first : *one;
		last = *one;
	}
	assert_int_equal(s.n, SESSIONS_MAX);
	assert_false(sessions_know(&s, first.id, first.key, 50));
	assert_true(sessions_know(&s, last.id, last.key, 50));
	sessions_fini(&s);
}

static void a_new_daemon_knows_them_and_a_new_token_does_not(void **state)
{
	struct place p = place_make();
	struct sessions before = { 0 }, after = { 0 }, foreign = { 0 }, late = { 0 };
	const struct session *one;
	struct stat st;

	(void)state;
	sessions_load(&before, p.dir, token, 100);
	assert_int_equal(sessions_begin(&before, 100, &one, NULL), 0);
	assert_int_equal(stat(p.file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	sessions_load(&after, p.dir, token, 200);
	assert_true(sessions_know(&after, one->id, one->key, 200));
	sessions_load(&foreign, p.dir, other, 200);
	assert_int_equal(foreign.n, 0);
	sessions_load(&late, p.dir, token, 200 + SESSION_S);
	assert_int_equal(late.n, 0);
	sessions_fini(&before);
	sessions_fini(&after);
	sessions_fini(&foreign);
	sessions_fini(&late);
	place_remove(&p);
}

static void a_file_that_others_could_read_is_none(void **state)
{
	struct place p = place_make();
	struct sessions before = { 0 }, after = { 0 };
	const struct session *one;

	(void)state;
	sessions_load(&before, p.dir, token, 100);
	assert_int_equal(sessions_begin(&before, 100, &one, NULL), 0);
	assert_int_equal(chmod(p.file, 0644), 0);
	sessions_load(&after, p.dir, token, 100);
	assert_int_equal(after.n, 0);
	sessions_fini(&before);
	sessions_fini(&after);
	place_remove(&p);
}

static void rubbish_in_the_file_is_passed_over(void **state)
{
	struct place p = place_make();
	struct sessions before = { 0 }, after = { 0 };
	const struct session *one;
	FILE *f;

	(void)state;
	sessions_load(&before, p.dir, token, 100);
	assert_int_equal(sessions_begin(&before, 100, &one, NULL), 0);
	f = fopen(p.file, "a");
	fprintf(f, "x\n%s\n%s %s\n%s %s 1e300\n%s %s nan\n", token, token, token, token, token,
		token, token);
	fclose(f);
	sessions_load(&after, p.dir, token, 100);
	assert_int_equal(after.n, 1);
	sessions_fini(&before);
	sessions_fini(&after);
	place_remove(&p);
}

static void a_code_works_once_and_not_for_long(void **state)
{
	struct sessions s = { 0 };
	const char *code;
	char kept[TOKEN_DIGITS + 1];

	(void)state;
	assert_int_equal(sessions_code(&s, 100, &code, NULL), 0);
	strcpy(kept, code);
	assert_false(sessions_use_code(&s, token, 101));
	assert_true(sessions_use_code(&s, kept, 101));
	assert_false(sessions_use_code(&s, kept, 101));
	assert_int_equal(sessions_code(&s, 100, &code, NULL), 0);
	strcpy(kept, code);
	assert_false(sessions_use_code(&s, kept, 101 + SESSION_CODE_S));
	for (int i = 0; i < 3 * SESSION_CODES_MAX; i++)
		assert_int_equal(sessions_code(&s, 100, &code, NULL), 0);
	assert_int_equal(s.ncodes, SESSION_CODES_MAX);
	sessions_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_takes_both_halves),
		cmocka_unit_test(the_oldest_goes_when_there_are_too_many),
		cmocka_unit_test(a_new_daemon_knows_them_and_a_new_token_does_not),
		cmocka_unit_test(a_file_that_others_could_read_is_none),
		cmocka_unit_test(rubbish_in_the_file_is_passed_over),
		cmocka_unit_test(a_code_works_once_and_not_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
