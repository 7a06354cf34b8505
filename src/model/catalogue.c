/*
 * The tables and the roofline estimate.  Sources and formula: doc/catalogue.md.
 */
#include "model/catalogue.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */

#define T 1e12
#define G 1e9
#define M 1e6
#define GiB (INT64_C(1) << 30)

/* NVLink figures are one direction of all links of a device; PCIe 3.0 x16 gives about 12 GB/s. */
const struct accelerator catalogue_accelerators[] = {
	/* name, aliases, fp32, half, memory, memory bandwidth, link, price */
	{ "k80", "", 4.37 * T, 4.37 * T, 12 * GiB, 240 * G, 12 * G, 0.45 },
	{ "p4", "", 5.5 * T, 5.5 * T, 8 * GiB, 192 * G, 12 * G, 0.60 },
	{ "gtx1080ti", "1080ti", 11.3 * T, 11.3 * T, 11 * GiB, 484 * G, 12 * G, 0.20 },
	{ "p40", "", 11.8 * T, 11.8 * T, 24 * GiB, 347 * G, 12 * G, 0.80 },
	{ "p100", "p100m16", 10.6 * T, 21.2 * T, 16 * GiB, 732 * G, 80 * G, 1.46 },
	{ "t4", "aws", 8.1 * T, 65 * T, 16 * GiB, 320 * G, 12 * G, 0.35 },
	{ "v100", "v10016g v10016gb v100m16", 15.7 * T, 125 * T, 16 * GiB, 900 * G, 150 * G, 2.48 },
	{ "v100-32g", "v10032gb v100m32 v100sxm232gb v100sxm332gb v100pcie32gb", 15.7 * T, 125 * T, 32 * GiB, 900 * G, 150 * G, 3.06 },
	{ "rtx2080ti", "2080ti rtx", 13.4 * T, 53.8 * T, 11 * GiB, 616 * G, 12 * G, 0.25 },
	{ "quadro-rtx6000", "rtx6000 quad titanrtx", 16.3 * T, 130.5 * T, 24 * GiB, 672 * G, 12 * G, 0.50 },
	{ "rtx3090", "3090", 35.6 * T, 71 * T, 24 * GiB, 936 * G, 12 * G, 0.30 },
	{ "rtx4090", "4090", 82.6 * T, 165 * T, 24 * GiB, 1008 * G, 24 * G, 0.50 },
	{ "a10", "a10g", 31.2 * T, 125 * T, 24 * GiB, 600 * G, 24 * G, 1.00 },
	{ "a40", "", 37.4 * T, 149.7 * T, 48 * GiB, 696 * G, 24 * G, 1.30 },
	{ "a100-40g", "a100 a10040gb a100sxm440gb a100pcie40gb dgx dgxext", 19.5 * T, 312 * T, 40 * GiB, 1555 * G, 300 * G, 2.93 },
	{ "a100-80g", "a10080gb a100sxm80gb a100sxm480gb a100pcie80gb", 19.5 * T, 312 * T, 80 * GiB, 2039 * G, 300 * G, 3.93 },
	{ "l4", "", 30.3 * T, 121 * T, 24 * GiB, 300 * G, 24 * G, 0.70 },
	{ "l40s", "l40", 91.6 * T, 362 * T, 48 * GiB, 864 * G, 24 * G, 1.80 },
	{ "h100", "h10080g h10080gb h100sxm5", 67 * T, 989 * T, 80 * GiB, 3350 * G, 450 * G, 8.00 },
	{ "h200", "h200141g", 67 * T, 989 * T, 141 * GiB, 4800 * G, 450 * G, 9.00 },
	{ "mi250", "mi250x", 47.9 * T, 383 * T, 128 * GiB, 3277 * G, 100 * G, 2.50 },
	{ "cpu", "", 1.5 * T, 1.5 * T, 256 * GiB, 100 * G, 12 * G, 0.80 },
	{ 0 },
};

