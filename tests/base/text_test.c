#include "base/text.h"

#include <math.h>
#include <string.h>

#include "property.h"

/* ---- buffers ---- */

static void buffers_grow_and_end_in_nul(void **state)
{
	struct buf buf = { 0 };
	char word[600];

	(void)state;
	buf_clear(&buf);
	buf_add(&buf, NULL, 0);
	assert_string_equal(buf.at, "");
	buf_str(&buf, "one");
	buf_char(&buf, ' ');
	buf_printf(&buf, "%s %d", "two", 3);
	assert_string_equal(buf.at, "one two 3");
	assert_int_equal(buf.n, 9);
	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	buf_printf(&buf, "%s!", word);
	assert_int_equal(buf.n, 9 + 599 + 1);
	assert_string_equal(buf.at + 9 + 599, "!");
	buf_clear(&buf);
	assert_string_equal(buf.at, "");
	buf_printf(&buf, "%255s", "x"); /* just fits, and just does not, what printf tries first */
	buf_printf(&buf, "%256s", "y");
	assert_int_equal(buf.n, 511);
	buf_fini(&buf);
	buf_fini(&buf);
}

/* ---- writing numbers ---- */

static void doubles_are_written_short(void **state)
{
	static const struct {
		double x;
		const char *want;
	} rows[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ -1, "-1" },
		{ 10, "10" },
		{ 3600, "3600" },
		{ 999999999999999, "999999999999999" },
		{ 1e15, "1e+15" },
		{ 1e22, "1e+22" },
		{ 1e300, "1e+300" },
		{ 0.1, "0.1" },
		{ 0.5, "0.5" },
		{ 0.25, "0.25" },
		{ -0.3, "-0.3" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 2.0 / 3, "0.6666666666666666" },
		{ 100.0 / 3, "33.333333333333336" },
		{ 0.0001, "0.0001" },
		{ 0.00010001, "0.00010001" },
		{ 0.00001, "1e-05" },
		{ 123456.789, "123456.789" },
		{ 99999999999999.9, "99999999999999.9" },
		{ 0.99999999999999989, "0.9999999999999999" },
		{ 5e-324, "4.94065645841247e-324" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 0x1p-10, "0.0009765625" },
		{ 1.5, "1.5" },
		{ 1e14 + 0.5, "100000000000000.5" },
		{ 9007199254740993.0, "9007199254740992" },
	};
	struct buf buf = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		buf_clear(&buf);
		buf_double(&buf, rows[i].x);
		if (strcmp(buf.at, rows[i].want))
			fail_msg("%.17g: got %s, want %s", rows[i].x, buf.at, rows[i].want);
	}
	buf_fini(&buf);
}

static void whole_numbers(void **state)
{
	static const int64_t rows[] = { 0, 1, -1, 9, 10, -10, 1234567890123, INT64_MAX, INT64_MIN };
	struct buf buf = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[32];

		snprintf(want, sizeof(want), "%lld", (long long)rows[i]);
		buf_clear(&buf);
		buf_int(&buf, rows[i]);
		assert_string_equal(buf.at, want);
	}
	buf_fini(&buf);
}

/* What buf_double() promises, by the slow way. */
static void reference(double x, char out[40])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, 40, "%.*g", digits, x);
		if (strtod(out, NULL) == x)
			return;
	}
}

static double any_double(struct rng *rng)
{
	uint64_t bits = rng_u64(rng);
	double x;

	switch (rng_below(rng, 6)) {
	case 0: /* any bits */
		memcpy(&x, &bits, sizeof(x));
		return x;
	case 1: /* what simulations produce */
		return rng_between(rng, -1e6, 1e6);
	case 2: /* few digits */
		return (double)rng_below(rng, 1000000) / pow(10, (double)rng_below(rng, 8));
	case 3: /* any size */
		return rng_uniform(rng) * pow(10, (double)rng_below(rng, 40) - 20);
	case 4: /* beside a power of two */
		return nextafter(ldexp(1, (int)rng_below(rng, 80) - 30),
			rng_below(rng, 2) ? INFINITY : 0);
	default: /* beside a power of ten */
		return nextafter(pow(10, (double)rng_below(rng, 24) - 6),
			rng_below(rng, 2) ? INFINITY : 0);
	}
}

