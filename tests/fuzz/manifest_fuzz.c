/*
 * Any bytes as a manifest; one that can be read is written and reads back.
 */
#include <assert.h>

#include "store/run_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct manifest first, second;
	struct buf text = { 0 };
	struct err err;

	if (manifest_parse((struct slice){ (const char *)bytes, n }, &first, &err) < 0)
		return 0;
	manifest_format(&first, &text);
	assert(manifest_parse((struct slice){ text.at, text.n }, &second, &err) == 0);
	assert(first.seed == second.seed && first.event_hash == second.event_hash);
	manifest_fini(&second);
	manifest_fini(&first);
	buf_fini(&text);
	return 0;
}