/* flops counts a multiply-add as two and is three times the forward pass; images are 224 x 224 unless said. */
const struct model catalogue_models[] = {
	/* name, aliases, kind, parameters, flops, activation, batch, skew, host */
	{ "alexnet", "", "vision", 61.1 * M, 4.3 * G, 8 * M, 128, 0.61, 0 },
	{ "vgg11", "", "vision", 132.9 * M, 46 * G, 95 * M, 32, 0.77, 0 },
	{ "vgg16", "vgg", "vision", 138.4 * M, 93 * G, 160 * M, 32, 0.74, 0 },
	{ "vgg19", "", "vision", 143.7 * M, 118 * G, 175 * M, 32, 0.72, 0 },
	{ "googlenet", "inception1 inceptionv1", "vision", 6.6 * M, 9 * G, 50 * M, 128, 0.15, 0 },
	{ "inception3", "inceptionv3", "vision", 27.2 * M, 34 * G, 110 * M, 64, 0.14, 0 },
	{ "inception4", "inceptionv4", "vision", 42.7 * M, 74 * G, 190 * M, 32, 0.036, 0 },
	{ "resnet18", "res18 cifar10 resnet18cifar", "vision", 11.2 * M, 3.3 * G, 11 * M, 128, 0.21, 0 }, /* 32 x 32 */
	{ "resnet34", "res34", "vision", 21.8 * M, 22 * G, 60 * M, 64, 0.11, 0 },
	{ "resnet50", "res50 imagenet", "vision", 25.6 * M, 24.6 * G, 100 * M, 64, 0.11, 0 },
	{ "resnet101", "res101", "vision", 44.5 * M, 47 * G, 155 * M, 32, 0.053, 0 },
	{ "resnet152", "res152", "vision", 60.2 * M, 69 * G, 220 * M, 32, 0.039, 0 },
	{ "mobilenet", "mobilenetv2 mobilenetv3", "vision", 3.5 * M, 1.9 * G, 75 * M, 128, 0.37, 0 },
	{ "shufflenet", "shufflenetv2 shufflenetv2x10", "vision", 2.3 * M, 0.9 * G, 30 * M, 128, 0.45, 0 },
	{ "squeezenet", "squeezenet10 squeezenet11", "vision", 1.2 * M, 2.1 * G, 35 * M, 128, 0.41, 0 },
	{ "densenet", "densenet121", "vision", 8 * M, 17 * G, 140 * M, 32, 0.13, 0 },
	{ "efficientnet", "efficientnetb0", "vision", 5.3 * M, 2.4 * G, 85 * M, 64, 0.24, 0 },
	{ "vit", "vitb16 vitbase deit", "vision", 86.6 * M, 105 * G, 180 * M, 64, 0.027, 0 },
	{ "pointnet", "", "vision", 3.5 * M, 2.7 * G, 20 * M, 32, 0.3, 7e-3 },
	{ "yolov3", "yolo", "detection", 61.9 * M, 197 * G, 500 * M, 8, 0.076, 0 }, /* 416 x 416 */
	{ "maskrcnn", "", "detection", 44.4 * M, 1600 * G, 2500 * M, 2, 0.29, 0 },
	{ "dcgan", "gan", "generation", 6.3 * M, 4 * G, 8 * M, 128, 0.45, 0 }, /* 64 x 64 */
	{ "cyclegan", "", "generation", 28.3 * M, 2600 * G, 3000 * M, 1, 0.042, 0 }, /* 256 x 256 */
	{ "lm", "lstm languagemodel languagemodeling", "language", 13.7 * M, 2.2 * G, 4 * M, 20, 0.49, 0 }, /* 35 words */
	{ "gnmt", "seq2seq", "translation", 160 * M, 24 * G, 60 * M, 64, 0.2, 0 }, /* 25 words */
	{ "transformer", "transformerbase", "translation", 65 * M, 25 * G, 60 * M, 64, 0.29, 0 },
	{ "bert-base", "bert roberta bertbaseuncased", "language", 110 * M, 68 * G, 100 * M, 32, 0.21, 0 }, /* 128 tokens */
	{ "bert-large", "", "language", 335 * M, 240 * G, 260 * M, 8, 0.093, 0 }, /* 128 tokens */
	{ "gpt2", "gpt gpt2small", "language", 124 * M, 880 * G, 1000 * M, 4, 0.31, 0 }, /* 1024 tokens */
	{ "gpt2-xl", "", "language", 1558 * M, 10.2 * T, 5000 * M, 1, 0.052, 0 }, /* 1024 tokens */
	{ "gpt-2.8b", "gptpmp", "language", 2800 * M, 37 * T, 6000 * M, 1, 0.046, 0 }, /* 2048 tokens */
	{ "llama-7b", "llama llama27b", "language", 6740 * M, 89 * T, 8000 * M, 1, 0.019, 0 }, /* 2048 tokens */
	{ "ncf", "neumf", "recommendation", 31.8 * M, 0.6 * M, 0.01 * M, 8192, 0.55, 2e-6 },
	{ "recoder", "recommendation autoencoder", "recommendation", 8 * M, 48 * M, 0.25 * M, 2048, 0.5, 6e-5 },
	{ "deepspeech2", "deepspeech ds2", "speech", 38 * M, 70 * G, 120 * M, 16, 0.1, 1e-3 },
	{ "m5", "", "speech", 0.56 * M, 2 * G, 15 * M, 128, 0.7, 4e-4 },
	{ "dqn", "td3", "reinforcement", 1.7 * M, 0.06 * G, 0.3 * M, 32, 0.95, 3e-4 },
	{ "a3c", "a2c ppo", "reinforcement", 0.7 * M, 0.02 * G, 0.3 * M, 32, 0.8, 4e-3 },
	{ 0 },
};

