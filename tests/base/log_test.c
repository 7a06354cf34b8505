#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "property.h"

/* A log into a pipe or a pair of sockets, and what came out. */
struct desk {
	int in, out;
	struct log log;
	struct buf text;
};

static void desk_open(struct desk *d, bool sockets, enum log_level level)
{
	int ends[2];

	*d = (struct desk){ 0 };
	assert_int_equal(sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends), 0);
	d->in = ends[0];
	d->out = ends[1];
	fcntl(d->in, F_SETFL, O_NONBLOCK);
	log_init(&d->log, d->out, level);
}

/* Everything that is there now; "" if nothing is. */
static const char *desk_read(struct desk *d)
{
	char piece[4096];
	ssize_t n;

	buf_clear(&d->text);
	buf_str(&d->text, "");
	while ((n = read(d->in, piece, sizeof(piece))) > 0)
		buf_add(&d->text, piece, (size_t)n);
	return d->text.at ? d->text.at : "";
}

static void desk_close(struct desk *d)
{
	log_fini(&d->log);
	if (d->in >= 0)
		close(d->in);
	close(d->out);
	buf_fini(&d->text);
}

/* As the journal does for its services. */
static void be_journal(int fd)
{
	char text[64];
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", text, 1);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void a_line_has_time_level_and_text(void **state)
{
	struct desk d;
	int year, month, day, hour, minute, zone, end = 0;
	double second;

	(void)state;
	unsetenv("JOURNAL_STREAM");
	desk_open(&d, false, LEVEL_INFO);
	log_warning(&d.log, "node %d is slow", 7);
	assert_int_equal(sscanf(desk_read(&d), "%d-%d-%d %d:%d:%lf%5d%n", &year, &month, &day,
				 &hour, &minute, &second, &zone, &end),
		7);
	assert_true(year >= 2020 && month >= 1 && month <= 12 && second < 61);
	assert_string_equal(d.text.at + end, " warning: node 7 is slow\n");
	desk_close(&d);
}

static void the_journal_gets_prefixes(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, true, LEVEL_DEBUG);
	be_journal(d.out);
	log_init(&d.log, d.out, LEVEL_DEBUG);
	log_error(&d.log, "a");
	log_warning(&d.log, "b");
	log_notice(&d.log, "c");
	log_info(&d.log, "d");
	log_debug(&d.log, "e");
	assert_string_equal(desk_read(&d), "<3>a\n<4>b\n<5>c\n<6>d\n<7>e\n");
	desk_close(&d);
}

static void output_sent_elsewhere_is_not_the_journal(void **state)
{
	struct desk d;

	(void)state;
	setenv("JOURNAL_STREAM", "1:2", 1);
	desk_open(&d, false, LEVEL_INFO);
	assert_int_equal(d.log.form, LOG_STAMPED);
	desk_close(&d);
	setenv("JOURNAL_STREAM", "nonsense", 1);
	desk_open(&d, false, LEVEL_INFO);
	assert_int_equal(d.log.form, LOG_STAMPED);
	desk_close(&d);
}

static void levels_above_are_silent(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, false, LEVEL_NOTICE);
	log_info(&d.log, "quiet");
	assert_false(log_wants(&d.log, LEVEL_INFO));
	assert_string_equal(desk_read(&d), "");
	log_set_level(&d.log, LEVEL_INFO);
	log_info(&d.log, "loud");
	assert_int_equal(count_lines(desk_read(&d)), 1);
	log_at(NULL, LEVEL_ERROR, "nobody");
	desk_close(&d);
}

static void a_message_is_one_line(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, true, LEVEL_INFO);
	be_journal(d.out);
	log_init(&d.log, d.out, LEVEL_INFO);
	log_info(&d.log, "%s", "one\ntwo\r\n\x1b[31mred\tend\x7f");
	assert_string_equal(desk_read(&d),
		"<6>one\\u000atwo\\u000d\\u000a\\u001b[31mred\\u0009end\\u007f\n");
	desk_close(&d);
}

static void a_long_message_is_cut_between_characters(void **state)
{
	struct desk d;
	char wide[3 * LOG_LINE_MAX + 1];

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		memset(wide, 'x', shift);
		for (size_t i = shift; i + 3 < sizeof(wide); i += 3)
			memcpy(wide + i, "\xe2\x82\xac", 4); /* the euro sign */
		desk_open(&d, true, LEVEL_INFO);
		be_journal(d.out);
		log_init(&d.log, d.out, LEVEL_INFO);
		log_info(&d.log, "%s", wide);
		desk_read(&d);
		assert_true(d.text.n <= LOG_LINE_MAX && d.text.n > LOG_LINE_MAX - 8);
		assert_string_equal(d.text.at + d.text.n - 7, "\xe2\x82\xac...\n");
		desk_close(&d);
	}
}

