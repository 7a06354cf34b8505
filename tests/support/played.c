#include "support/played.h"

#include "io/cluster_io.h"
#include "io/trace_io.h"
#include "support/property.h"

void played_init(struct played *p, const char *cluster)
{
	struct err err = { 0 };

	*p = (struct played){ 0 };
	if (cluster_parse(cluster, &p->cluster, &err) < 0)
		fail_msg("%s", err.text);
}

void played_read(struct played *p, const char *trace)
{
	struct notes notes = { 0 };
	struct err err = { 0 };

	if (trace_read(trace, &(struct import_options){ 0 }, NULL, &p->trace, &notes, &err) < 0)
		fail_msg("%s", err.text);
	p->profile = profile_create(&p->cluster, &p->trace.models);
	notes_fini(&notes);
}

void played_read_speeds(struct played *p, const char *trace, const char *speeds)
{
	struct err err = { 0 };

	played_read(p, trace);
	if (profile_read(speeds, &p->cluster, &p->trace.models, p->profile, &err) < 0)
		fail_msg("%s", err.text);
}

void played_run(struct played *p, const char *policy, uint64_t seed)
{
	struct sim_config config;
	struct err err = { 0 };

	sim_config_init(&config);
	config.trace = &p->trace;
	config.cluster = &p->cluster;
	config.truth = p->profile;
	config.policy = policy;
	config.seed = seed;
	if (sim_run(&config, &p->outcome, &err) < 0)
		fail_msg("%s", err.text);
}

void played_fini(struct played *p)
{
	outcome_fini(&p->outcome);
	profile_destroy(p->profile);
	hosting_destroy(p->hosting);
	cluster_fini(&p->cluster);
	trace_fini(&p->trace);
}
