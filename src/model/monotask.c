#include "model/monotask.h"

#include <stdlib.h>

const char *const mono_resource_names[MONO_RESOURCES + 1] = { "cpu", "net", "disk", "gpu", NULL };

void mono_load_fini(struct mono_load *load)
{
	arena_fini(&load->memory);
	free(load->source);
	*load = (struct mono_load){ 0 };
}