static void doubles_read_back_equal(void **state)
{
	struct rng rng = property("buf_double writes what printf would, and it reads back");
	struct buf buf = { 0 };

	(void)state;
	for (size_t i = 0; i < rounds(300000); i++) {
		double x = any_double(&rng), back;
		char want[40];

		if (!isfinite(x))
			continue;
		reference(x, want);
		buf_clear(&buf);
		buf_double(&buf, x);
		if (strcmp(buf.at, want))
			fail_msg("%a: got %s, want %s", x, buf.at, want);
		if (!slice_double((struct slice){ buf.at, buf.n }, &back) ||
			memcmp(&x, &back, sizeof(x)))
			fail_msg("%s does not read back", buf.at);
	}
	buf_fini(&buf);
}

/* ---- slices ---- */

static void slices(void **state)
{
	struct slice s = slice_trim(slice_of(" \t a b\r\n"));

	(void)state;
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.at, "a b", 3);
	assert_int_equal(slice_trim(slice_of(" \t ")).n, 0);
	assert_int_equal(slice_trim((struct slice){ 0 }).n, 0);
	assert_true(slice_is(s, "a b"));
	assert_false(slice_is(s, "a B"));
	assert_false(slice_is(s, "a bc"));
	assert_false(slice_is(s, "a"));
	assert_true(slice_is_nocase(s, "A B"));
	assert_false(slice_is_nocase(s, "A C"));
	assert_false(slice_is_nocase(s, "A"));
	assert_true(slice_is((struct slice){ 0 }, ""));
	assert_true(slice_is_nocase((struct slice){ 0 }, ""));
}

/* ---- reading numbers ---- */

static void doubles_are_read_strictly(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double want;
	} rows[] = {
		{ "0", true, 0 },
		{ "7", true, 7 },
		{ "-7", true, -7 },
		{ "+7", true, 7 },
		{ "007", true, 7 },
		{ " 1.5\t", true, 1.5 },
		{ "1.", true, 1 },
		{ ".5", true, 0.5 },
		{ "-.5e1", true, -5 },
		{ "1e3", true, 1e3 },
		{ "1E+3", true, 1e3 },
		{ "1e-3", true, 1e-3 },
		{ "1e0003", true, 1e3 },
		{ "0.1", true, 0.1 },
		{ "0.30000000000000004", true, 0.1 + 0.2 },
		{ "1e22", true, 1e22 },
		{ "1e23", true, 1e23 },
		{ "1e-22", true, 1e-22 },
		{ "1e-23", true, 1e-23 },
		{ "1e308", true, 1e308 },
		{ "9007199254740993", true, 9007199254740992.0 },
		{ "9007199254740995", true, 9007199254740996.0 },
		{ "9007199254740992.9999", true, 9007199254740992.0 },
		{ "18446744073709551615", true, 18446744073709551615.0 },
		{ "9999999999999999999", true, 9999999999999999999.0 },
		{ "0.000000000000000000000000000000001", true, 1e-33 },
		{ "4.9e-324", true, 4.9e-324 },
		{ "1e-400", true, 0 },
		{ "0e999999999999", true, 0 },
		{ "2.2250738585072011e-308", true, 2.2250738585072011e-308 },
		{ "3.141592653589793238462643383279502884197", true, 3.14159265358979323846 },
		{ "", false, 0 },
		{ " ", false, 0 },
		{ ".", false, 0 },
		{ "-", false, 0 },
		{ "+.", false, 0 },
		{ "e5", false, 0 },
		{ "1e", false, 0 },
		{ "1e+", false, 0 },
		{ "1e5x", false, 0 },
		{ "1e5.0", false, 0 },
		{ "1.2.3", false, 0 },
		{ "1,5", false, 0 },
		{ "1 2", false, 0 },
		{ "--1", false, 0 },
		{ "nan", false, 0 },
		{ "inf", false, 0 },
		{ "-Infinity", false, 0 },
		{ "0x10", false, 0 },
		{ "0x1p3", false, 0 },
		{ "1e400", false, 0 },
		{ "-1e999999999999", false, 0 },
		{ "1f", false, 0 },
		{ "5s", false, 0 },
		{ "1_000", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double x = -99;
		bool ok = slice_double(slice_of(rows[i].text), &x);

		if (ok != rows[i].ok || x != (ok ? rows[i].want : -99))
			fail_msg("'%s': %d %.17g", rows[i].text, ok, x);
	}
}

