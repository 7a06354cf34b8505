/*
 * What a cluster calls the devices of a machine, and what is known of them.
 */
#ifndef LIVE_LOCAL_MACHINE_TYPE_H
#define LIVE_LOCAL_MACHINE_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "model/cluster.h"

/*
 * The catalogue's name for a product ("NVIDIA A100-SXM4-80GB": "a100-80g") if the memory is about what
 * it should have; else its own name, in small letters and without its maker's.  An instance adds its
 * profile: "a100-40g.1g.5gb", where `mem_bytes` is the instance's.
 */
void machine_type(const char *product, const char *profile, int64_t mem_bytes, char *out, size_t size);

/* Sets the memory to what the device says (0: unknown), and takes off what the catalogue cannot know of an instance or another product. */
void machine_type_facts(struct device_type *type, int64_t mem_bytes);

#endif
