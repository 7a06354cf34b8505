/*
 * A plain driver for fuzz targets, where clang's libFuzzer is not installed.
 *
 * Runs every corpus file, then mutations of them for a while.  Understands the
 * options of libFuzzer that tools/fuzz uses (-max_total_time, -max_len, -runs,
 * -seed, -artifact_prefix) and ignores the others, so that both are called
 * alike.  The sequence of inputs depends on the seed and the corpus alone.
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
/* From the sanitizer runtime: called before it ends the process. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

struct input {
	uint8_t *bytes;
	size_t n;
};

static struct {
	double seconds;
	unsigned long runs, max_runs; /* 0: no limit */
	size_t max_len;
	const char *artifacts; /* prefix of the file that keeps a bad input */
	uint64_t random;
	struct input *corpus;
	size_t ncorpus;
	struct input now; /* bytes hold max_len */
} fuzz = { .seconds = 3, .max_len = 65536, .artifacts = "", .random = 1 };

static uint64_t random_below(uint64_t n)
{
	fuzz.random ^= fuzz.random << 13;
	fuzz.random ^= fuzz.random >> 7;
	fuzz.random ^= fuzz.random << 17;
	return n ? (fuzz.random >> 11) % n : 0;
}

static void keep_bad_input(void)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%scrash-%lu", fuzz.artifacts, fuzz.runs);
	out = fopen(path, "w");
	if (!out)
		return;
	fwrite(fuzz.now.bytes, 1, fuzz.now.n, out);
	fclose(out);
	fprintf(stderr, "Test unit written to %s\n", path);
}

static void on_signal(int number)
{
	keep_bad_input();
	signal(number, SIG_DFL);
	raise(number);
}

static void run_now(void)
{
	/* An exact copy, so that the sanitizer sees a read past its end. */
	uint8_t *copy = malloc(fuzz.now.n ? fuzz.now.n : 1);

	if (!copy)
		abort();
	memcpy(copy, fuzz.now.bytes, fuzz.now.n);
	fuzz.runs++;
	alarm(25);
	LLVMFuzzerTestOneInput(copy, fuzz.now.n);
	alarm(0);
	free(copy);
}

static void set_now(const uint8_t *bytes, size_t n)
{
	fuzz.now.n = n < fuzz.max_len ? n : fuzz.max_len;
	memcpy(fuzz.now.bytes, bytes, fuzz.now.n);
}

/* A new, empty input with room for max_len bytes. */
static struct input *add_input(void)
{
	struct input *item;

	fuzz.corpus = realloc(fuzz.corpus, (fuzz.ncorpus + 1) * sizeof(*fuzz.corpus));
	if (!fuzz.corpus)
		abort();
	item = &fuzz.corpus[fuzz.ncorpus++];
	item->bytes = malloc(fuzz.max_len);
	if (!item->bytes)
		abort();
	item->n = 0;
	return item;
}

static void add_file(const char *path)
{
	FILE *in = fopen(path, "r");
	struct input *item;

	if (!in)
		return;
	item = add_input();
	item->n = fread(item->bytes, 1, fuzz.max_len, in);
	fclose(in);
}

