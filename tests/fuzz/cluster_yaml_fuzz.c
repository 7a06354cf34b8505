/*
 * Any bytes as a cluster file: read or refused with a text, and what was read
 * can be written and read again.
 */
#include <assert.h>
#include <string.h>

#include "io/cluster_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_again(const struct cluster *cluster)
{
	struct cluster copy;
	struct buf text = { 0 };
	struct err err = { 0 };

	cluster_write_yaml(cluster, &text);
	assert(cluster_read_yaml("again", text.at, text.n, &copy, &err) == 0);
	assert(cluster_hash(&copy) == cluster_hash(cluster));
	cluster_fini(&copy);
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cluster cluster;
	struct err err = { 0 };
	int rc = cluster_read_yaml("fuzz", (const char *)bytes, n, &cluster, &err);

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(cluster.nnodes > 0 && cluster.nracks > 0 && cluster.devices >= cluster.nnodes);
	if (cluster.nnodes < 2000 && cluster.nracks < 2000)
		read_again(&cluster);
	cluster_fini(&cluster);
	return 0;
}
