#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "hook/hook.h"
#include "support/property.h"

static int read_text(const char *text, struct hooks *out, struct err *err)
{
	return hooks_read_yaml("rules.yaml", text, strlen(text), out, err);
}

static void a_whole_rule(void **state)
{
	struct hooks hooks;
	struct err err = { 0 };
	const struct hook *hook;

	(void)state;
	assert_int_equal(read_text("rules:\n"
				   "  - on: [failed, gone-fishing]\n"
				   "    tenant: vision\n    user: ada\n    name: 'train-*'\n"
				   "    webhook: https://hooks.example.org/in?key=1#part\n"
				   "    secret_file: secret\n    retries: 3\n    timeout_s: 2.5\n"
				   "  - on:\n      - all\n    command: [/bin/tell, '--to me', '']\n",
				 &hooks, &err),
		0);
	assert_int_equal(hooks.n, 2);
	hook = &hooks.at[0];
	assert_int_equal(hook->non, 2);
	assert_string_equal(hook->on[1], "gone-fishing");
	assert_null(hook->on[2]);
	assert_string_equal(hook->tenant, "vision");
	assert_string_equal(hook->user, "ada");
	assert_string_equal(hook->name, "train-*");
	assert_true(hook->https);
	assert_string_equal(hook->host, "hooks.example.org");
	assert_string_equal(hook->port, "443");
	assert_string_equal(hook->path, "/in?key=1");
	assert_string_equal(hook->secret_file, "secret");
	assert_null(hook->command);
	assert_int_equal(hook->retries, 3);
	assert_true(hook->timeout_s == 2.5);
	hook = &hooks.at[1];
	assert_null(hook->webhook);
	assert_string_equal(hook->command[1], "--to me");
	assert_string_equal(hook->command[2], "");
	assert_null(hook->command[3]);
	assert_int_equal(hook->retries, 0);
	hooks_fini(&hooks);
}

static void addresses(void **state)
{
	static const struct {
		const char *url, *host, *port, *path, *shown;
	} rows[] = {
		{ "http://localhost", "localhost", "80", "/", "http://localhost:80" },
		{ "http://127.0.0.1:9000/a/b", "127.0.0.1", "9000", "/a/b", "http://127.0.0.1:9000" },
		{ "http://host?x=1", "host", "80", "/?x=1", "http://host:80" },
		{ "http://[::1]:81/", "::1", "81", "/", "http://[::1]:81" },
		{ "https://[fe80::1]", "fe80::1", "443", "/", "https://[fe80::1]:443" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf text = { 0 }, shown = { 0 };
		struct hooks hooks;
		struct err err = { 0 };

		buf_printf(&text, "rules: [{on: [ended], webhook: '%s'}]", rows[i].url);
		if (read_text(text.at, &hooks, &err) < 0)
			fail_msg("%s: %s", rows[i].url, err.text);
		assert_string_equal(hooks.at[0].host, rows[i].host);
		assert_string_equal(hooks.at[0].port, rows[i].port);
		assert_string_equal(hooks.at[0].path, rows[i].path);
		hook_receiver(&hooks.at[0], &shown);
		assert_string_equal(shown.at, rows[i].shown);
		hooks_fini(&hooks);
		buf_fini(&text);
		buf_fini(&shown);
	}
}

/* Each with its line and what to do. */
static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *text, *line, *says;
	} rows[] = {
		{ "", "rules.yaml:1:", "no rules" },
		{ "rules:\n", "rules.yaml:1:", "no rules" },
		{ "rules: []\n", "rules.yaml:1:", "no rules" },
		{ "rules: nine\n", "rules.yaml:1:", "a list expected" },
		{ "rule: []\n", "rules.yaml:1:", "did you mean \"rules\"" },
		{ "rules:\n  - command: [x]\n", "rules.yaml:2:", "what it is told of" },
		{ "rules:\n  - on: []\n    command: [x]\n", "rules.yaml:2:", "what it is told of" },
		{ "rules:\n  - on: failed\n    command: [x]\n", "rules.yaml:2:", "a list expected" },
		{ "rules:\n  - on:\n    - ended\n    - faild\n    command: [x]\n",
			"rules.yaml:4:", "did you mean \"failed\"" },
		{ "rules:\n  - on: [Failed!]\n    command: [x]\n",
			"rules.yaml:2:", "no name of an event" },
		{ "rules:\n  - on: [Failed!]\n    command: [x]\n",
			"rules.yaml:2:", "idle, reclaimed, device-drained, device-resumed, all, and" },
		{ "rules:\n  - on: [failed]\n", "rules.yaml:2:", "needs a receiver" },
		{ "rules:\n  - on: [failed]\n    command: []\n", "rules.yaml:2:", "needs a receiver" },
		{ "rules:\n  - on: [failed]\n    command: ['']\n", "rules.yaml:3:", "program to run" },
		{ "rules:\n  - on: [failed]\n    command: echo hi\n",
			"rules.yaml:3:", "a list expected" },
		{ "rules:\n  - on: [failed]\n    webhook: http://h/\n    command: [x]\n",
			"rules.yaml:4:", "one receiver" },
		{ "rules:\n  - on: [failed]\n    command: [x]\n    secret_file: s\n",
			"rules.yaml:4:", "only what goes to a webhook" },
		{ "rules:\n  - on: [failed]\n    webhook: ftp://h/\n", "rules.yaml:3:", "http://" },
		{ "rules:\n  - on: [failed]\n    webhook: 'http://'\n", "rules.yaml:3:", "no host" },
		{ "rules:\n  - on: [failed]\n    webhook: http://h:99999/\n",
			"rules.yaml:3:", "wrong port" },
		{ "rules:\n  - on: [failed]\n    webhook: http://a:b:c/\n",
			"rules.yaml:3:", "wrong port" },
		{ "rules:\n  - on: [failed]\n    webhook: http://me:pw@h/\n",
			"rules.yaml:3:", "password" },
		{ "rules:\n  - on: [failed]\n    webhook: \"http://h/\\r\\nX: 1\"\n",
			"rules.yaml:3:", "characters" },
		{ "rules:\n  - on: [failed]\n    command: [x]\n    retries: many\n",
			"rules.yaml:4:", "from 0 to 20" },
		{ "rules:\n  - on: [failed]\n    command: [x]\n    retries: 21\n",
			"rules.yaml:4:", "from 0 to 20" },
		{ "rules:\n  - on: [failed]\n    command: [x]\n    timeout_s: 0\n",
			"rules.yaml:4:", "from 0.1 to 300" },
		{ "rules:\n  - on: [failed]\n    command: [x]\n    tenant: \"a\\nb\"\n",
			"rules.yaml:4:", "control characters" },
		{ "rules:\n  - on: [failed]\n    comand: [x]\n",
			"rules.yaml:3:", "did you mean \"command\"" },
		{ "rules:\n  - on: [failed\n", "rules.yaml:", "not valid YAML" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct hooks hooks;
		struct err err = { 0 };

		if (read_text(rows[i].text, &hooks, &err) != ERR_FORMAT)
			fail_msg("row %zu was read", i);
		if (!strstr(err.text, rows[i].line) || !strstr(err.text, rows[i].says))
			fail_msg("row %zu: %s", i, err.text);
	}
}

