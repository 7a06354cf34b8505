#include "api/session.h"

#include <string.h>

#include "support/property.h"

static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static const struct caller someone = { .uid = 7, .gid = 8 };

static const struct session *begin(struct sessions *s, double now_s)
{
	const struct session *one;

	assert_int_equal(sessions_begin(s, key, &someone, now_s, &one, NULL), 0);
	return one;
}

/* What the page would send. */
static const char *header_of(const struct session *one, const char *method, const char *target)
{
	static char text[200];
	char sign[SHA256_DIGITS + 1];

	session_sign(one->key, method, target, sign);
	snprintf(text, sizeof(text), "%s %s", one->id, sign);
	return text;
}

static void a_signature_is_for_one_request(void **state)
{
	struct sessions s;
	struct session kept;
	const struct session *known;

	(void)state;
	assert_int_equal(sessions_start(&s, NULL), 0);
	kept = *begin(&s, 100);
	known = sessions_know(&s, header_of(&kept, "GET", "/a?b=c"), "GET", "/a?b=c", 101);
	assert_non_null(known);
	assert_true(known->caller.uid == 7 && known->caller.gid == 8);
	assert_null(sessions_know(&s, header_of(&kept, "GET", "/a?b=c"), "GET", "/a?b=d", 101));
	assert_null(sessions_know(&s, header_of(&kept, "GET", "/a"), "POST", "/a", 101));
	assert_null(sessions_know(&s, kept.id, "GET", "/a", 101));
	assert_null(sessions_know(&s, NULL, "GET", "/a", 101));
	assert_null(sessions_know(&s, "", "GET", "/a", 101));
	assert_null(sessions_know(&s, header_of(&kept, "GET", "/a"), "GET", "/a", 101 + SESSION_S));
	assert_non_null(sessions_find(&s, kept.id, 101));
	sessions_end(&s, header_of(&kept, "GET", "/a"));
	assert_null(sessions_find(&s, kept.id, 101));
}

static void the_oldest_goes_when_there_are_too_many(void **state)
{
	struct sessions s;
	struct session first = { 0 }, last = { 0 };

	(void)state;
	assert_int_equal(sessions_start(&s, NULL), 0);
	for (int i = 0; i <= SESSIONS_MAX; i++) {
		last = *begin(&s, i);
		first = i ? first : last;
	}
	assert_int_equal(s.n, SESSIONS_MAX);
	assert_null(sessions_find(&s, first.id, 50));
	assert_non_null(sessions_find(&s, last.id, 50));
}

static void a_user_pushes_out_none_of_another(void **state)
{
	const struct caller other = { .uid = 9, .gid = 9 };
	const struct session *one;
	struct session mine;
	const char *code, *my_code;
	char kept[TOKEN_DIGITS + 1];
	struct sessions s;

	(void)state;
	assert_int_equal(sessions_start(&s, NULL), 0);
	mine = *begin(&s, 0);
	assert_int_equal(sessions_code(&s, &mine.caller, 0, &my_code, NULL), 0);
	snprintf(kept, CODE_ID_DIGITS + 1, "%s", my_code);
	for (int i = 0; i < 2 * SESSIONS_MAX; i++) {
		assert_int_equal(sessions_begin(&s, key, &other, i, &one, NULL), 0);
		assert_int_equal(sessions_code(&s, &other, 0, &code, NULL), 0);
	}
	assert_int_equal(s.n, SESSIONS_MAX);
	assert_non_null(sessions_find(&s, mine.id, 50));
	assert_non_null(sessions_find_code(&s, kept, 1));
}

static void a_challenge_is_ours_and_fresh(void **state)
{
	struct sessions s, other;
	char challenge[CHALLENGE_DIGITS + 1], changed[CHALLENGE_DIGITS + 1];
	struct login_talk talk = { "127.0.0.1:80", key, challenge, "" }, else_where = talk;

	(void)state;
	assert_int_equal(sessions_start(&s, NULL), 0);
	assert_int_equal(sessions_start(&other, NULL), 0);
	sessions_challenge(&s, &talk, 100.5, challenge);
	assert_int_equal(strlen(challenge), CHALLENGE_DIGITS);
	assert_true(sessions_challenged(&s, &talk, 101));
	assert_false(sessions_challenged(&s, &talk, 102 + SESSION_CHALLENGE_S));
	assert_false(sessions_challenged(&s, &talk, 99));
	assert_false(sessions_challenged(&other, &talk, 101)); /* another run */
	else_where.host = "127.0.0.1:81";
	assert_false(sessions_challenged(&s, &else_where, 101));
	else_where = talk;
	else_where.about = "0123456789abcdef";
	assert_false(sessions_challenged(&s, &else_where, 101));
	for (int i = 0; i < CHALLENGE_DIGITS; i++) {
		strcpy(changed, challenge);
		changed[i] = changed[i] == '0' ? '1' : '0';
		else_where = talk;
		else_where.challenge = changed;
		assert_false(sessions_challenged(&s, &else_where, 101));
	}
}

static void a_code_works_once_and_not_for_long(void **state)
{
	struct sessions s;
	const char *code;
	char id[CODE_ID_DIGITS + 1] = "";

	(void)state;
	assert_int_equal(sessions_start(&s, NULL), 0);
	assert_int_equal(sessions_code(&s, &someone, 100, &code, NULL), 0);
	memcpy(id, code, CODE_ID_DIGITS);
	assert_null(sessions_find_code(&s, "0123456789abcde", 101));
	assert_null(sessions_find_code(&s, code, 101)); /* only the first part is ever sent */
	assert_int_equal(sessions_find_code(&s, id, 101)->caller.uid, 7);
	assert_null(sessions_find_code(&s, id, 101 + SESSION_CODE_S));
	sessions_drop_code(&s, id);
	assert_null(sessions_find_code(&s, id, 101));
	for (int i = 0; i < 3 * SESSION_CODES_MAX; i++)
		assert_int_equal(sessions_code(&s, &someone, 100, &code, NULL), 0);
	assert_int_equal(s.ncodes, SESSION_CODES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signature_is_for_one_request),
		cmocka_unit_test(the_oldest_goes_when_there_are_too_many),
		cmocka_unit_test(a_user_pushes_out_none_of_another),
		cmocka_unit_test(a_challenge_is_ours_and_fresh),
		cmocka_unit_test(a_code_works_once_and_not_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
