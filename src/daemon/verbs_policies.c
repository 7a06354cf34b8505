/*
 * Policies, placers and admission rules with their options, from the tables:
 * what the page makes its forms of.
 */
#include "base/option_json.h"
#include "daemon/verbs_run.h"
#include "placement/placer.h"
#include "policy/admission.h"
#include "policy/policy.h"

static void begin_rule(struct json *j, const char *name, const char *summary, const char *origin)
{
	json_begin_object(j, NULL);
	json_str(j, "name", name);
	json_str(j, "summary", summary);
	json_str(j, "origin", origin);
}

static void end_rule(struct json *j, const struct option *options)
{
	json_begin_array(j, "options");
	for (const struct option *o = options; o && o->name; o++)
		option_to_json(o, j);
	json_end(j, ']');
	json_end(j, '}');
}

void verb_policies(struct daemon *d, struct call *call)
{
	struct json j;

	(void)d;
	call_begin(call, &j);
	json_begin_array(&j, "policies");
	for (const struct policy *const *p = policies; *p; p++) {
		begin_rule(&j, (*p)->name, (*p)->summary, (*p)->origin);
		json_str(&j, "family", (*p)->family);
		json_bool(&j, "preempts", (*p)->traits & POLICY_PREEMPTS);
		end_rule(&j, (*p)->options);
	}
	json_end(&j, ']');
	json_begin_array(&j, "placers");
	for (const struct placer *const *p = placers; *p; p++) {
		begin_rule(&j, (*p)->name, (*p)->summary, (*p)->origin);
		end_rule(&j, (*p)->options);
	}
	json_end(&j, ']');
	json_begin_array(&j, "admissions");
	for (const struct admission *const *p = admissions; *p; p++) {
		begin_rule(&j, (*p)->name, (*p)->summary, (*p)->origin);
		end_rule(&j, (*p)->options);
	}
	json_end(&j, ']');
	json_end(&j, '}');
}
