#include "base/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "property.h"

/* A service manager's end. */
struct manager {
	int fd;
	char path[108]; /* "" if it is an abstract socket */
};

static void listen_at(struct manager *m, const struct sockaddr_un *address, socklen_t size)
{
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(m->fd >= 0);
	assert_int_equal(bind(m->fd, (const struct sockaddr *)address, size), 0);
}

static void listen_at_path(struct manager *m)
{
	const char *tmp = getenv("TMPDIR");
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	/* The room for a path is small: where TMPDIR is long, /tmp does. */
	if (!tmp || strlen(tmp) > 60)
		tmp = "/tmp";
	snprintf(m->path, sizeof(m->path), "%s/notify.%d", tmp, (int)getpid());
	unlink(m->path);
	memcpy(address.sun_path, m->path, strlen(m->path) + 1);
	listen_at(m, &address, sizeof(address));
	setenv("NOTIFY_SOCKET", m->path, 1);
}

static void listen_abstract(struct manager *m)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];
	int n = snprintf(name, sizeof(name), "@stint-notify-test-%d", (int)getpid());

	m->path[0] = '\0';
	memcpy(address.sun_path, name, (size_t)n);
	address.sun_path[0] = '\0';
	listen_at(m, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n));
	setenv("NOTIFY_SOCKET", name, 1);
}

static void leave(struct manager *m)
{
	close(m->fd);
	if (m->path[0])
		unlink(m->path);
}

static const char *heard(const struct manager *m, char out[1024])
{
	ssize_t n = recv(m->fd, out, 1023, MSG_DONTWAIT);

	out[n < 0 ? 0 : n] = '\0';
	return out;
}

static void check_words(struct manager *m)
{
	struct notify n;
	struct err err = { 0 };
	char text[1024];

	assert_int_equal(notify_open(&n, &err), 0);
	assert_true(notify_ready(&n));
	assert_string_equal(heard(m, text), "READY=1");
	assert_true(notify_status(&n, "%d running,\n%s", 3, "none waits"));
	assert_string_equal(heard(m, text), "STATUS=3 running, none waits");
	assert_true(notify_reloading(&n));
	assert_memory_equal(heard(m, text), "RELOADING=1\nMONOTONIC_USEC=", 27);
	assert_true(notify_alive(&n));
	assert_string_equal(heard(m, text), "WATCHDOG=1");
	assert_true(notify_stopping(&n));
	assert_string_equal(heard(m, text), "STOPPING=1");
	notify_close(&n);
	leave(m);
}

static void a_path_is_told(void **state)
{
	struct manager m;

	(void)state;
	listen_at_path(&m);
	check_words(&m);
}

static void an_abstract_socket_is_told(void **state)
{
	struct manager m;

	(void)state;
	listen_abstract(&m);
	check_words(&m);
}