#undef T
#undef G
#undef M
#undef GiB
/* clang-format on */

/* ---- names */

enum { LETTERS_MAX = 64 };

/* A name as it is compared: lower-case letters and digits up to a bracket; what does not fit is cut. */
struct word {
	char at[LETTERS_MAX];
	bool apart[LETTERS_MAX]; /* punctuation stood before the letter */
};

static void squeeze(const char *name, size_t n, struct word *out)
{
	bool apart = false;
	size_t k = 0;

	for (size_t i = 0; i < n && name[i] != '(' && k < LETTERS_MAX - 1; i++) {
		bool counts = isalnum((unsigned char)name[i]);

		if (counts) {
			out->apart[k] = apart;
			out->at[k++] = (char)tolower((unsigned char)name[i]);
		}
		apart = !counts;
	}
	out->at[k] = '\0';
	out->apart[k] = true;
}

/* Where the name begins once its maker's is passed. */
static size_t without_vendor(const struct word *word)
{
	static const char *const vendors[] = { "nvidia", "tesla", "geforce", "amd", "instinct" };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
		size_t n = strlen(vendors[i]);

		if (!strncmp(word->at + at, vendors[i], n) && word->at[at + n])
			at += n;
	}
	return at;
}

/*
 * Whether what stands in `word` from `at` on only says more about the thing whose name ends there.
 * Numbers go on: a v1000 is no v100, and llama-70b no llama.
 */
static bool only_adds(const struct word *word, size_t at)
{
	bool numbered = isdigit((unsigned char)word->at[at - 1]);

	if (!isdigit((unsigned char)word->at[at]))
		return true;
	return numbered && word->apart[at];
}

/* A letter or two at the number of an accelerator make another one (v100s, rtx3090ti), its socket does not. */
static bool same_device(const struct word *word, size_t at)
{
	static const char *const sockets[] = { "sxm", "pcie", "nvl", "hbm" };

	if (word->apart[at])
		return true;
	for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++)
		if (!strncmp(word->at + at, sockets[i], strlen(sockets[i])))
			return true;
	return false;
}

static bool any_letters(const struct word *word, size_t at)
{
	(void)word;
	(void)at;
	return true;
}

/* What is looked for: the part of a word from `from` on, and which letters may follow a known name. */
struct wanted {
	struct word word;
	size_t from;
	bool (*may_follow)(const struct word *word, size_t at);
};

/*
 * How well `known` names what is wanted: its length where that starts with it (names shorter than
 * four letters say too little for that), SAME where they are equal, else 0.
 */
enum { SAME = LETTERS_MAX + 1, SHORTEST_PREFIX = 4 };

static size_t likeness(const struct wanted *wanted, const char *known, size_t n)
{
	const char *text = wanted->word.at + wanted->from;
	struct word name;
	size_t len;

	if (*text != tolower((unsigned char)*known)) /* saves most of the work */
		return 0;
	squeeze(known, n, &name);
	if (!strcmp(text, name.at))
		return SAME;
	len = strlen(name.at);
	if (len < SHORTEST_PREFIX || strncmp(text, name.at, len) != 0)
		return 0;
	return only_adds(&wanted->word, wanted->from + len) &&
			wanted->may_follow(&wanted->word, wanted->from + len)
		? len
		: 0;
}

/* The best likeness of an entry's name and aliases. */
static size_t likeness_any(const struct wanted *wanted, const char *name, const char *aliases)
{
	size_t best = likeness(wanted, name, strlen(name));

	while (*aliases && best < SAME) {
		size_t n = strcspn(aliases, " ");
		size_t l = likeness(wanted, aliases, n);

		if (l > best)
			best = l;
		aliases += n;
		aliases += strspn(aliases, " ");
	}
	return best;
}

