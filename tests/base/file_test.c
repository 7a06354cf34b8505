#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "property.h"

static char home[] = "/tmp/stint-file-test-XXXXXX";

/* Every test runs in one directory of its own making, and leaves it empty. */
static int enter(void **state)
{
	(void)state;
	return mkdtemp(home) && chdir(home) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") == 0 ? rmdir(home) : -1;
}

static void put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *path, const char *want, size_t n)
{
	struct file file;
	struct err err = { 0 };

	if (file_read(path, &file, &err))
		fail_msg("%s", err.text);
	assert_int_equal(file.n, n);
	assert_memory_equal(file.at, want, n);
	file_fini(&file);
}

static void assert_fails(const char *path, int code, const char *says)
{
	struct file file = { .n = 77 };
	struct err err = { 0 };

	assert_int_equal(file_read(path, &file, &err), code);
	assert_int_equal(file.n, 77);
	if (!strstr(err.text, path) || !strstr(err.text, says))
		fail_msg("says: %s", err.text);
}

static size_t files_here(void)
{
	DIR *dir = opendir(".");
	size_t n = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* ---- reading ---- */

static void plain_files(void **state)
{
	(void)state;
	put("plain", "one\ntwo", 7);
	assert_holds("plain", "one\ntwo", 7);
	put("plain", "\x1f", 1); /* half of gzip's mark is not gzip */
	assert_holds("plain", "\x1f", 1);
	put("plain", "", 0);
	assert_holds("plain", "", 0);
	unlink("plain");
}

static void files_without_a_size(void **state)
{
	struct file file;

	(void)state;
	assert_int_equal(file_read("/proc/self/status", &file, NULL), 0);
	assert_true(file.n > 100);
	file_fini(&file);
	assert_int_equal(file_read("/dev/null", &file, NULL), 0);
	assert_int_equal(file.n, 0);
	file_fini(&file);
	file_fini(&file);
}

static void what_cannot_be_read(void **state)
{
	(void)state;
	assert_fails("no-such-file", ERR_MISSING, "No such file or directory; check the path");
	assert_fails("/", ERR_IO, "is a directory; name a file in it");
	put("plain", "x", 1);
	assert_fails("plain/below", ERR_IO, "Not a directory");
	assert_int_equal(chmod("plain", 0), 0);
	if (geteuid() != 0)
		assert_fails("plain", ERR_IO, "Permission denied; check who may read it");
	unlink("plain");
}

/* Puts bytes or a file where standard input was; returns the old one. */
static int replace_input(int fd)
{
	int old = dup(STDIN_FILENO);

	assert_true(old >= 0);
	assert_true(dup2(fd, STDIN_FILENO) >= 0);
	close(fd);
	return old;
}

static void standard_input(void **state)
{
	int fds[2], old;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "piped", 5), 5);
	close(fds[1]);
	old = replace_input(fds[0]);
	assert_holds("-", "piped", 5);

	put("plain", "mapped", 6);
	close(replace_input(open("plain", O_RDONLY)));
	assert_holds("-", "mapped", 6);
	assert_int_equal(lseek(STDIN_FILENO, 3, SEEK_SET), 3); /* somebody has read a part of it */
	assert_holds("-", "ped", 3);
	unlink("plain");

	close(replace_input(open("/dev/null", O_WRONLY)));
	assert_int_equal(file_read("-", &(struct file){ 0 }, &(struct err){ 0 }), ERR_IO);
	close(STDIN_FILENO);
	assert_int_equal(file_read("-", &(struct file){ 0 }, &(struct err){ 0 }), ERR_IO);
	assert_true(dup2(old, STDIN_FILENO) >= 0);
	close(old);
}

/* ---- gzip ---- */

/* Packs into out; returns the size. */
static size_t pack(const char *bytes, size_t n, unsigned char *out, size_t room)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)bytes;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static void gzip_files(void **state)
{
	unsigned char packed[400];
	size_t n = pack("hello\n", 6, packed, 100), m;

	(void)state;
	put("x.gz", packed, n);
	assert_holds("x.gz", "hello\n", 6);
	m = pack("world\n", 6, packed + n, 100); /* a second member */
	put("x.gz", packed, n + m);
	assert_holds("x.gz", "hello\nworld\n", 12);
	memset(packed + n + m, 0, 100); /* padding */
	put("x.gz", packed, n + m + 100);
	assert_holds("x.gz", "hello\nworld\n", 12);
	n = pack("", 0, packed, 100);
	put("x.gz", packed, n);
	assert_holds("x.gz", "", 0);
	unlink("x.gz");
}