static void the_sign_of_zero_is_kept(void **state)
{
	double x;

	(void)state;
	assert_true(slice_double(slice_of("-0"), &x) && x == 0 && signbit(x));
	assert_true(slice_double(slice_of("-0.000"), &x) && signbit(x));
	assert_true(slice_double(slice_of("0"), &x) && !signbit(x));
}

static void very_long_numbers(void **state)
{
	size_t n = 200000;
	char *text = malloc(n);
	double x = -1;

	(void)state;
	assert_non_null(text);
	memset(text, '0', n);
	assert_false(slice_double((struct slice){ text, n }, &x)); /* longer than anyone means */
	text[0] = '1';
	text[1] = '.';
	assert_true(slice_double((struct slice){ text, 5000 }, &x));
	assert_true(x == 1);
	text[1] = '0';
	assert_true(slice_double((struct slice){ text, 300 }, &x));
	assert_true(x == 1e299);
	assert_false(slice_double((struct slice){ text, 310 }, &x));
	free(text);
}

/* A number in one of the forms people and programs write. */
static size_t any_number(struct rng *rng, char out[100])
{
	size_t n = 0, before = rng_below(rng, 21), after = rng_below(rng, rng_below(rng, 4) ? 10 : 25);

	if (rng_below(rng, 3) == 0)
		out[n++] = "+-"[rng_below(rng, 2)];
	for (size_t i = 0; i < before; i++)
		out[n++] = (char)('0' + rng_below(rng, rng_below(rng, 3) ? 10 : 1));
	if (!before || rng_below(rng, 2)) {
		out[n++] = '.';
		for (size_t i = 0; i < after + !before; i++)
			out[n++] = (char)('0' + rng_below(rng, rng_below(rng, 3) ? 10 : 1));
	}
	if (rng_below(rng, 3) == 0)
		n += (size_t)sprintf(out + n, "e%d",
			(int)rng_below(rng, rng_below(rng, 4) ? 60 : 700) - 330);
	out[n] = '\0';
	return n;
}

static void doubles_agree_with_strtod(void **state)
{
	struct rng rng = property("slice_double against strtod");

	(void)state;
	for (size_t i = 0; i < rounds(500000); i++) {
		char text[100], *end;
		size_t n = any_number(&rng, text);
		double want = strtod(text, &end), got = 0;
		bool ok = slice_double((struct slice){ text, n }, &got);

		assert_ptr_equal(end, text + n);
		if (ok != isfinite(want) || (ok && memcmp(&got, &want, sizeof(got))))
			fail_msg("'%s': got %d %a, want %a", text, ok, got, want);
	}
}

/* Where rounding is hardest: the text of the point halfway between two neighbours, and just beside it. */
static void halfway_points_round_like_strtod(void **state)
{
	struct rng rng = property("halfway points");

	(void)state;
	for (size_t i = 0; i < rounds(100000); i++) {
		uint64_t whole = (UINT64_C(1) << 53) + rng_below(&rng, UINT64_C(1) << 55);
		uint64_t odd = whole - whole % 4 + 2;
		char text[64];
		double got;

		snprintf(text, sizeof(text), "%llu%s", (unsigned long long)odd,
			(const char *[]){ "", ".0", ".01", "e-3", "e-17" }[rng_below(&rng, 5)]);
		assert_true(slice_double(slice_of(text), &got));
		if (got != strtod(text, NULL))
			fail_msg("'%s': got %a, want %a", text, got, strtod(text, NULL));
	}
}

