/* Rules of roles as they are written, and which of them decides. */
#include "daemon/roles.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/property.h"

enum { ALICE = 4000001, BOB = 4000002, CAROL = 4000003 }; /* numbers need no names */

static struct roles *read_rules(const char *text)
{
	struct roles *roles;
	struct err err = { 0 };

	if (roles_parse(text, &roles, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return roles;
}

static void without_rules_users_are_users(void **state)
{
	const char *why;

	(void)state;
	assert_int_equal(roles_of(NULL, ALICE, &why), ROLE_USER);
	assert_int_equal(roles_of(NULL, 0, &why), ROLE_ADMIN);
	assert_int_equal(roles_of(NULL, geteuid(), &why), ROLE_ADMIN);
}

static void rules_give_roles(void **state)
{
	struct roles *roles = read_rules("operator:4000001, read:4000002");
	const char *why;

	(void)state;
	assert_int_equal(roles_of(roles, ALICE, &why), ROLE_OPERATOR);
	assert_string_equal(why, "--roles operator:4000001");
	assert_int_equal(roles_of(roles, BOB, &why), ROLE_READ);
	assert_int_equal(roles_of(roles, CAROL, &why), ROLE_USER);
	assert_string_equal(why, "no rule of --roles names this user");
	assert_int_equal(roles_of(roles, 0, &why), ROLE_ADMIN);
	roles_destroy(roles);
	roles = read_rules("read:*,admin:4000001,user:4000002");
	assert_int_equal(roles_of(roles, ALICE, &why), ROLE_ADMIN);
	assert_int_equal(roles_of(roles, BOB, &why), ROLE_USER);
	assert_int_equal(roles_of(roles, CAROL, &why), ROLE_READ);
	assert_string_equal(why, "--roles read:*");
	assert_int_equal(roles_of(roles, 0, &why), ROLE_ADMIN);
	roles_destroy(roles);
}

/* A user of this system who is neither root nor we, with a group that has a name. */
static bool find_member(struct passwd *out, char group[64])
{
	const struct passwd *user;
	bool found = false;

	setpwent();
	while (!found && (user = getpwent())) {
		const struct group *of = getgrgid(user->pw_gid);

		found = user->pw_uid != 0 && user->pw_uid != geteuid() && of &&
			strlen(of->gr_name) < 64 && !strpbrk(of->gr_name, ",:/#@ ");
		if (found) {
			out->pw_uid = user->pw_uid;
			out->pw_gid = user->pw_gid;
			strcpy(group, of->gr_name);
		}
	}
	endpwent();
	return found;
}

static void groups_give_the_most_and_users_go_first(void **state)
{
	struct passwd user = { 0 };
	char group[64], *text;
	struct roles *roles;
	const char *why;

	(void)state;
	if (!find_member(&user, group)) {
		print_message("there is no user but root\n");
		skip();
	}
	text = mem_printf("operator:@%s,read:*", group);
	roles = read_rules(text);
	for (int again = 0; again < 2; again++) { /* the second time as it was kept */
		assert_int_equal(roles_of(roles, user.pw_uid, &why), ROLE_OPERATOR);
		assert_non_null(strstr(why, group));
	}
	assert_int_equal(roles_of(roles, ALICE, &why), ROLE_READ);
	roles_destroy(roles);
	free(text);
	text = mem_printf("operator:@%u,read:%u", user.pw_gid, user.pw_uid);
	roles = read_rules(text);
	assert_int_equal(roles_of(roles, user.pw_uid, &why), ROLE_READ);
	roles_destroy(roles);
	free(text);
}

static void mistakes_are_told(void **state)
{
	static const struct {
		const char *rules, *told;
	} rows[] = {
		{ "", "there is no rule" },
		{ "operator", "is not understood; write ROLE:USER" },
		{ "operator:", "is not understood" },
		{ "operator:@", "is not understood" },
		{ "chief:4000001", "'chief:4000001' is not understood" },
		{ "none:4000001", "is not understood" },
		{ "read:4000001,,read:4000002", "is not understood" },
		{ "operator:no-such-user-here", "this system has no user 'no-such-user-here'" },
		{ "read:@no-such-group-here", "this system has no group 'no-such-group-here'" },
		{ "read:4000001,operator:4000001", "4000001 has two roles, read and operator" },
		{ "read:0", "root and the daemon's own user are always admin" },
		{ "read:-1", "this system has no user '-1'" },
		{ "no/such/file", "no/such/file" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct roles *roles;
		struct err err = { 0 };

		if (roles_parse(rows[i].rules, &roles, &err) == 0)
			fail_msg("'%s' is taken", rows[i].rules);
		if (!strstr(err.text, rows[i].told))
			fail_msg("'%s': %s", rows[i].rules, err.text);
	}
}

static void a_file_has_rules_on_lines(void **state)
{
	static const char text[] = "# who may do what\n\noperator: 4000001, 4000002:x\n";
	static const char good[] = "# who may do what\n\noperator: 4000001 # at night\nread:*\n";
	char *path = path_join(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", "roles");
	struct roles *roles;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(file_write(path, good, strlen(good), &err), 0);
	chmod(path, 0644);
	roles = read_rules(path);
	assert_int_equal(roles_of(roles, ALICE, NULL), ROLE_OPERATOR);
	assert_int_equal(roles_of(roles, BOB, NULL), ROLE_READ);
	roles_destroy(roles);
	chmod(path, 0664);
	assert_int_equal(roles_parse(path, &roles, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "only root can write"));
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	chmod(path, 0644);
	assert_int_equal(roles_parse(path, &roles, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "roles:3: '4000002:x' is not understood"));
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rules_users_are_users),
		cmocka_unit_test(rules_give_roles),
		cmocka_unit_test(groups_give_the_most_and_users_go_first),
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(a_file_has_rules_on_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
