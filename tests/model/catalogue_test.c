#include "model/catalogue.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/property.h"

static const struct {
	const char *name;
	const char *want; /* NULL: not known */
} accelerators[] = {
	{ "v100", "v100" },
	{ "V100", "v100" },
	{ "Tesla-V100-SXM2", "v100" },
	{ "NVIDIA Tesla V100 16GB", "v100" },
	{ "V100M32", "v100-32g" },
	{ "a100", "a100-40g" },
	{ "NVIDIA A100-SXM4-80GB", "a100-80g" },
	{ "A100-SXM-80GB", "a100-80g" },
	{ "Tesla V100-SXM2-32GB", "v100-32g" },
	{ "GeForce RTX 2080 Ti", "rtx2080ti" },
	{ "quad", "quadro-rtx6000" },
	{ "H100 80GB", "h100" },
	{ "t4", "t4" },
	{ "cpu", "cpu" },
	{ "gpu", NULL },
	{ "", NULL },
	{ "nvidia", NULL },
	{ "t40", NULL }, /* short names are not prefixes */
	/* what follows makes it another one */
	{ "v1000", NULL },
	{ "p1000", NULL },
	{ "a1000", NULL },
	{ "Quadro P1000", NULL },
	{ "v100s", NULL },
	{ "rtx3090ti", NULL },
	{ "rtx6000ada", NULL },
	{ "h1000-sxm5", NULL },
	/* or not */
	{ "v100-2", "v100" },
	{ "v100_old", "v100" },
	{ "h100-nvl", "h100" },
	{ "h100pcie", "h100" },
};

static const struct {
	const char *name;
	const char *want;
	int batch;
} models[] = {
	/* as published traces call them */
	{ "ResNet-18 (batch size 64)", "resnet18", 64 },
	{ "ResNet-50 (batch size 128)", "resnet50", 128 },
	{ "LM (batch size 10)", "lm", 10 },
	{ "Recommendation (batch size 8192)", "recoder", 8192 },
	{ "Transformer (batch size 16)", "transformer", 16 },
	{ "CycleGAN", "cyclegan", 1 },
	{ "A3C", "a3c", 32 },
	{ "a2c", "a3c", 32 },
	{ "vgg19", "vgg19", 32 },
	{ "inception4", "inception4", 32 },
	{ "shufflenet_v2_x1_0", "shufflenet", 128 },
	{ "dqn", "dqn", 32 },
	{ "bert", "bert-base", 32 },
	{ "gpt2", "gpt2", 4 },
	{ "gpt_pmp", "gpt-2.8b", 1 },
	{ "cifar10", "resnet18", 128 },
	{ "imagenet", "resnet50", 64 },
	{ "ncf", "ncf", 8192 },
	{ "NeuMF", "ncf", 8192 },
	{ "yolov3", "yolov3", 8 },
	{ "deepspeech2", "deepspeech2", 16 },
	{ "deepspeech", "deepspeech2", 16 },
	{ "res18", "resnet18", 128 },
	{ "MobileNetV3", "mobilenet", 128 },
	{ "EfficientNet", "efficientnet", 64 },
	{ "LSTM", "lm", 20 },
	{ "DCGAN", "dcgan", 128 },
	{ "PPO", "a3c", 32 },
	/* longer names of the same thing, and odd ones */
	{ "resnet50_v1.5", "resnet50", 64 },
	{ "bert-large-uncased", "bert-large", 8 },
	{ "llama-7b (batch size 0)", "llama-7b", 1 },
	{ "VIT-B/16 (Batch Size 99)", "vit", 99 },
	{ "resnet18 (batch size 99999999999)", "resnet18", 128 },
	{ "resnet50d", "resnet50", 64 },
	{ "squeezenet1_1", "squeezenet", 128 },
	{ "lmx", NULL, 0 },
	{ "resnet500", NULL, 0 },
	{ "llama-70b", NULL, 0 },
	{ "densenet201", NULL, 0 },
	{ "unknown", NULL, 0 },
	{ "(batch size 16)", NULL, 0 },
	{ "", NULL, 0 },
};

static void test_accelerator_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(accelerators); i++) {
		const struct accelerator *a = catalogue_accelerator(accelerators[i].name);

		print_message("\"%s\"\n", accelerators[i].name);
		if (accelerators[i].want) {
			assert_non_null(a);
			assert_string_equal(a->name, accelerators[i].want);
		} else {
			assert_null(a);
		}
	}
}

static void test_model_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(models); i++) {
		int batch = 0;
		const struct model *m = catalogue_model(models[i].name, &batch);

		print_message("\"%s\"\n", models[i].name);
		if (models[i].want) {
			assert_non_null(m);
			assert_string_equal(m->name, models[i].want);
		} else {
			assert_null(m);
		}
		assert_int_equal(batch, models[i].batch);
	}
	assert_non_null(catalogue_model("resnet50", NULL));
}