const struct accelerator *catalogue_accelerator(const char *name)
{
	const struct accelerator *found = NULL;
	struct wanted wanted = { .may_follow = same_device };
	size_t best = 0;

	squeeze(name, strlen(name), &wanted.word);
	wanted.from = without_vendor(&wanted.word);
	for (const struct accelerator *a = catalogue_accelerators; a->name; a++) {
		size_t l = likeness_any(&wanted, a->name, a->aliases);

		if (l > best) {
			best = l;
			found = a;
		}
	}
	return found;
}

/* The number after "batch size", 0 if there is none. */
static int stated_batch(const char *name)
{
	const char *at = strcasestr(name, "batch size");
	long n;

	if (!at)
		return 0;
	n = strtol(at + strlen("batch size"), NULL, 10);
	return n > 0 && n <= 1000000000 ? (int)n : 0;
}

const struct model *catalogue_model(const char *name, int *batch)
{
	const struct model *found = NULL;
	struct wanted wanted = { .may_follow = any_letters };
	size_t best = 0;

	squeeze(name, strlen(name), &wanted.word);
	for (const struct model *m = catalogue_models; m->name; m++) {
		size_t l = likeness_any(&wanted, m->name, m->aliases);

		if (l > best) {
			best = l;
			found = m;
		}
	}
	if (found && batch) {
		*batch = stated_batch(name);
		if (!*batch)
			*batch = found->batch;
	}
	return found;
}

/* ---- the estimate; each constant has its paragraph in doc/catalogue.md */

static const double COMPUTE_EFFICIENCY = 0.35; /* of peak arithmetic that training reaches */
static const double EASY_FLOPS = 20e12;        /* beyond it, kernels keep up less and less */
static const double MEMORY_EFFICIENCY = 0.65;  /* of peak memory bandwidth */
static const double LINK_EFFICIENCY = 0.7;     /* of nominal link speed */
static const double ACTIVATION_PASSES = 6; /* times that a kept activation crosses the memory bus */
static const double WEIGHT_BYTES = 32; /* per parameter and step: weight, gradient, two moments */
static const double STEP_OVERHEAD_S = 0.015;
static const double HIDING_FRACTION = 0.5;  /* of the device time can hide an exchange */
static const double EXPOSED_FRACTION = 0.2; /* of an exchange is never hidden */
static const double STATE_BYTES = 16;       /* per parameter held: weight, gradient, two moments */
static const double CONTEXT_BYTES = 1e9;    /* the runtime's own */

/* Operations per second that training reaches: peaks beyond EASY_FLOPS count with the power 3/4. */
static double reached_flops(double peak)
{
	double excess = peak / EASY_FLOPS;

	if (excess <= 1)
		return COMPUTE_EFFICIENCY * peak;
	return COMPUTE_EFFICIENCY * peak / sqrt(sqrt(excess));
}

struct step_time catalogue_step(const struct model *model, int batch, struct roof roof)
{
	struct step_time t = { .device_s = NAN, .overhead_s = STEP_OVERHEAD_S };
	double compute_s, memory_s, host_s = batch * model->host_s;

	if (!(roof.flops > 0))
		return t;
	compute_s = batch * model->flops / reached_flops(roof.flops);
	memory_s = 0;
	if (roof.mem_Bps > 0)
		memory_s = (batch * ACTIVATION_PASSES * model->activation_bytes +
				   WEIGHT_BYTES * model->params) /
			(MEMORY_EFFICIENCY * roof.mem_Bps);
	t.device_s = fmax(compute_s, memory_s);
	t.overhead_s += fmax(0, host_s - t.device_s);
	return t;
}

double catalogue_gradient_bytes(const struct model *model)
{
	return 4 * model->params;
}

double catalogue_sync_s(const struct model *model, struct step_time alone, uint32_t n, double Bps)
{
	double ring_s;

	if (n < 2 || !(Bps > 0))
		return 0;
	ring_s = 2.0 * (n - 1) / n * catalogue_gradient_bytes(model) / (LINK_EFFICIENCY * Bps);
	return fmax(EXPOSED_FRACTION * ring_s, ring_s - HIDING_FRACTION * alone.device_s);
}

double catalogue_mem_bytes(const struct model *model, int batch)
{
	return CONTEXT_BYTES + STATE_BYTES * model->params + batch * model->activation_bytes;
}
