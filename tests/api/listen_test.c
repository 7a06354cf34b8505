#include "api/listen.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/property.h"

static char *new_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = mem_printf("%s/stint-listen-XXXXXX", tmp ? tmp : "/tmp");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void remove_dir(char *dir)
{
	assert_int_equal(rmdir(dir), 0);
	free(dir);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static int dial(const char *path)
{
	struct sockaddr_un address;
	int dir, fd = socket(AF_UNIX, SOCK_STREAM, 0), rc;

	assert_int_equal(unix_address(path, &address, &dir, NULL), 0);
	rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
	if (dir >= 0)
		close(dir);
	close(fd);
	return rc;
}

static void a_socket_is_for_its_owner_or_for_all(void **state)
{
	(void)state;
	for (int everyone = 0; everyone < 2; everyone++) {
		char *dir = new_dir(), *inner = path_join(dir, "run"),
		     *path = path_join(inner, "socket");
		struct unix_socket s = { .fd = -1 };

		assert_int_equal(unix_listen(path, everyone, &s, NULL), 0);
		assert_int_equal(mode_of(path), everyone ? 0666 : 0600);
		assert_int_equal(mode_of(inner), everyone ? 0755 : 0700);
		assert_int_equal(dial(path), 0);
		unix_close(&s);
		assert_false(file_exists(path));
		rmdir(inner);
		remove_dir(dir);
		free(inner);
		free(path);
	}
}

static void only_a_dead_socket_is_replaced(void **state)
{
	char *dir = new_dir(), *path = path_join(dir, "socket");
	struct unix_socket first = { .fd = -1 }, second = { .fd = -1 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(unix_listen(path, false, &first, &err), 0);
	assert_int_equal(unix_listen(path, false, &second, &err), ERR_REFUSED);
	assert_int_equal(dial(path), 0);
	close(first.fd); /* as if it had been killed: the file stays */
	first.fd = -1;
	assert_int_equal(dial(path), -1);
	assert_int_equal(unix_listen(path, false, &second, &err), 0);
	unix_close(&first); /* which must not take the second one's away */
	assert_int_equal(dial(path), 0);
	unix_close(&second);

	assert_int_equal(file_write(path, "x", 1, &err), 0);
	assert_int_equal(unix_listen(path, false, &second, &err), ERR_REFUSED);
	assert_true(file_exists(path));
	unlink(path);
	assert_int_equal(symlink("/nonexistent", path), 0);
	assert_int_equal(unix_listen(path, false, &second, &err), ERR_REFUSED);
	unlink(path);
	remove_dir(dir);
	free(path);
}

static void a_directory_of_everybody_is_no_place(void **state)
{
	char *dir = new_dir(), *path = path_join(dir, "socket");
	struct unix_socket s = { .fd = -1 };

	(void)state;
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(unix_listen(path, false, &s, NULL), ERR_REFUSED);
	assert_int_equal(chmod(dir, 01777), 0); /* such as /tmp: nobody can take ours away */
	assert_int_equal(unix_listen(path, false, &s, NULL), 0);
	unix_close(&s);
	remove_dir(dir);
	free(path);
}

static void a_path_may_be_longer_than_the_kernel_likes(void **state)
{
	char *dir = new_dir(), *longer = mem_printf("%s/%0150d", dir, 7);
	char *path = path_join(longer, "socket");
	struct unix_socket s = { .fd = -1 };

	(void)state;
	assert_int_equal(unix_listen(path, false, &s, NULL), 0);
	assert_int_equal(dial(path), 0);
	unix_close(&s);
	assert_false(file_exists(path));
	rmdir(longer);
	remove_dir(dir);
	free(longer);
	free(path);
}

static const struct {
	const char *address;
	bool exposed;
	int want;
} addresses[] = {
	{ "127.0.0.1", false, 0 },
	{ "127.0.0.2", false, 0 },
	{ "0.0.0.0", false, ERR_REFUSED },
	{ "10.255.255.1", false, ERR_REFUSED },
	{ "::", false, ERR_REFUSED },
	{ "localhost", false, ERR_USAGE },
	{ "", false, ERR_USAGE },
	{ "0.0.0.0", true, 0 },
};

static void tcp_stays_on_this_machine(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(addresses); i++) {
		uint16_t port = 0;
		struct err err;
		int fd = -1,
		    rc = tcp_listen(addresses[i].address, 0, addresses[i].exposed, &fd, &port, &err);

		if (rc != addresses[i].want)
			fail_msg("%s: %d", addresses[i].address, rc);
		assert_int_equal(port != 0, rc == 0);
		if (fd >= 0)
			close(fd);
	}
}

static void a_token_is_kept_while_it_is_secret(void **state)
{
	char *dir = new_dir(), *path = path_join(dir, "token");
	char first[TOKEN_DIGITS + 1], again[TOKEN_DIGITS + 1];

	(void)state;
	assert_int_equal(token_read(dir, again, NULL), ERR_MISSING);
	assert_int_equal(token_load(dir, false, first, NULL), 0);
	assert_int_equal(strspn(first, "0123456789abcdef"), TOKEN_DIGITS);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(token_load(dir, false, again, NULL), 0);
	assert_string_equal(first, again);
	assert_int_equal(token_read(dir, again, NULL), 0);
	assert_string_equal(first, again);

	assert_int_equal(token_load(dir, true, again, NULL), 0);
	assert_string_not_equal(first, again);
	assert_int_equal(chmod(path, 0644), 0); /* others may have read it */
	assert_int_equal(token_load(dir, false, first, NULL), 0);
	assert_string_not_equal(first, again);
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(file_write(path, "short\n", 6, NULL), 0);
	assert_int_equal(token_load(dir, false, again, NULL), 0);
	assert_string_not_equal(first, again);
	unlink(path);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(token_load(dir, false, again, NULL), 0);
	assert_int_equal(mode_of(path), 0600);
	unlink(path);
	remove_dir(dir);
	free(path);
}

/* In a process of its own: the socket must be descriptor 3. */
static void systemd_may_give_the_socket(void **state)
{
	uint16_t port;
	int fd, status;
	pid_t child;

	(void)state;
	assert_int_equal(tcp_listen("127.0.0.1", 0, false, &fd, &port, NULL), 0);
	child = fork();
	if (!child) {
		char pid[32], text[TCP_ADDRESS_MAX];
		uint16_t got = 0;
		int given = 0;
		bool good;

		dup2(fd, 3);
		snprintf(pid, sizeof(pid), "%ld", (long)getpid());
		setenv("LISTEN_FDS", "1", 1);
		setenv("LISTEN_PID", "1", 1);
		good = tcp_given(&given, NULL) == 0 && given == -1 && !getenv("LISTEN_FDS"); /* another's */
		setenv("LISTEN_FDS", "1", 1);
		setenv("LISTEN_PID", pid, 1);
		good &= tcp_given(&given, NULL) == 0 && given == 3 && !getenv("LISTEN_PID");
		good &= tcp_adopt(3, false, text, &got, NULL) == 0 && got == port &&
			!strcmp(text, "127.0.0.1");
		setenv("LISTEN_FDS", "2", 1);
		setenv("LISTEN_PID", pid, 1);
		good &= tcp_given(&given, NULL) == ERR_USAGE;
		_exit(!good);
	}
	close(fd);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(tcp_is_unprivileged(65535));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_for_its_owner_or_for_all),
		cmocka_unit_test(only_a_dead_socket_is_replaced),
		cmocka_unit_test(a_directory_of_everybody_is_no_place),
		cmocka_unit_test(a_path_may_be_longer_than_the_kernel_likes),
		cmocka_unit_test(tcp_stays_on_this_machine),
		cmocka_unit_test(a_token_is_kept_while_it_is_secret),
		cmocka_unit_test(systemd_may_give_the_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