static void test_a_very_long_name_is_harmless(void **state)
{
	char name[5000];

	(void)state;
	memset(name, 'v', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_null(catalogue_model(name, NULL));
	assert_null(catalogue_accelerator(name));
}

/* No alias may lead elsewhere, and no fact may be out of any proportion. */
static void test_accelerator_table(void **state)
{
	(void)state;
	for (const struct accelerator *a = catalogue_accelerators; a->name; a++) {
		char aliases[256], *save = NULL;

		assert_ptr_equal(catalogue_accelerator(a->name), a);
		snprintf(aliases, sizeof(aliases), "%s", a->aliases);
		for (char *w = strtok_r(aliases, " ", &save); w; w = strtok_r(NULL, " ", &save))
			assert_ptr_equal(catalogue_accelerator(w), a);
		assert_true(a->fp32_flops >= 1e12 && a->fp32_flops <= 1e15);
		assert_true(a->half_flops >= a->fp32_flops && a->half_flops <= 1e16);
		assert_true(a->mem_bytes >= INT64_C(8) << 30 && a->mem_bytes <= INT64_C(1) << 40);
		assert_true(a->mem_Bps >= 50e9 && a->mem_Bps <= 1e13);
		assert_true(a->link_Bps >= 1e9 && a->link_Bps < a->mem_Bps);
		assert_true(a->price_per_h > 0 && a->price_per_h < 100);
	}
}

static void test_model_table(void **state)
{
	(void)state;
	for (const struct model *m = catalogue_models; m->name; m++) {
		char aliases[256], *save = NULL;

		assert_ptr_equal(catalogue_model(m->name, NULL), m);
		snprintf(aliases, sizeof(aliases), "%s", m->aliases);
		for (char *w = strtok_r(aliases, " ", &save); w; w = strtok_r(NULL, " ", &save))
			assert_ptr_equal(catalogue_model(w, NULL), m);
		assert_true(m->params >= 1e5 && m->params <= 1e12);
		assert_true(m->flops >= 1e5 && m->flops <= 1e15);
		assert_true(m->activation_bytes >= 1e3 && m->activation_bytes <= 1e11);
		assert_true(m->batch >= 1 && m->batch <= 65536);
		assert_true(m->skew > 0 && m->skew < 1);
		assert_true(m->host_s >= 0 && m->host_s < 1);
		assert_non_null(m->kind);
	}
	assert_true(catalogue_model("vgg16", NULL)->skew == 0.74);
	assert_true(catalogue_model("alexnet", NULL)->skew == 0.61);
	assert_true(catalogue_model("resnet50", NULL)->skew == 0.11);
	assert_true(catalogue_model("inception3", NULL)->skew == 0.14);
}

static void check_documented(const char *doc, const char *name)
{
	char row[80];

	snprintf(row, sizeof(row), "| %s |", name);
	if (!strstr(doc, row))
		fail_msg("doc/catalogue.md has no row for %s", name);
}

static void test_the_document_has_every_entry(void **state)
{
	struct file file;
	char *doc;

	(void)state;
	if (!file_exists("doc/catalogue.md")) {
		print_message("SKIPPED: doc/catalogue.md is not here; run from the project's root\n");
		return;
	}
	assert_int_equal(file_read("doc/catalogue.md", &file, NULL), 0);
	doc = mem_strndup(file.at, file.n);
	for (const struct accelerator *a = catalogue_accelerators; a->name; a++)
		check_documented(doc, a->name);
	for (const struct model *m = catalogue_models; m->name; m++)
		check_documented(doc, m->name);
	free(doc);
	file_fini(&file);
}

static struct roof roof_of(const char *name)
{
	const struct accelerator *a = catalogue_accelerator(name);

	return (struct roof){ a->half_flops, a->mem_Bps };
}

static double samples_per_s(const char *model, const char *device)
{
	int batch;
	const struct model *m = catalogue_model(model, &batch);
	struct step_time t = catalogue_step(m, batch, roof_of(device));

	return batch / (t.device_s + t.overhead_s);
}

/* Public figures of mixed-precision training; the estimate is meant to be within a factor of 2.5. */
static const struct {
	const char *model, *device;
	double samples_per_s;
} figures[] = {
	{ "resnet50 (batch size 256)", "v100", 850 },
	{ "resnet50 (batch size 256)", "a100", 2400 },
	{ "resnet50 (batch size 256)", "t4", 400 },
	{ "resnet50 (batch size 256)", "p100", 300 },
	{ "resnet50 (batch size 64)", "k80", 52 },
	{ "resnet50 (batch size 256)", "h100", 3000 },
	{ "bert-large (batch size 64)", "v100", 100 },
	{ "bert-large (batch size 64)", "a100", 330 },
	{ "gpt2 (batch size 16)", "a100", 110 },
};

static void test_public_figures(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(figures); i++) {
		double ratio = samples_per_s(figures[i].model, figures[i].device) /
			figures[i].samples_per_s;

		print_message("%-28s on %-5s %.2f of the public figure\n", figures[i].model,
			figures[i].device, ratio);
		assert_true(ratio > 1 / 2.5 && ratio < 2.5);
	}
}

