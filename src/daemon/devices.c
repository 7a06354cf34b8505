/*
 * The devices of a grant in words: as people, CUDA and the record know them.
 */
#include <stdio.h>

#include "daemon/daemon_state.h"

const char *device_index(const struct machine_device *device)
{
	static _Thread_local char text[16];

	snprintf(text, sizeof(text), "%d", device->index);
	return text;
}

const char *device_visible(const struct machine_device *device)
{
	return device->visible;
}

const char *device_uuid(const struct machine_device *device)
{
	return device->uuid;
}

const char *device_word(const struct machine_device *device)
{
	return device->visible[0] ? device->visible : device->uuid;
}

void daemon_devices(const struct daemon *d, const struct grant *grant,
	const char *(*of)(const struct machine_device *device), struct buf *out)
{
	bool first = true;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1) {
			uint32_t at = grant->slots[i].node * NODE_DEVICES_MAX +
				(uint32_t)__builtin_ctzll(left);
			const char *word = of(&d->machine.devices[d->device_of[at]]);

			if (!*word)
				continue;
			if (!first)
				buf_char(out, ',');
			first = false;
			buf_str(out, word);
		}
	}
}