/* Lines whole, none twice, and the lost ones are counted. */
static void check_full(bool sockets)
{
	struct desk d;
	size_t got, lost;
	char *word;
	const char *text;

	unsetenv("JOURNAL_STREAM");
	desk_open(&d, sockets, LEVEL_INFO);
	for (int i = 0; i < 20000; i++)
		log_info(&d.log, "line %d", i);
	text = desk_read(&d);
	got = count_lines(text);
	assert_true(got > 100 && got < 20000);
	assert_int_equal(d.text.at[d.text.n - 1], '\n');

	log_info(&d.log, "again");
	text = desk_read(&d);
	word = strstr(text, "warning: ");
	assert_non_null(word);
	lost = strtoul(word + 9, NULL, 10);
	assert_int_equal(got + lost, 20000);
	assert_non_null(strstr(text, "info: again\n"));
	assert_int_equal(count_lines(text), 2);
	desk_close(&d);
}

static void a_full_pipe_holds_nobody(void **state)
{
	(void)state;
	check_full(false);
}

static void a_full_socket_holds_nobody(void **state)
{
	(void)state;
	check_full(true);
}

static void the_flags_of_standard_error_stay(void **state)
{
	struct desk d;

	(void)state;
	desk_open(&d, false, LEVEL_INFO);
	log_info(&d.log, "x");
	assert_false(fcntl(d.out, F_GETFL) & O_NONBLOCK);
	desk_close(&d);
}

static void a_reader_that_left_ends_nobody(void **state)
{
	struct desk d;

	(void)state;
	for (int sockets = 0; sockets < 2; sockets++) {
		desk_open(&d, sockets, LEVEL_INFO);
		close(d.in);
		d.in = -1;
		errno = ENOENT;
		log_error(&d.log, "to nobody");
		assert_int_equal(errno, ENOENT);
		assert_int_equal(atomic_load(&d.log.lost), 1);
		desk_close(&d);
	}
}

/* Written after what is there, as whoever else writes to the file does. */
static void a_file_is_appended_to(void **state)
{
	FILE *f = tmpfile();
	struct log log;
	char text[256] = "";

	(void)state;
	assert_non_null(f);
	assert_int_equal(write(fileno(f), "first\n", 6), 6);
	log_init(&log, fileno(f), LEVEL_INFO);
	log_info(&log, "second");
	log_fini(&log);
	assert_int_equal(write(fileno(f), "third\n", 6), 6);
	assert_true(pread(fileno(f), text, sizeof(text) - 1, 0) > 12);
	assert_memory_equal(text, "first\n", 6);
	assert_int_equal(count_lines(text), 3);
	assert_string_equal(text + strlen(text) - 6, "third\n");
	fclose(f);
}

enum { THREADS = 4, EACH = 50 };

static void *chatter(void *log)
{
	for (int i = 0; i < EACH; i++)
		log_info(log, "%s", "abcdefghijklmnopqrstuvwxyz");
	return NULL;
}

static void threads_do_not_mix_their_lines(void **state)
{
	pthread_t threads[THREADS];
	struct desk d;
	size_t n = 0;

	(void)state;
	desk_open(&d, false, LEVEL_INFO);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, chatter, &d.log), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (const char *at = desk_read(&d);
		(at = strstr(at, " info: abcdefghijklmnopqrstuvwxyz\n")); at++)
		n++;
	assert_int_equal(n, THREADS * EACH);
	assert_int_equal(count_lines(d.text.at), THREADS * EACH);
	desk_close(&d);
}

static void levels_have_names(void **state)
{
	enum log_level level = LEVEL_DEBUG;

	(void)state;
	for (int i = LEVEL_ERROR; i <= LEVEL_DEBUG; i++) {
		assert_true(log_level_of(log_level_name((enum log_level)i), &level));
		assert_int_equal(level, i);
	}
	assert_false(log_level_of("loud", &level));
	assert_false(log_level_of("", &level));
	assert_int_equal(level, LEVEL_DEBUG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_time_level_and_text),
		cmocka_unit_test(the_journal_gets_prefixes),
		cmocka_unit_test(output_sent_elsewhere_is_not_the_journal),
		cmocka_unit_test(levels_above_are_silent),
		cmocka_unit_test(a_message_is_one_line),
		cmocka_unit_test(a_long_message_is_cut_between_characters),
		cmocka_unit_test(a_full_pipe_holds_nobody),
		cmocka_unit_test(a_full_socket_holds_nobody),
		cmocka_unit_test(the_flags_of_standard_error_stay),
		cmocka_unit_test(a_reader_that_left_ends_nobody),
		cmocka_unit_test(a_file_is_appended_to),
		cmocka_unit_test(threads_do_not_mix_their_lines),
		cmocka_unit_test(levels_have_names),
	};

	return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