static void test_step_by_hand(void **state)
{
	const struct model *m = catalogue_model("resnet50", NULL);
	struct step_time t = catalogue_step(m, 32, (struct roof){ 10e12, 0 });

	(void)state;
	/* 32 x 24.6e9 operations at 35 % of 10e12 per second */
	assert_true(fabs(t.device_s - 32 * 24.6e9 / 3.5e12) < 1e-12);
	assert_true(t.overhead_s == 0.015 && t.sync_s == 0);

	/* memory decides: (32 x 6 x 100e6 + 32 x 25.6e6) bytes at 65 % of 100e9 per second */
	t = catalogue_step(m, 32, (struct roof){ 10e12, 100e9 });
	assert_true(fabs(t.device_s - (32 * 6 * 100e6 + 32 * 25.6e6) / 65e9) < 1e-12);

	/* sixteen times the easy peak reaches eight times as much */
	t = catalogue_step(m, 32, (struct roof){ 320e12, 0 });
	assert_true(fabs(t.device_s - 32 * 24.6e9 / (0.35 * 320e12 / 2)) < 1e-12);

	assert_true(isnan(catalogue_step(m, 32, (struct roof){ 0, 100e9 }).device_s));
}

static void test_the_host_counts_where_it_is_slower(void **state)
{
	const struct model *m = catalogue_model("recoder", NULL);
	struct step_time slow = catalogue_step(m, 2048, roof_of("k80"));
	struct step_time fast = catalogue_step(m, 2048, roof_of("h100"));

	(void)state;
	assert_true(fast.device_s < slow.device_s);
	assert_true(fabs(fast.device_s + fast.overhead_s - (2048 * 6e-5 + 0.015)) < 1e-12);
	assert_true(fabs(slow.device_s + slow.overhead_s - (2048 * 6e-5 + 0.015)) < 1e-12);
}

static void test_sync(void **state)
{
	const struct model *m = catalogue_model("vgg16", NULL);
	struct step_time t = { .device_s = 0.1 };
	double bytes = 4 * 138.4e6, ring = 2 * 0.75 * bytes / (0.7 * 1e9);

	(void)state;
	assert_true(catalogue_gradient_bytes(m) == bytes);
	assert_true(catalogue_sync_s(m, t, 1, 1e9) == 0);
	assert_true(catalogue_sync_s(m, t, 4, 0) == 0);
	assert_true(fabs(catalogue_sync_s(m, t, 4, 1e9) - (ring - 0.05)) < 1e-12);
	t.device_s = 100; /* all that can be hidden is */
	assert_true(fabs(catalogue_sync_s(m, t, 4, 1e9) - 0.2 * ring) < 1e-12);
	t.device_s = 0;
	assert_true(fabs(catalogue_sync_s(m, t, 4, 1e9) - ring) < 1e-12);
}

/* A faster device, link or a smaller batch never makes a step longer. */
static void test_monotone(void **state)
{
	struct rng rng = property("better hardware is never slower");
	size_t n = 0;

	(void)state;
	while (catalogue_models[n].name)
		n++;
	for (size_t i = 0; i < rounds(2000); i++) {
		const struct model *m = &catalogue_models[rng_below(&rng, n)];
		int batch = 1 + (int)rng_below(&rng, 256);
		struct roof roof = { rng_between(&rng, 1e12, 1e15), rng_between(&rng, 1e11, 5e12) };
		struct roof better = { roof.flops * 1.3, roof.mem_Bps * 1.1 };
		struct step_time t = catalogue_step(m, batch, roof);
		struct step_time b = catalogue_step(m, batch, better);
		struct step_time more = catalogue_step(m, batch + 1, roof);
		uint32_t gpus = 2 + (uint32_t)rng_below(&rng, 30);

		assert_true(b.device_s <= t.device_s);
		assert_true(b.device_s + b.overhead_s <= t.device_s + t.overhead_s + 1e-12);
		assert_true(more.device_s + more.overhead_s >= t.device_s + t.overhead_s - 1e-12);
		assert_true(catalogue_sync_s(m, t, gpus, 2e10) <= catalogue_sync_s(m, t, gpus, 1e10));
		assert_true(catalogue_sync_s(m, t, gpus, 1e10) <=
			catalogue_sync_s(m, t, gpus + 1, 1e10));
		assert_true(catalogue_mem_bytes(m, batch + 1) > catalogue_mem_bytes(m, batch));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accelerator_names),
		cmocka_unit_test(test_model_names),
		cmocka_unit_test(test_a_very_long_name_is_harmless),
		cmocka_unit_test(test_accelerator_table),
		cmocka_unit_test(test_model_table),
		cmocka_unit_test(test_the_document_has_every_entry),
		cmocka_unit_test(test_public_figures),
		cmocka_unit_test(test_step_by_hand),
		cmocka_unit_test(test_the_host_counts_where_it_is_slower),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_monotone),
	};

	return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}
