/*
 * What is left of output that is cut, byte by byte, with nobody else writing.
 */
#include "live/local/kept_output.h"

#include <math.h>
#include <stdlib.h>

#include "live/local/hands_fixture.h"

enum { CAP = 64 << 10 };

struct place {
	char *dir, *path;
	struct kept_output kept;
	long lines; /* written so far */
};

static void place_make(struct place *p, int64_t cap, int64_t reserve)
{
	const char *tmp = getenv("TMPDIR");

	*p = (struct place){ .dir = mem_printf("%s/kept.XXXXXX", tmp ? tmp : "/tmp") };
	assert_non_null(mkdtemp(p->dir));
	p->path = mem_printf("%s/stdout", p->dir);
	p->kept.files[KEPT_OUT].fd = p->kept.files[KEPT_ERR].fd = -1;
	p->kept.dir = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(kept_open(&p->kept, KEPT_OUT, "stdout", getuid(), getgid()));
	assert_true(kept_open(&p->kept, KEPT_ERR, "stderr", getuid(), getgid()));
	kept_bound(&p->kept, 1, cap, reserve);
}

static void place_remove(struct place *p)
{
	for (int i = 0; i < KEPT_FILES; i++) {
		close(p->kept.files[i].fd);
		close(p->kept.files[i].reader);
	}
	close(p->kept.dir);
	remove_tree(p->dir);
	free(p->dir);
	free(p->path);
}

static void print(struct place *p, int which, int64_t bytes)
{
	struct buf text = { 0 };

	while ((int64_t)text.n < bytes)
		buf_printf(&text, "line %ld\n", ++p->lines);
	assert_int_equal(write(p->kept.files[which].fd, text.at, text.n), text.n);
	buf_fini(&text);
}

static int64_t size_of(const struct place *p, int which)
{
	struct stat st;

	assert_int_equal(fstat(p->kept.files[which].fd, &st), 0);
	return st.st_size;
}

static char *all_of(const struct place *p)
{
	int64_t n = size_of(p, KEPT_OUT);
	char *text = mem_alloc((size_t)n + 1);

	assert_int_equal(pread(p->kept.files[KEPT_OUT].reader, text, (size_t)n, 0), n);
	return text;
}

/* Lines from 1 on without a gap, one mark, and lines without a gap to the last. */
static void assert_cut(const struct place *p, const char *mark)
{
	char *text = all_of(p);
	long expected = 1, marks = 0, cut_lines = 0;

	for (char *line = text, *end; *line; line = end + 1) {
		long number;

		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		if (*line == '[') {
			assert_non_null(strstr(line, mark));
			marks++;
			expected = 0;
			continue;
		}
		assert_int_equal(sscanf(line, "line %ld", &number), 1);
		if (!expected) {
			cut_lines = number;
			expected = number;
		}
		assert_int_equal(number, expected++);
	}
	assert_int_equal(marks, 1);
	assert_int_equal(expected, p->lines + 1);
	assert_true(cut_lines > 1);
	free(text);
}

/* Not more than the cap, and not much less. */
static void assert_near_cap(const struct place *p)
{
	int64_t both = size_of(p, KEPT_OUT) + size_of(p, KEPT_ERR);

	if (both > p->kept.cap || both < p->kept.cap / 4 * 3)
		fail_msg("%lld bytes are kept of %lld that may be", (long long)both,
			(long long)p->kept.cap);
}

static void the_beginning_and_the_end_are_kept(void **state)
{
	struct place p;

	(void)state;
	place_make(&p, CAP, 0);
	print(&p, KEPT_OUT, CAP / 2);
	assert_true(kept_look(&p.kept) > 0);
	assert_true(size_of(&p, KEPT_OUT) >= CAP / 2);
	for (int i = 0; i < 20; i++) {
		print(&p, KEPT_OUT, CAP);
		kept_look(&p.kept);
		assert_near_cap(&p);
		assert_cut(&p, "an attempt of this job may keep 64");
	}
	place_remove(&p);
}

static void the_larger_file_is_cut(void **state)
{
	struct place p;
	int64_t before;

	(void)state;
	place_make(&p, CAP, 0);
	print(&p, KEPT_ERR, CAP / 3);
	before = size_of(&p, KEPT_ERR);
	p.lines = 0;
	print(&p, KEPT_OUT, CAP);
	kept_look(&p.kept);
	assert_int_equal(size_of(&p, KEPT_ERR), before);
	assert_near_cap(&p);
	assert_cut(&p, "64");
	place_remove(&p);
}

/* Of caps that are small, and of one whose end is more than is copied at once. */
static void most_of_the_cap_is_kept(void **state)
{
	static const int64_t caps[] = { 8 << 10, 256 << 10, 3 << 20, 6 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		struct place p;

		place_make(&p, caps[i], 0);
		for (int k = 0; k < 3; k++) {
			print(&p, KEPT_OUT, caps[i]);
			kept_look(&p.kept);
			assert_near_cap(&p);
			assert_cut(&p, "an attempt of this job may keep");
		}
		place_remove(&p);
	}
}