static void large_gzip_files_and_pipes(void **state)
{
	size_t n = 3000000, room = n + 100000, m;
	char *text = malloc(n);
	unsigned char *packed = malloc(room);
	struct rng rng = property("a few megabytes through gzip");
	FILE *pipe_end;
	int old;

	(void)state;
	assert_true(text && packed);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + rng_below(&rng, 16));
	m = pack(text, n, packed, room);
	put("x.gz", packed, m);
	assert_holds("x.gz", text, n);
	pipe_end = popen("cat x.gz", "r");
	assert_non_null(pipe_end);
	old = replace_input(dup(fileno(pipe_end)));
	assert_holds("-", text, n);
	assert_true(dup2(old, STDIN_FILENO) >= 0);
	close(old);
	pclose(pipe_end);
	unlink("x.gz");
	free(text);
	free(packed);
}

/* ---- what is no text ---- */

enum { LONG_LINE = (64 << 20) + 100000 };

static void put_gzip(const char *path, const char *text, size_t n)
{
	gzFile f = gzopen(path, "wb1");

	assert_non_null(f);
	assert_int_equal(gzwrite(f, text, (unsigned)n), n);
	assert_int_equal(gzclose(f), Z_OK);
}

/* Whatever goes on and on without a newline is given up early, where it comes from does not matter. */
static void endless_lines(void **state)
{
	static const char says[] = "a line of more than 64 MiB; is this the right file?";
	char *text = malloc(LONG_LINE);
	struct file file;

	(void)state;
	assert_fails("/dev/zero", ERR_FORMAT, says);
	put("sparse", "x", 1);
	assert_int_equal(truncate("sparse", LONG_LINE), 0);
	assert_fails("sparse", ERR_FORMAT, says);

	memset(text, 'x', LONG_LINE);
	memcpy(text, "a header\n", 9);
	put_gzip("x.gz", text, LONG_LINE);
	assert_fails("x.gz", ERR_FORMAT, says);
	/* JSON may be one line, and short lines may be many. */
	memcpy(text, "\n [ 1 2 3", 9);
	put_gzip("x.gz", text, LONG_LINE);
	assert_int_equal(file_read("x.gz", &file, NULL), 0);
	assert_int_equal(file.n, LONG_LINE);
	file_fini(&file);
	memcpy(text, "a header\n", 9);
	text[LONG_LINE / 2] = '\n';
	put_gzip("x.gz", text, LONG_LINE);
	assert_holds("x.gz", text, LONG_LINE);
	unlink("x.gz");
	unlink("sparse");
	free(text);
}

static void files_that_are_never_large(void **state)
{
	enum { LIMIT = 3 << 20 };
	char *text = malloc(LIMIT + 1);
	struct file file;
	struct err err = { 0 };

	(void)state;
	memset(text, '\n', LIMIT + 1);
	for (int packed = 0; packed < 2; packed++) {
		for (size_t n = LIMIT; n <= LIMIT + 1; n++) {
			if (packed)
				put_gzip("x", text, n);
			else
				put("x", text, n);
			assert_int_equal(file_read_upto("x", LIMIT, &file, &err),
				n > LIMIT ? ERR_REFUSED : 0);
			if (n == LIMIT)
				file_fini(&file);
		}
		assert_string_equal(err.text, "x: more than 3 MiB; is this the right file?");
	}
	assert_int_equal(file_read_upto("/dev/zero", LIMIT, &file, &err), ERR_REFUSED);
	unlink("x");
	free(text);
}

static void gzip_cut_anywhere_is_an_error(void **state)
{
	unsigned char packed[400];
	const char *text = "job,gpus,arrival\n1,2,3\n2,4,5\n3,8,13\n";
	size_t n = pack(text, strlen(text), packed, sizeof(packed));

	(void)state;
	for (size_t cut = 2; cut < n; cut++) {
		put("x.gz", packed, cut);
		assert_fails("x.gz", ERR_FORMAT, "gzip data ends early (truncated?)");
	}
	unlink("x.gz");
}