static void ints_are_read_strictly(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} rows[] = {
		{ "0", true, 0 },
		{ "-0", true, 0 },
		{ " 42 ", true, 42 },
		{ "+5", true, 5 },
		{ "-5", true, -5 },
		{ "007", true, 7 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "1.0", false, 0 },
		{ "1e3", false, 0 },
		{ "0x1", false, 0 },
		{ "1 2", false, 0 },
		{ "--1", false, 0 },
		{ "ten", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t x = -99;
		bool ok = slice_int(slice_of(rows[i].text), &x);

		if (ok != rows[i].ok || x != (ok ? rows[i].want : -99))
			fail_msg("'%s': %d %lld", rows[i].text, ok, (long long)x);
	}
}

static void seconds_have_units_and_clocks(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double want;
	} rows[] = {
		{ "90", true, 90 },
		{ "90s", true, 90 },
		{ "1.5h", true, 5400 },
		{ "30m", true, 1800 },
		{ "2d", true, 172800 },
		{ "1w", true, 604800 },
		{ "250ms", true, 0.25 },
		{ "1 h", true, 3600 },
		{ "10 minutes", true, 600 },
		{ "2Days", true, 172800 },
		{ "1e3s", true, 1000 },
		{ "-5", true, -5 },
		{ "1:30:00", true, 5400 },
		{ "01:02:03", true, 3723 },
		{ "2-12:00:00", true, 216000 },
		{ "1:30", true, 90 },
		{ "90:00", true, 5400 },
		{ "100:00:00", true, 360000 },
		{ "1-0", true, 86400 },
		{ "1-12", true, 129600 },
		{ "1-12:30", true, 131400 },
		{ "00:00:01.250", true, 1.25 },
		{ " 90 s ", true, 90 },
		{ "", false, 0 },
		{ "h", false, 0 },
		{ "5x", false, 0 },
		{ "5 parsecs", false, 0 },
		{ "1:60", false, 0 },
		{ "1:60:00", false, 0 },
		{ "1-24:00:00", false, 0 },
		{ "1:2:3:4", false, 0 },
		{ "1::2", false, 0 },
		{ ":30", false, 0 },
		{ "30:", false, 0 },
		{ "-1:30", false, 0 },
		{ "1.5:00", false, 0 },
		{ "1-", false, 0 },
		{ "2017-10-09", false, 0 },
		{ "1:30h", false, 0 },
		{ "nan", false, 0 },
		{ "1e308h", false, 0 },
		{ "inf", false, 0 },
		{ "1:1e1", false, 0 },
		{ "1:.5", false, 0 },
		{ "1:1.2.3", false, 0 },
		{ "1x2", false, 0 },
		{ "0x10", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double x = -99;
		bool ok = slice_seconds(slice_of(rows[i].text), &x);

		if (ok != rows[i].ok || x != (ok ? rows[i].want : -99))
			fail_msg("'%s': %d %.17g", rows[i].text, ok, x);
	}
}

static void bytes_have_units(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} rows[] = {
		{ "0", true, 0 },
		{ "512", true, 512 },
		{ "512B", true, 512 },
		{ "64K", true, 65536 },
		{ "64kb", true, 65536 },
		{ "16G", true, INT64_C(16) << 30 },
		{ "1.5TiB", true, INT64_C(3) << 39 },
		{ "2 MiB", true, 2 << 20 },
		{ "0.3K", true, 307 },
		{ "1P", true, INT64_C(1) << 50 },
		{ "1E", true, INT64_C(1) << 60 },
		{ "9007199254740993", true, INT64_C(9007199254740993) },
		{ "1e3", true, 1000 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "-1K", false, 0 },
		{ "K", false, 0 },
		{ "1X", false, 0 },
		{ "1KK", false, 0 },
		{ "1Kib2", false, 0 },
		{ "8E", false, 0 },
		{ "1e300", false, 0 },
		{ "nan", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t x = -99;
		bool ok = slice_bytes(slice_of(rows[i].text), &x);

		if (ok != rows[i].ok || x != (ok ? rows[i].want : -99))
			fail_msg("'%s': %d %lld", rows[i].text, ok, (long long)x);
	}
}

/* ---- slips ---- */