/* A file, or every file of a directory in the order of their names. */
static void add_path(const char *path)
{
	struct dirent **names;
	struct stat st;
	int i, n;

	if (stat(path, &st) < 0)
		return;
	if (!S_ISDIR(st.st_mode)) {
		add_file(path);
		return;
	}
	n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			add_file(file);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* Puts n bytes over `cut` bytes at a place of the input, as far as there is room. */
static void splice(size_t at, size_t cut, const uint8_t *bytes, size_t n)
{
	struct input *now = &fuzz.now;
	size_t tail;

	if (cut > now->n - at)
		cut = now->n - at;
	tail = now->n - at - cut;
	if (n > fuzz.max_len - at - tail)
		n = fuzz.max_len - at - tail;
	memmove(now->bytes + at + n, now->bytes + at + cut, tail);
	memcpy(now->bytes + at, bytes, n);
	now->n = at + n + tail;
}

static void mutate(void)
{
	static const char *const words[] = { "0", "-1", "1e308", "nan", "inf", "99999999999999999999",
		"\"", ",", "\n", "\r\n", "{", "}", "[", "]", ":", "\t", " ", ";", "|", "#", "null" };
	struct input *now = &fuzz.now;
	size_t at = random_below(now->n + 1);
	uint8_t byte = (uint8_t)random_below(256);

	switch (random_below(6)) {
	case 0: /* one byte changed */
		splice(at, 1, &byte, 1);
		break;
	case 1: /* one bit flipped */
		if (at < now->n)
			now->bytes[at] ^= (uint8_t)(1u << random_below(8));
		break;
	case 2: /* some bytes removed */
		splice(at, 1 + random_below(16), &byte, 0);
		break;
	case 3: { /* a telling word put in */
		const char *word = words[random_below(sizeof(words) / sizeof(words[0]))];

		splice(at, random_below(8), (const uint8_t *)word, strlen(word));
		break;
	}
	case 4: { /* a piece of another input put in */
		const struct input *other = &fuzz.corpus[random_below(fuzz.ncorpus)];
		size_t from = random_below(other->n + 1);

		splice(at, random_below(64), other->bytes + from, random_below(other->n - from + 1));
		break;
	}
	default: /* cut off */
		if (random_below(8) == 0)
			now->n = at;
		break;
	}
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run_mutations(double until_s)
{
	while (now_s() < until_s && (!fuzz.max_runs || fuzz.runs < fuzz.max_runs)) {
		const struct input *base = &fuzz.corpus[random_below(fuzz.ncorpus)];
		uint64_t changes = 1 + random_below(8);

		set_now(base->bytes, base->n);
		while (changes--)
			mutate();
		run_now();
	}
}

static void read_flag(const char *flag)
{
	double number;

	if (sscanf(flag, "-max_total_time=%lf", &number) == 1)
		fuzz.seconds = number;
	else if (sscanf(flag, "-max_len=%lf", &number) == 1 && number >= 1)
		fuzz.max_len = (size_t)number;
	else if (sscanf(flag, "-runs=%lf", &number) == 1 && number >= 0)
		fuzz.max_runs = (unsigned long)number;
	else if (sscanf(flag, "-seed=%lf", &number) == 1 && number >= 1)
		fuzz.random = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15);
	else if (strncmp(flag, "-artifact_prefix=", 17) == 0)
		fuzz.artifacts = flag + 17;
}

int main(int argc, char **argv)
{
	double until_s;
	size_t i;
	int arg;

	for (arg = 1; arg < argc; arg++)
		if (argv[arg][0] == '-')
			read_flag(argv[arg]);
	fuzz.now.bytes = malloc(fuzz.max_len);
	if (!fuzz.now.bytes)
		abort();
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep_bad_input);
	signal(SIGABRT, on_signal);
	signal(SIGALRM, on_signal); /* an input that takes too long */

	until_s = now_s() + fuzz.seconds;
	for (arg = 1; arg < argc; arg++)
		if (argv[arg][0] != '-')
			add_path(argv[arg]);
	if (!fuzz.ncorpus)
		add_input(); /* nothing to start from: the empty input grows */
	for (i = 0; i < fuzz.ncorpus; i++) {
		set_now(fuzz.corpus[i].bytes, fuzz.corpus[i].n);
		run_now();
	}
	run_mutations(until_s);
	fprintf(stderr, "stat::number_of_executed_units: %lu\n", fuzz.runs);

	for (i = 0; i < fuzz.ncorpus; i++)
		free(fuzz.corpus[i].bytes);
	free(fuzz.corpus);
	free(fuzz.now.bytes);
	return 0;
}
