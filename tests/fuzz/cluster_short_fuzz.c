/*
 * Any text as a cluster's short form: what was read is written and read back.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/cluster.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_again(const struct cluster *cluster)
{
	struct cluster copy;
	struct buf text = { 0 };

	cluster_format(cluster, &text);
	assert(cluster_parse(text.at, &copy, NULL) == 0);
	assert(cluster_hash(&copy) == cluster_hash(cluster));
	cluster_fini(&copy);
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *spec = mem_strndup((const char *)bytes, n);
	struct cluster cluster;
	struct err err = { 0 };
	int rc = cluster_parse(spec, &cluster, &err);

	if (rc) {
		assert(rc == ERR_USAGE && err.code == rc && strlen(err.text) > 10);
	} else {
		assert(cluster.nnodes > 0 && cluster.nnodes <= NODES_MAX);
		if (cluster.nnodes < 2000)
			read_again(&cluster);
		cluster_fini(&cluster);
	}
	free(spec);
	return 0;
}