static void slips_find_their_word(void **state)
{
	static const char *const words[] = { "fifo", "las", "srtf", "tiresias", "limit_s", "queues",
		"gavel", "max_min" };
	static const struct {
		const char *what, *word;
		int want;
	} rows[] = {
		{ "the word itself", "las", 1 },
		{ "a letter dropped", "tirsias", 3 },
		{ "a letter added", "queuess", 5 },
		{ "a letter changed", "gavol", 6 },
		{ "two letters swapped", "lsa", 1 },
		{ "two letters swapped in a longer word", "tiersias", 3 },
		{ "capitals", "FIFO", 0 },
		{ "the beginning of a word", "tire", 3 },
		{ "the unit left out", "limit", 4 },
		{ "a dash for an underscore", "max-min", 7 },
		{ "something else", "random", -1 },
		{ "one letter is not a slip", "x", -1 },
		{ "nor are two other ones", "zz", -1 },
		{ "nothing", "", -1 },
		{ "a very long word",
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			-1 },
	};
	static const char *const long_names[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "short"
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int got = text_nearest(rows[i].word, words, COUNT(words));

		if (got != rows[i].want)
			fail_msg("%s: '%s' gives %d", rows[i].what, rows[i].word, got);
	}
	assert_int_equal(text_nearest("las", NULL, 0), -1);
	assert_int_equal(text_nearest("shart", long_names, 2), 1);
}

/* ---- for people ---- */

