/*
 * A comparison as JSON, schema "compare/1".
 */
#include "report/compare.h"

#include "base/json.h"
#include "report/compare_models.h"

static void figure_json(struct json *j, const struct metric *m, const struct compare_figure *f)
{
	json_begin_object(j, m->key);
	json_double(j, "mean", f->value.mean);
	json_double(j, "ci95", f->value.half);
	json_int(j, "n", (int64_t)f->value.n);
	json_bool(j, "best", f->best);
	if (f->against_first.test != PAIRED_NONE) {
		json_begin_object(j, "against_first");
		json_str(j, "test", paired_test_name(f->against_first.test));
		json_int(j, "pairs", (int64_t)f->against_first.n);
		json_double(j, "difference", f->against_first.difference);
		json_double(j, "p", f->against_first.p);
		json_end(j, '}');
	}
	json_end(j, '}');
}

static void runs_json(struct json *j, const struct comparison *c, const struct compare_policy *p,
	bool timings)
{
	json_begin_array(j, "runs");
	for (uint32_t s = 0; s < c->nseeds; s++) {
		const struct summary *summary = &p->cells[s].summary;

		if (!p->cells[s].there)
			continue;
		json_begin_object(j, NULL);
		json_seed(j, "seed", c->seeds[s]);
		for (const struct metric *m = metrics; m->key; m++) {
			if (!m->timing || timings)
				metric_json(j, m, summary);
		}
		json_hash(j, "event_hash", summary->event_hash);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void policy_json(struct json *j, const struct comparison *c, const struct compare_policy *p,
	bool timings)
{
	json_begin_object(j, NULL);
	json_str(j, "label", p->label);
	json_str(j, "policy", p->policy);
	json_str(j, "placer", p->placer);
	json_begin_object(j, "figures");
	for (size_t m = 0; metrics[m].key; m++) {
		if (!metrics[m].timing || timings)
			figure_json(j, &metrics[m], &p->figures[m]);
	}
	json_end(j, '}');
	json_begin_object(j, "waited_by_why_s");
	for (int w = WHY_NONE + 1; w < WHY_COUNT; w++)
		json_double(j, why_name(w), p->waited_by_why_s[w]);
	json_end(j, '}');
	comparison_models_json(j, p);
	runs_json(j, c, p, timings);
	json_end(j, '}');
}

/* Only where there are any. */
static void failed_json(struct json *j, const struct comparison *c)
{
	if (!c->nfailed)
		return;
	json_begin_array(j, "failed");
	for (uint32_t i = 0; i < c->nfailed; i++) {
		json_begin_object(j, NULL);
		json_str(j, "label", c->failed[i].label);
		json_str(j, "policy", c->failed[i].policy);
		json_str(j, "placer", c->failed[i].placer);
		json_str(j, "why", c->failed[i].failed);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void comparison_members(struct json *j, const struct comparison *c, bool timings)
{
	json_begin_array(j, "seeds");
	for (uint32_t s = 0; s < c->nseeds; s++)
		json_seed(j, NULL, c->seeds[s]);
	json_end(j, ']');
	json_bool(j, "seeds_all_equal", c->same_seeds);
	json_begin_array(j, "policies");
	for (uint32_t i = 0; i < c->npolicies; i++)
		policy_json(j, c, &c->policies[i], timings);
	json_end(j, ']');
	failed_json(j, c);
}

void comparison_json(const struct comparison *c, bool timings, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "compare/1");
	comparison_members(&j, c, timings);
	json_end(&j, '}');
	buf_char(out, '\n');
}
