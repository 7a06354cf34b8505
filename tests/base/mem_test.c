#include "base/mem.h"

#include <signal.h>
#include <stdalign.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "property.h"

/* The address sanitizer would end the program where we want to see our own message. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void alloc_gives_zeros(void **state)
{
	char *p = mem_alloc(100), *nothing = mem_alloc(0);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(p[i], 0);
	assert_non_null(nothing);
	free(p);
	free(nothing);
}

static void resize_keeps_what_was_there(void **state)
{
	char *p = mem_resize(NULL, 4);

	(void)state;
	memcpy(p, "abc", 4);
	p = mem_resize(p, 4000);
	assert_string_equal(p, "abc");
	p = mem_resize(p, 0);
	assert_non_null(p);
	free(p);
}

static void texts_are_copied(void **state)
{
	char *whole = mem_strdup("stint"), *part = mem_strndup("stint", 3);
	char *none = mem_strndup(NULL, 0), *made = mem_printf("%d-%s", 7, "x");

	(void)state;
	assert_string_equal(whole, "stint");
	assert_string_equal(part, "sti");
	assert_string_equal(none, "");
	assert_string_equal(made, "7-x");
	free(whole);
	free(part);
	free(none);
	free(made);
}

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
	struct arena arena = { 0 };
	struct rng rng = property("arena pieces do not overlap");
	enum { PIECES = 500 };
	unsigned char *piece[PIECES];
	size_t size[PIECES];

	(void)state;
	for (int life = 0; life < 3; life++) {
		for (size_t i = 0; i < PIECES; i++) {
			size[i] = rng_below(&rng, i % 50 ? 100 : 20000);
			piece[i] = arena_alloc(&arena, size[i]);
			assert_non_null(piece[i]);
			assert_int_equal((uintptr_t)piece[i] % alignof(max_align_t), 0);
			for (size_t k = 0; k < size[i]; k++)
				assert_int_equal(piece[i][k], 0);
			memset(piece[i], (int)(i % 255 + 1), size[i]);
			arena_strdup(&arena, "unaligns");
		}
		for (size_t i = 0; i < PIECES; i++) {
			for (size_t k = 0; k < size[i]; k++)
				assert_int_equal(piece[i][k], i % 255 + 1);
		}
		arena_reset(&arena);
	}
	arena_fini(&arena);
}

static void arena_texts(void **state)
{
	struct arena arena = { 0 };

	(void)state;
	assert_string_equal(arena_strdup(&arena, "abc"), "abc");
	assert_string_equal(arena_strndup(&arena, "abcdef", 2), "ab");
	assert_string_equal(arena_strndup(&arena, NULL, 0), "");
	assert_string_equal(arena_printf(&arena, "%05d", 42), "00042");
	assert_int_equal(strlen(arena_printf(&arena, "%1000d", 42)), 1000);
	arena_fini(&arena);
}

static void arena_reset_keeps_one_block(void **state)
{
	struct arena arena = { 0 };
	size_t total, *numbers;

	(void)state;
	arena_reset(&arena); /* empty: nothing */
	for (int i = 0; i < 1000; i++)
		arena_alloc(&arena, 1000);
	total = arena.total;
	assert_true(total >= 1000000);
	arena_reset(&arena);
	assert_true(arena.total < total && arena.total * 2 >= total / 2);
	total = arena.total;
	numbers = arena_array(&arena, size_t, total / sizeof(size_t));
	assert_non_null(numbers);
	assert_int_equal(arena.total, total); /* it fitted into what was kept */
	assert_non_null(arena_new(&arena, double));
	assert_true(arena.total > total);
	arena_fini(&arena);
	assert_int_equal(arena.total, 0);
	arena_fini(&arena);
}

/* ---- running out ---- */

static volatile size_t huge = PTRDIFF_MAX;

static void alloc_huge(void)
{
	free(mem_alloc(huge));
}

static void resize_huge(void)
{
	free(mem_resize(NULL, huge));
}

static void arena_huge(void)
{
	struct arena arena = { 0 };

	arena_alloc(&arena, huge);
}

static void array_wraps(void)
{
	struct arena arena = { 0 };

	arena_array(&arena, double, huge / 2); /* times 8 would wrap round to almost nothing */
}

static void leave(int signal)
{
	(void)signal;
	exit(42); /* not _exit(): coverage is written on the way out */
}

/* Runs it in a child; what it printed goes to `said`. */
static int status_of(void (*run)(void), char said[200])
{
	int fds[2], status;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		signal(SIGABRT, leave);
		dup2(fds[1], STDERR_FILENO);
		run();
		_exit(0);
	}
	close(fds[1]);
	memset(said, 0, 200);
	for (size_t at = 0; (n = read(fds[0], said + at, 199 - at)) > 0;)
		at += (size_t)n;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void no_memory_aborts_with_a_message(void **state)
{
	static const struct {
		const char *what;
		void (*run)(void);
	} rows[] = {
		{ "alloc", alloc_huge },
		{ "resize", resize_huge },
		{ "arena", arena_huge },
		{ "array whose size wraps", array_wraps },
	};
	char said[200];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (status_of(rows[i].run, said) != 42 || !strstr(said, "out of memory"))
			fail_msg("%s: did not abort, or said '%s'", rows[i].what, said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alloc_gives_zeros),
		cmocka_unit_test(resize_keeps_what_was_there),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(arena_texts),
		cmocka_unit_test(arena_reset_keeps_one_block),
		cmocka_unit_test(no_memory_aborts_with_a_message),
	};

	return cmocka_run_group_tests_name("base/mem", tests, NULL, NULL);
}