static void durations_for_people(void **state)
{
	static const struct {
		double seconds;
		const char *want;
	} rows[] = {
		{ 0, "0s" },
		{ 320, "5m20s" },
		{ 1, "1s" },
		{ 1.234, "1.23s" },
		{ 599, "9m59s" },
		{ 600, "10m" },
		{ 45, "45s" },
		{ 59.97, "1m" },
		{ 95.4, "1m35s" },
		{ 3599.7, "1h" },
		{ 7800, "2h10m" },
		{ 86399, "1d" },
		{ 5400, "1h30m" },
		{ 3600, "1h" },
		{ 86400, "1d" },
		{ 126000, "1d11h" },
		{ 172800, "2d" },
		{ 864000, "10d" },
		{ 86400e4, "10000d" },
		{ 0.25, "250ms" },
		{ 0.0000123, "12.3us" },
		{ -5400, "-1h30m" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ NAN, "-" },
		{ 1e30, "1.16e+25d" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(text_duration(rows[i].seconds, out), rows[i].want);
}

static void how_long_it_lasts(void **state)
{
	static const struct {
		double seconds;
		const char *want;
	} rows[] = {
		{ 0, "0s" },
		{ 0.9, "0s" },
		{ 45.7, "45s" },
		{ 95, "1m35s" },
		{ 600, "10m00s" },
		{ 7800, "2h10m" },
		{ 86399, "23h59m" },
		{ 273600, "3d04h" },
		{ 864000.0 * 20, "200d" },
		{ -95, "-1m35s" },
		{ -0.5, "0s" },
		{ INFINITY, "-" },
		{ NAN, "-" },
		{ 1e30, "1.16e+25d" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(text_lasts(rows[i].seconds, out), rows[i].want);
}

static void sizes_for_people(void **state)
{
	static const struct {
		double bytes;
		const char *want;
	} rows[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ 1024, "1 KiB" },
		{ 1536, "1.5 KiB" },
		{ 0x1p30, "1 GiB" },
		{ 1.5 * 0x1p40, "1.5 TiB" },
		{ 0x1p63, "8 EiB" },
		{ 0x1p73, "8192 EiB" },
		{ 0x1p20 - 1, "1 MiB" },
		{ -2048, "-2 KiB" },
		{ NAN, "-" },
		{ INFINITY, "inf" },
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(text_size(rows[i].bytes, out), rows[i].want);
}

/* ---- time stamps ---- */

static void timestamps(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double want;
	} rows[] = {
		{ "1970-01-01 00:00:00", true, 0 },
		{ "1970-01-02", true, 86400 },
		{ "1969-12-31 23:59:59", true, -1 },
		{ "2017-10-09 07:01:55", true, 1507532515 },
		{ "2017-10-09T07:01:55", true, 1507532515 },
		{ "2017-10-09T07:01:55Z", true, 1507532515 },
		{ "2017-10-09t07:01:55z", true, 1507532515 },
		{ "2017-10-09T07:01:55+02:00", true, 1507525315 },
		{ "2017-10-09T07:01:55-0530", true, 1507552315 },
		{ "2017-10-09T07:01:55+02", true, 1507525315 },
		{ "2017-10-09 07:01:55 +02:00", true, 1507525315 },
		{ "2017-10-09 07:01", true, 1507532460 },
		{ "2017-10-09 07:01:55.250", true, 1507532515.25 },
		{ "2017-10-09 07:01:55.5Z", true, 1507532515.5 },
		{ " 2020-02-29 ", true, 1582934400 },
		{ "2000-02-29", true, 951782400 },
		{ "2016-12-31 23:59:60", true, 1483228800 },
		{ "9999-12-31 23:59:59", true, 253402300799.0 },
		{ "0001-01-01", true, -62135596800.0 },
		{ "2019-02-29", false, 0 },
		{ "1900-02-29", false, 0 },
		{ "2017-13-01", false, 0 },
		{ "2017-00-01", false, 0 },
		{ "2017-04-31", false, 0 },
		{ "2017-04-00", false, 0 },
		{ "2017-10-09 24:00:00", false, 0 },
		{ "2017-10-09 07:60:00", false, 0 },
		{ "2017-10-09 07:00:61", false, 0 },
		{ "2017-10-09 07", false, 0 },
		{ "2017-10-09 07:01:5", false, 0 },
		{ "2017-10-09 07:01:55.", false, 0 },
		{ "2017-10-09 07:01:55 EST", false, 0 },
		{ "2017-10-09 07:01:55Zx", false, 0 },
		{ "2017-10-09 07:01:55+2", false, 0 },
		{ "2017-10-09 07:01:55+02:6", false, 0 },
		{ "2017-10-09 07:01:55+24:00", false, 0 },
		{ "2017-10-09x", false, 0 },
		{ "2017/10/09", false, 0 },
		{ "17-10-09", false, 0 },
		{ "", false, 0 },
		{ "2017-1", false, 0 },
		{ "2017-10-9", false, 0 },
		{ "0000-01-01", false, 0 },
		{ "2017-10-09 0a:00:00", false, 0 },
		{ "2017-10-09 07-00", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double x = -99;
		bool ok = slice_timestamp(slice_of(rows[i].text), &x);

		if (ok != rows[i].ok || x != (ok ? rows[i].want : -99))
			fail_msg("'%s': %d %.17g", rows[i].text, ok, x);
	}
}

/* Every day for 800 years is one after the day before. */
static void days_follow_each_other(void **state)
{
	static const int length[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	double last = 0;

	(void)state;
	for (int year = 1600; year < 2400; year++) {
		for (int month = 1; month <= 12; month++) {
			bool leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
			int days = length[month - 1] + (month == 2 && leap);

			for (int day = 1; day <= days; day++) {
				char text[32];
				double x;

				snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month, day);
				assert_true(slice_timestamp(slice_of(text), &x));
				if (last != 0 && x != last + 86400 && x != 0)
					fail_msg("%s", text);
				last = x;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_grow_and_end_in_nul),
		cmocka_unit_test(doubles_are_written_short),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(doubles_read_back_equal),
		cmocka_unit_test(slices),
		cmocka_unit_test(doubles_are_read_strictly),
		cmocka_unit_test(the_sign_of_zero_is_kept),
		cmocka_unit_test(very_long_numbers),
		cmocka_unit_test(doubles_agree_with_strtod),
		cmocka_unit_test(halfway_points_round_like_strtod),
		cmocka_unit_test(ints_are_read_strictly),
		cmocka_unit_test(seconds_have_units_and_clocks),
		cmocka_unit_test(bytes_have_units),
		cmocka_unit_test(slips_find_their_word),
		cmocka_unit_test(durations_for_people),
		cmocka_unit_test(how_long_it_lasts),
		cmocka_unit_test(sizes_for_people),
		cmocka_unit_test(timestamps),
		cmocka_unit_test(days_follow_each_other),
	};

	return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