/* ---- files that rules name */

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	assert_int_equal(chmod(path, mode), 0);
}

static int read_in(const char *dir, const char *rules, mode_t mode, struct hooks *hooks, struct err *err)
{
	char *path = path_join(dir, "rules.yaml");
	int rc;

	write_file(path, rules, mode);
	rc = hooks_read(path, hooks, err);
	free(path);
	return rc;
}

static void remove_all(const char *dir)
{
	static const char *const names[] = { "rules.yaml", "key" };

	for (size_t i = 0; i < COUNT(names); i++) {
		char *path = path_join(dir, names[i]);

		remove(path);
		free(path);
	}
	remove(dir);
}

static void secrets_are_secret(void **state)
{
	static const char rules[] =
		"rules:\n  - on: [ended]\n    webhook: http://h/\n    secret_file: key\n";
	char dir[] = "/tmp/stint-hook.XXXXXX", *key;
	struct hooks hooks;
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	key = path_join(dir, "key");
	assert_int_equal(read_in(dir, rules, 0600, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "No such file"));
	write_file(key, "swordfish\n", 0640);
	assert_int_equal(read_in(dir, rules, 0600, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "chmod 600"));
	write_file(key, "\n", 0600);
	assert_int_equal(read_in(dir, rules, 0600, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "openssl rand"));
	write_file(key, "swordfish\n", 0600);
	assert_int_equal(read_in(dir, rules, 0644, &hooks, &err), 0);
	assert_string_equal(hooks.at[0].secret, "swordfish");
	hooks_fini(&hooks);
	assert_int_equal(unlink(key), 0);
	assert_int_equal(mkdir(key, 0700), 0);
	assert_int_equal(read_in(dir, rules, 0600, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "is no file"));
	remove_all(dir);
	free(key);
}

/* Whoever may write the rules chooses what runs as the daemon. */
static void commands_need_a_file_that_others_cannot_write(void **state)
{
	static const char rules[] = "rules:\n  - on: [ended]\n    command: [sh]\n";
	static const char missing[] = "rules:\n  - on: [ended]\n    command: [no-such-program]\n";
	char dir[] = "/tmp/stint-hook.XXXXXX";
	struct hooks hooks;
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(read_in(dir, rules, 0666, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "chmod go-w"));
	assert_int_equal(read_in(dir, missing, 0644, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "there is no program no-such-program in $PATH"));
	assert_int_equal(read_in(dir, rules, 0644, &hooks, &err), 0);
	hooks_fini(&hooks);
	remove_all(dir);
}

static void https_needs_curl(void **state)
{
	static const char rules[] = "rules:\n  - on: [ended]\n    webhook: https://h/\n";
	char dir[] = "/tmp/stint-hook.XXXXXX", *path = getenv("PATH");
	struct hooks hooks;
	struct err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = path ? mem_strdup(path) : NULL;
	setenv("PATH", dir, 1);
	assert_int_equal(read_in(dir, rules, 0644, &hooks, &err), ERR_FORMAT);
	assert_non_null(strstr(err.text, "apt install curl"));
	if (path)
		setenv("PATH", path, 1);
	free(path);
	remove_all(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_rule),
		cmocka_unit_test(addresses),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(secrets_are_secret),
		cmocka_unit_test(commands_need_a_file_that_others_cannot_write),
		cmocka_unit_test(https_needs_curl),
	};

	return cmocka_run_group_tests_name("hook/hook_yaml", tests, NULL, NULL);
}
