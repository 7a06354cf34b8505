/*
 * manifest.json: everything needed to run a run again.
 *
 * The table below is the format; reading (manifest_read.c) goes through it too.
 */
#include "store/manifest_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

const struct manifest_field manifest_fields[] = {
	{ "version", TEXT, offsetof(struct manifest, version), true },
	{ "command", TEXT, offsetof(struct manifest, command), false },
	{ "directory", TEXT, offsetof(struct manifest, directory), false },
	{ "trace", TEXT, offsetof(struct manifest, trace), true },
	{ "trace_format", TEXT, offsetof(struct manifest, trace_format), false },
	{ "trace_hash", HASH, offsetof(struct manifest, trace_hash), true },
	{ "cluster", TEXT, offsetof(struct manifest, cluster_spec), true },
	{ "cluster_yaml", TEXT, offsetof(struct manifest, cluster_yaml), false },
	{ "policy", TEXT, offsetof(struct manifest, policy), true },
	{ "placer", TEXT, offsetof(struct manifest, placer), false },
	{ "admit", TEXT, offsetof(struct manifest, admit), false },
	{ "seed", WHOLE, offsetof(struct manifest, seed), true },
	{ "error", NUMBER, offsetof(struct manifest, error), false },
	{ "oracle", FLAG, offsetof(struct manifest, oracle), false },
	{ "estimate", TEXT, offsetof(struct manifest, estimate), false },
	{ "start_cost_s", NUMBER, offsetof(struct manifest, start_cost_s), false },
	{ "resume_cost_s", NUMBER, offsetof(struct manifest, resume_cost_s), false },
	{ "resize_cost_s", NUMBER, offsetof(struct manifest, resize_cost_s), false },
	{ "mtbf_s", NUMBER, offsetof(struct manifest, mtbf_s), false },
	{ "repair_s", NUMBER, offsetof(struct manifest, repair_s), false },
	{ "failures_file", TEXT, offsetof(struct manifest, failures_file), false },
	{ "failures_hash", HASH, offsetof(struct manifest, failures_hash), false },
	{ "loan", TEXT, offsetof(struct manifest, loan), false },
	{ "loan_hash", HASH, offsetof(struct manifest, loan_hash), false },
	{ "throughputs", TEXT, offsetof(struct manifest, throughputs), false },
	{ "throughputs_hash", HASH, offsetof(struct manifest, throughputs_hash), false },
	{ "host_profiles", TEXT, offsetof(struct manifest, host_profiles), false },
	{ "host_profiles_hash", HASH, offsetof(struct manifest, host_profiles_hash), false },
	{ "profiles", TEXT, offsetof(struct manifest, profiles), false },
	{ "profiles_hash", HASH, offsetof(struct manifest, profiles_hash), false },
	{ "tenants", TEXT, offsetof(struct manifest, tenants), false },
	{ "tenants_hash", HASH, offsetof(struct manifest, tenants_hash), false },
	{ "until_s", NUMBER, offsetof(struct manifest, until_s), false },
	{ "events", WHOLE, offsetof(struct manifest, events), true },
	{ "event_hash", HASH, offsetof(struct manifest, event_hash), true },
	{ 0 },
};

void manifest_fini(struct manifest *m)
{
	for (const struct manifest_field *f = manifest_fields; f->key; f++) {
		if (f->kind == TEXT)
			free(*(char **)((char *)m + f->offset));
	}
	*m = (struct manifest){ 0 };
}

/* Readers of JSON in other languages keep whole numbers up to 2^53; larger ones go as text. */
static void write_whole(struct json *j, const char *key, uint64_t x)
{
	char text[24];

	if (x <= UINT64_C(1) << 53) {
		json_int(j, key, (int64_t)x);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, x);
	json_str(j, key, text);
}

/* Of a file that need not be there, 0 says that it is not. */
static void write_hash(struct json *j, const struct manifest_field *f, uint64_t x)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, x);
	json_str(j, f->key, x || f->needed ? text : NULL);
}

void manifest_format(const struct manifest *m, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", MANIFEST_SCHEMA);
	for (const struct manifest_field *f = manifest_fields; f->key; f++) {
		const void *at = (const char *)m + f->offset;

		switch (f->kind) {
		case TEXT:
			json_str(&j, f->key, *(char *const *)at);
			break;
		case NUMBER:
			json_double(&j, f->key, *(const double *)at);
			break;
		case WHOLE:
			write_whole(&j, f->key, *(const uint64_t *)at);
			break;
		case FLAG:
			json_bool(&j, f->key, *(const bool *)at);
			break;
		case HASH:
			write_hash(&j, f, *(const uint64_t *)at);
			break;
		}
	}
	json_end(&j, '}');
	buf_char(out, '\n');
}
