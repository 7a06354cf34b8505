#include "support/planning.h"

#include "support/property.h"

void planning_init(struct planning *p, const char *cluster)
{
	struct err err;

	*p = (struct planning){ 0 };
	assert_int_equal(cluster_parse(cluster, &p->cluster, &err), 0);
	for (uint32_t i = 0; i < PLANNING_JOBS; i++) {
		job_init(&p->jobs[i]);
		p->jobs[i].id = i;
	}
}

void planning_begin(struct planning *p, const char *placer)
{
	plan_init(&p->plan, &p->cluster, placer_find(placer, NULL), NULL, 1);
	plan_begin(&p->plan);
}

void planning_fini(struct planning *p)
{
	plan_fini(&p->plan);
	cluster_fini(&p->cluster);
}