static void damaged_gzip_is_an_error(void **state)
{
	unsigned char packed[400], bad[400];
	const char *text = "the same text again, the same text again, the same text again";
	size_t n = pack(text, strlen(text), packed, sizeof(packed));

	(void)state;
	for (size_t i = 10; i < n; i++) { /* behind the header, of which some bytes mean nothing */
		struct file file;
		struct err err = { 0 };

		memcpy(bad, packed, n);
		bad[i] ^= 0x55;
		put("x.gz", bad, n);
		if (file_read("x.gz", &file, &err) != ERR_FORMAT ||
			!strstr(err.text, "x.gz: gzip data "))
			fail_msg("byte %zu: %s", i, err.text);
	}
	memcpy(bad, packed, n);
	bad[n - 8] ^= 1; /* the checksum */
	put("x.gz", bad, n);
	assert_fails("x.gz", ERR_FORMAT, "gzip data is corrupt");
	memcpy(packed + n, "tail", 4);
	put("x.gz", packed, n + 4);
	assert_fails("x.gz", ERR_FORMAT, "followed by something else");
	unlink("x.gz");
}

/* ---- lines ---- */

static void lines(void **state)
{
	static const struct {
		const char *what, *text;
		size_t n;
		const char *want[4];
	} rows[] = {
		{ "nothing has no lines", "", 0, { 0 } },
		{ "a line", "a\n", 1, { "a" } },
		{ "the last newline may be missing", "a\nb", 2, { "a", "b" } },
		{ "empty lines count", "\n\na\n", 3, { "", "", "a" } },
		{ "lines from Windows", "a\r\nb\r\n\r\n", 3, { "a", "b", "" } },
		{ "a return inside stays", "a\rb\n", 1, { "a\rb" } },
		{ "a return at the very end goes", "a\r", 1, { "a" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lines it = lines_of(rows[i].text, strlen(rows[i].text));
		struct slice line;
		size_t n = 0;

		while (lines_next(&it, &line)) {
			if (n >= rows[i].n || !slice_is(line, rows[i].want[n]) || it.number != n + 1)
				fail_msg("%s: line %zu", rows[i].what, n + 1);
			n++;
		}
		assert_int_equal(n, rows[i].n);
	}
	assert_false(lines_next(&(struct lines){ 0 }, &(struct slice){ 0 }));
	assert_int_equal(lines_of(NULL, 0).number, 0);
}

/* ---- writing ---- */

static void the_name_appears_on_commit(void **state)
{
	struct outfile f;
	struct stat st;
	mode_t old = umask(022);

	(void)state;
	put("out", "old", 3);
	assert_int_equal(outfile_open(&f, "out", NULL), 0);
	fprintf(f.to, "new text");
	fflush(f.to);
	assert_holds("out", "old", 3);
	assert_int_equal(outfile_commit(&f, NULL), 0);
	assert_holds("out", "new text", 8);
	assert_int_equal(files_here(), 1);
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	outfile_abandon(&f); /* after commit: nothing */
	assert_true(file_exists("out"));
	umask(old);
	unlink("out");
}

static void abandoned_files_leave_nothing(void **state)
{
	struct outfile f;

	(void)state;
	assert_int_equal(outfile_open(&f, "out", NULL), 0);
	fprintf(f.to, "half");
	assert_int_equal(files_here(), 1);
	outfile_abandon(&f);
	assert_int_equal(files_here(), 0);
	outfile_abandon(&f);
	outfile_abandon(&(struct outfile){ 0 });
}

static void two_writers_do_not_meet(void **state)
{
	struct outfile a, b;

	(void)state;
	assert_int_equal(outfile_open(&a, "out", NULL), 0);
	assert_int_equal(outfile_open(&b, "out", NULL), 0);
	fprintf(a.to, "from a");
	fprintf(b.to, "from b");
	assert_int_equal(outfile_commit(&b, NULL), 0);
	assert_int_equal(outfile_commit(&a, NULL), 0);
	assert_holds("out", "from a", 6);
	assert_int_equal(files_here(), 1);
	unlink("out");
}

static void links_are_followed(void **state)
{
	struct stat st;

	(void)state;
	put("real", "old", 3);
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(file_write("link", "new", 3, NULL), 0);
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_holds("real", "new", 3);
	unlink("link");
	unlink("real");
}

static void devices_are_written_to_not_replaced(void **state)
{
	struct err err = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(file_write("/dev/null", "x", 1, NULL), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(file_write("/dev/full", "x", 1, &err), ERR_IO);
	assert_string_equal(err.text,
		"cannot write /dev/full: No space left on device; make room on the disk");
}

static void what_cannot_be_written(void **state)
{
	struct outfile f;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(outfile_open(&f, "no/such/dir/out", &err), ERR_IO);
	assert_string_equal(err.text,
		"cannot write no/such/dir/out: No such file or directory; does its directory exist?");
	assert_int_equal(file_write(".", "x", 1, &err), ERR_IO);
	assert_string_equal(err.text, "cannot write .: Is a directory");
	/* The place is taken by a directory between opening and committing. */
	assert_int_equal(outfile_open(&f, "out", NULL), 0);
	assert_int_equal(mkdir("out", 0777), 0);
	assert_int_equal(outfile_commit(&f, &err), ERR_IO);
	assert_int_equal(files_here(), 1);
	rmdir("out");
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	struct rlimit old, small;
	struct err err = { 0 };
	char *text = calloc(1, 100000);

	(void)state;
	assert_non_null(text);
	put("out", "old", 3);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){ 4096, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(file_write("out", text, 100000, &err), ERR_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_non_null(strstr(err.text, "cannot write "));
	assert_holds("out", "old", 3);
	assert_int_equal(files_here(), 1);
	unlink("out");
	free(text);
}

static void standard_output(void **state)
{
	struct outfile f;
	struct err err = { 0 };
	int old, fd = open("out", O_WRONLY | O_CREAT, 0666);

	(void)state;
	fflush(stdout);
	old = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	assert_int_equal(file_write("-", "to stdout", 9, NULL), 0);
	assert_int_equal(outfile_open(&f, "-", NULL), 0);
	outfile_abandon(&f);
	fd = open("/dev/full", O_WRONLY);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	assert_int_equal(file_write("-", "x", 1, &err), ERR_IO);
	clearerr(stdout);
	dup2(old, STDOUT_FILENO);
	close(old);
	assert_non_null(strstr(err.text, "cannot write standard output: No space left"));
	assert_holds("out", "to stdout", 9);
	unlink("out");
}

static void empty_files_can_be_written(void **state)
{
	(void)state;
	assert_int_equal(file_write_soon("out", "soon", 4, NULL), 0);
	assert_int_equal(file_write("out", NULL, 0, NULL), 0);
	assert_holds("out", "", 0);
	unlink("out");
}

/* ---- paths ---- */

static void directories_are_made_with_their_parents(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(dir_make("a/b//c/", &err), 0);
	assert_true(file_is_dir("a/b/c"));
	assert_int_equal(dir_make("a/b/c", &err), 0);
	assert_int_equal(dir_make("/tmp", &err), 0);
	assert_int_equal(dir_make("", &err), ERR_IO);
	put("a/file", "", 0);
	assert_false(file_is_dir("a/file"));
	assert_int_equal(dir_make("a/file", &err), ERR_IO);
	assert_string_equal(err.text,
		"cannot make directory a/file: File exists; "
		"something that is not a directory has that name");
	assert_int_equal(dir_make("a/file/below", &err), ERR_IO);
	unlink("a/file");
	rmdir("a/b/c");
	rmdir("a/b");
	rmdir("a");
	assert_false(file_exists("a"));
}

static void paths(void **state)
{
	static const struct {
		const char *dir, *name, *want;
	} joins[] = {
		{ "a", "b", "a/b" },
		{ "a/", "b", "a/b" },
		{ "/", "b", "/b" },
		{ "", "b", "b" },
	};
	static const struct {
		const char *path, *want;
	} bases[] = {
		{ "a/b.csv", "b.csv" },
		{ "b.csv", "b.csv" },
		{ "/b", "b" },
		{ "a/", "" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(joins); i++) {
		char *got = path_join(joins[i].dir, joins[i].name);

		assert_string_equal(got, joins[i].want);
		free(got);
	}
	for (size_t i = 0; i < COUNT(bases); i++)
		assert_string_equal(path_base(bases[i].path), bases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_files),
		cmocka_unit_test(files_without_a_size),
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(standard_input),
		cmocka_unit_test(gzip_files),
		cmocka_unit_test(large_gzip_files_and_pipes),
		cmocka_unit_test(endless_lines),
		cmocka_unit_test(files_that_are_never_large),
		cmocka_unit_test(gzip_cut_anywhere_is_an_error),
		cmocka_unit_test(damaged_gzip_is_an_error),
		cmocka_unit_test(lines),
		cmocka_unit_test(the_name_appears_on_commit),
		cmocka_unit_test(abandoned_files_leave_nothing),
		cmocka_unit_test(two_writers_do_not_meet),
		cmocka_unit_test(links_are_followed),
		cmocka_unit_test(devices_are_written_to_not_replaced),
		cmocka_unit_test(what_cannot_be_written),
		cmocka_unit_test(a_full_disk_leaves_the_old_file),
		cmocka_unit_test(standard_output),
		cmocka_unit_test(empty_files_can_be_written),
		cmocka_unit_test(directories_are_made_with_their_parents),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests_name("base/file", tests, enter, leave);
}