/* Both were written faster than they were looked at. */
static void both_files_are_cut_at_once(void **state)
{
	struct place p;

	(void)state;
	place_make(&p, CAP, 0);
	print(&p, KEPT_ERR, 3 * CAP);
	p.lines = 0;
	print(&p, KEPT_OUT, 4 * CAP);
	kept_look(&p.kept);
	assert_true(size_of(&p, KEPT_ERR) > CAP / 4 && size_of(&p, KEPT_OUT) > CAP / 4);
	assert_true(size_of(&p, KEPT_ERR) + size_of(&p, KEPT_OUT) <= CAP);
	assert_cut(&p, "64");
	place_remove(&p);
}

static void one_line_without_an_end_is_cut_anywhere(void **state)
{
	char *zeros = mem_alloc(4 * CAP), *text;
	struct place p;

	(void)state;
	memset(zeros, 'z', 4 * CAP);
	place_make(&p, CAP, 0);
	assert_int_equal(write(p.kept.files[KEPT_OUT].fd, zeros, 4 * CAP), 4 * CAP);
	kept_look(&p.kept);
	text = text_of(p.path);
	assert_non_null(strstr(text, "z\n[stint: "));
	assert_non_null(strstr(text, "]\nz"));
	assert_true(strlen(text) <= CAP);
	free(text);
	free(zeros);
	place_remove(&p);
}

/* What is there when the disk runs low stays; what comes then does not, until there is room. */
static void a_low_disk_stops_growth(void **state)
{
	struct place p;
	int64_t before;

	(void)state;
	place_make(&p, 0, 1);
	print(&p, KEPT_OUT, 300 << 10);
	kept_look(&p.kept);
	before = size_of(&p, KEPT_OUT);
	assert_true(before >= 300 << 10);
	p.kept.reserve = INT64_MAX;
	for (int i = 0; i < 5; i++) {
		print(&p, KEPT_OUT, 300 << 10);
		kept_look(&p.kept);
		assert_true(size_of(&p, KEPT_OUT) >= before);
		assert_true(size_of(&p, KEPT_OUT) <= before + (64 << 10));
		assert_cut(&p, "because the disk is nearly full");
	}
	p.kept.reserve = 1;
	print(&p, KEPT_OUT, 300 << 10);
	kept_look(&p.kept);
	assert_true(size_of(&p, KEPT_OUT) >= before + (300 << 10));
	place_remove(&p);
}

/* What is there when the daemon says so stays; what comes then does not, until it says otherwise. */
static void a_held_file_does_not_grow(void **state)
{
	struct place p;
	int64_t before;

	(void)state;
	place_make(&p, 0, 0);
	print(&p, KEPT_OUT, 300 << 10);
	assert_true(isinf(kept_look(&p.kept)));
	before = size_of(&p, KEPT_OUT);
	kept_hold(&p.kept, true);
	for (int i = 0; i < 5; i++) {
		print(&p, KEPT_OUT, 300 << 10);
		kept_hold(&p.kept, true); /* said again: nothing changes */
		assert_true(kept_look(&p.kept) < 1);
		assert_true(size_of(&p, KEPT_OUT) >= before);
		assert_true(size_of(&p, KEPT_OUT) <= before + (64 << 10));
		assert_cut(&p, "the jobs of this tenant keep as much as they may");
	}
	kept_hold(&p.kept, false);
	print(&p, KEPT_OUT, 300 << 10);
	assert_true(isinf(kept_look(&p.kept)));
	assert_true(size_of(&p, KEPT_OUT) >= before + (300 << 10));
	place_remove(&p);
}

/* A job that opens its output again does not append: it leaves a hole, and is bounded all the same. */
static void a_writer_that_does_not_append_is_bounded(void **state)
{
	char *zeros = mem_alloc(2 * CAP);
	struct place p;
	struct stat st;
	int fd;

	(void)state;
	memset(zeros, 'z', 2 * CAP);
	place_make(&p, CAP, 0);
	fd = open(p.path, O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(write(fd, zeros, 2 * CAP), 2 * CAP);
		kept_look(&p.kept);
		assert_int_equal(fstat(fd, &st), 0);
		assert_true(st.st_blocks * 512 <= 4 * CAP);
	}
	close(fd);
	free(zeros);
	place_remove(&p);
}

static void it_is_looked_at_more_often_near_a_bound(void **state)
{
	struct place p;
	double far, near;

	(void)state;
	place_make(&p, INT64_C(8) << 30, 0);
	far = kept_look(&p.kept);
	p.kept.cap = CAP;
	near = kept_look(&p.kept);
	assert_true(far > 0.5 && far <= 5 && near < 0.1);
	p.kept.cap = 0;
	assert_true(isinf(kept_look(&p.kept)));
	place_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_beginning_and_the_end_are_kept),
		cmocka_unit_test(the_larger_file_is_cut),
		cmocka_unit_test(most_of_the_cap_is_kept),
		cmocka_unit_test(both_files_are_cut_at_once),
		cmocka_unit_test(one_line_without_an_end_is_cut_anywhere),
		cmocka_unit_test(a_low_disk_stops_growth),
		cmocka_unit_test(a_held_file_does_not_grow),
		cmocka_unit_test(a_writer_that_does_not_append_is_bounded),
		cmocka_unit_test(it_is_looked_at_more_often_near_a_bound),
	};

	return cmocka_run_group_tests_name("live/local/kept_output", tests, NULL, NULL);
}