static void a_long_status_is_cut(void **state)
{
	char text[1024], wide[2000];
	struct manager m;
	struct notify n;

	(void)state;
	memset(wide, 'x', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	listen_abstract(&m);
	assert_int_equal(notify_open(&n, NULL), 0);
	assert_true(notify_status(&n, "%s", wide));
	assert_int_equal(strlen(heard(&m, text)), 511);
	notify_close(&n);
	leave(&m);
}

static void where_nobody_listens_nothing_happens(void **state)
{
	struct notify n;

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	setenv("WATCHDOG_USEC", "1000000", 1);
	assert_int_equal(notify_open(&n, NULL), 0);
	assert_int_equal(n.fd, -1);
	assert_false(notify_ready(&n));
	assert_false(notify_status(&n, "%s", "x"));
	assert_true(notify_period_s(&n) == 0);
	notify_close(&n);
}

static void a_manager_that_went_away_ends_nobody(void **state)
{
	struct manager m;
	struct notify n;

	(void)state;
	listen_at_path(&m);
	assert_int_equal(notify_open(&n, NULL), 0);
	leave(&m);
	assert_false(notify_ready(&n));
	assert_false(notify_alive(&n));
	notify_close(&n);
}

/* Its queue is full: what may wait gives up after a second, the rest does not wait. */
static void a_manager_that_does_not_read_holds_nobody(void **state)
{
	struct manager m;
	struct notify n;
	int told = 0;

	(void)state;
	listen_abstract(&m);
	assert_int_equal(notify_open(&n, NULL), 0);
	while (told < 100000 && notify_alive(&n))
		told++;
	assert_true(told > 0 && told < 100000);
	assert_false(notify_stopping(&n));
	notify_close(&n);
	leave(&m);
}

static void what_is_started_later_does_not_inherit_it(void **state)
{
	struct manager m;
	struct notify n;

	(void)state;
	listen_abstract(&m);
	setenv("WATCHDOG_USEC", "1000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_open(&n, NULL), 0);
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_null(getenv("WATCHDOG_USEC"));
	assert_null(getenv("WATCHDOG_PID"));
	notify_close(&n);
	leave(&m);
}

static void addresses_that_cannot_be_are_refused(void **state)
{
	static const char *const wrong[] = { "relative", "vsock:2:5", "@", "/" };
	struct err err;
	struct notify n;
	char wide[200];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("NOTIFY_SOCKET", wrong[i], 1);
		assert_int_equal(notify_open(&n, &err), ERR_FORMAT);
		assert_non_null(strstr(err.text, "NOTIFY_SOCKET"));
		assert_false(notify_ready(&n));
	}
	memset(wide, 'x', sizeof(wide) - 1);
	wide[0] = '/';
	wide[sizeof(wide) - 1] = '\0';
	setenv("NOTIFY_SOCKET", wide, 1);
	assert_int_equal(notify_open(&n, &err), ERR_FORMAT);
}

static void the_watchdog_is_for_the_process_it_names(void **state)
{
	char own[16];
	const struct {
		const char *what, *usec, *pid;
		double period_s;
	} rows[] = {
		{ "half of its time", "30000000", NULL, 15 },
		{ "named", "30000000", own, 15 },
		{ "another is named", "30000000", "1", 0 },
		{ "a name that is none", "30000000", "me", 0 },
		{ "zero is no watchdog", "0", NULL, 0 },
		{ "less than none", "-5", NULL, 0 },
		{ "no number", "30s", NULL, 0 },
		{ "nothing", "", NULL, 0 },
		{ "more than a number can be", "99999999999999999999", NULL, 0 },
		{ "not there", NULL, own, 0 },
	};

	(void)state;
	snprintf(own, sizeof(own), "%d", (int)getpid());
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct notify n;

		setenv("NOTIFY_SOCKET", "@stint-nobody", 1);
		if (rows[i].usec)
			setenv("WATCHDOG_USEC", rows[i].usec, 1);
		if (rows[i].pid)
			setenv("WATCHDOG_PID", rows[i].pid, 1);
		assert_int_equal(notify_open(&n, NULL), 0);
		if (notify_period_s(&n) != rows[i].period_s)
			fail_msg("%s: %g s", rows[i].what, notify_period_s(&n));
		notify_close(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_told),
		cmocka_unit_test(an_abstract_socket_is_told),
		cmocka_unit_test(a_long_status_is_cut),
		cmocka_unit_test(where_nobody_listens_nothing_happens),
		cmocka_unit_test(a_manager_that_went_away_ends_nobody),
		cmocka_unit_test(a_manager_that_does_not_read_holds_nobody),
		cmocka_unit_test(what_is_started_later_does_not_inherit_it),
		cmocka_unit_test(addresses_that_cannot_be_are_refused),
		cmocka_unit_test(the_watchdog_is_for_the_process_it_names),
	};

	return cmocka_run_group_tests_name("base/notify", tests, NULL, NULL);
}
