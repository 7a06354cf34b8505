/*
 * Discovering this machine and looking after it.
 */
#include "live/local/discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "live/local/machine_limits.h"
#include "live/local/machine_links.h"
#include "live/local/machine_type.h"
#include "live/local/nvml.h"

enum { SLOTS_MAX = 65536 };

static void fill_gpu(struct machine_device *device, const struct nvml_gpu *gpu, uint32_t index)
{
	*device = (struct machine_device){
		.index = (int)index,
		.mem_bytes = gpu->mem_bytes,
		.up = true,
	};
	snprintf(device->uuid, sizeof(device->uuid), "%s", gpu->uuid);
	snprintf(device->whole, sizeof(device->whole), "%s", gpu->whole);
	snprintf(device->title, sizeof(device->title), "%.60s%s%.30s", gpu->name,
		*gpu->profile ? " MIG " : "", gpu->profile);
	machine_type(gpu->name, gpu->profile, gpu->mem_bytes, device->type, sizeof(device->type));
}

static bool any_split(const struct nvml_gpus *gpus)
{
	for (uint32_t i = 0; i < gpus->n; i++) {
		if (*gpus->at[i].profile)
			return true;
	}
	return false;
}

/* Numbers are right only while CUDA and NVML count the same whole GPUs. */
static void set_visible(struct machine *machine, const struct nvml_gpus *gpus)
{
	bool by_uuid = any_split(gpus) || gpus->lost > 0;

	for (uint32_t i = 0; i < machine->ndevices; i++)
		by_uuid |= machine_is_gpu(&machine->devices[i]) && !machine->devices[i].up;
	for (uint32_t i = 0; i < machine->ndevices; i++) {
		struct machine_device *device = &machine->devices[i];

		for (uint32_t k = 0; k < gpus->n; k++) {
			if (strcmp(gpus->at[k].uuid, device->uuid) != 0)
				continue;
			if (by_uuid)
				memcpy(device->visible, device->uuid, sizeof(device->visible));
			else
				snprintf(device->visible, sizeof(device->visible), "%u", k);
		}
	}
}

static void take_gpus(struct machine *machine, const struct nvml_gpus *gpus)
{
	machine->devices = mem_alloc(sizeof(*machine->devices) * (gpus->n + 1));
	for (uint32_t i = 0; i < gpus->n; i++)
		fill_gpu(&machine->devices[i], &gpus->at[i], i);
	machine->ndevices = gpus->n;
	machine->has_gpus = gpus->n > 0;
	set_visible(machine, gpus);
	machine_find_links(machine, gpus);
}

static const char *library_of(const struct machine_options *options)
{
	const char *said = options->nvml ? options->nvml : getenv("STINT_NVML");

	return said && *said ? said : "libnvidia-ml.so.1";
}

/* GPUs if there are any, else why there are none. */
static void discover_gpus(struct machine *machine, const struct machine_options *options)
{
	struct nvml_gpus gpus = { 0 };
	struct err err;

	if (options->no_gpus) {
		snprintf(machine->driver, sizeof(machine->driver), "GPUs are not used (--no-gpus)");
		return;
	}
	machine->library = library_of(options);
	if (nvml_open(machine->library, &machine->nvml, &err) < 0 ||
		nvml_list(machine->nvml, false, &gpus, &err) < 0) {
		snprintf(machine->driver, sizeof(machine->driver), "no GPUs: %.80s", err.text);
	} else {
		snprintf(machine->driver, sizeof(machine->driver), "NVML %.80s%s",
			nvml_version(machine->nvml), gpus.n ? "" : ", no GPUs");
		take_gpus(machine, &gpus);
	}
	free(gpus.at);
	if (!machine->has_gpus) {
		nvml_close(machine->nvml);
		machine->nvml = NULL;
	}
}

static void add_slots(struct machine *machine, uint32_t n)
{
	uint32_t had = machine->ndevices;

	machine->devices = mem_resize(machine->devices, sizeof(*machine->devices) * (had + n + 1));
	for (uint32_t i = 0; i < n; i++) {
		struct machine_device *slot = &machine->devices[had + i];

		*slot = (struct machine_device){
			.type = "cpu",
			.title = "CPU slot",
			.index = (int)i,
			.mem_bytes = machine->mem_bytes / n,
			.up = true,
		};
		snprintf(slot->uuid, sizeof(slot->uuid), "cpu-%u", i);
	}
	machine->ndevices = had + n;
}

int machine_discover(const struct machine_options *options, struct machine *out, struct err *err)
{
	struct machine machine = { 0 };
	struct limits limits;

	if (options->slots < -1 || options->slots > SLOTS_MAX)
		return err_set(err, ERR_USAGE,
			"%d CPU slots: 0 to %d can be had, -1 is one for each CPU", options->slots,
			SLOTS_MAX);
	limits_read("", &limits);
	if (gethostname(machine.host, sizeof(machine.host) - 1) < 0 || !machine.host[0])
		snprintf(machine.host, sizeof(machine.host), "localhost");
	machine.cpus = limits.cpus;
	machine.mem_bytes = limits.mem_bytes;
	machine.shape = host_shape_read();
	discover_gpus(&machine, options);
	add_slots(&machine, options->slots < 0 ? machine.cpus : (uint32_t)options->slots);
	*out = machine;
	return 0;
}

void machine_fini(struct machine *machine)
{
	nvml_close(machine->nvml);
	free(machine->devices);
	free(machine->hosts);
	free(machine->links);
	*machine = (struct machine){ 0 };
}

/* ---- looking again */

static bool any_down(const struct machine *machine)
{
	for (uint32_t i = 0; i < machine->ndevices; i++) {
		if (!machine->devices[i].up)
			return true;
	}
	return false;
}

static const struct nvml_gpu *find(const struct nvml_gpus *gpus, const char *uuid)
{
	for (uint32_t i = 0; i < gpus->n; i++) {
		if (strcmp(gpus->at[i].uuid, uuid) == 0)
			return &gpus->at[i];
	}
	return NULL;
}

/* Compares what is there with what is known. */
static int notice(struct machine *machine, const struct nvml_gpus *gpus)
{
	uint32_t known = 0;
	int changes = 0;

	for (uint32_t i = 0; i < machine->ndevices; i++) {
		struct machine_device *device = &machine->devices[i];
		bool up;

		if (!machine_is_gpu(device))
			continue;
		up = find(gpus, device->uuid) != NULL;
		known += up;
		if (device->up != up)
			changes |= MACHINE_UP;
		if (up)
			device->why[0] = 0;
		device->up = up;
	}
	return known < gpus->n ? changes | MACHINE_NEW : changes;
}

int machine_refresh(struct machine *machine)
{
	struct nvml_gpus gpus = { 0 };
	struct err err;
	int rc, changes;

	/* Where it did not work at the start, and GPUs are known from before. */
	if (!machine->nvml && machine->has_gpus && machine->library &&
		nvml_open(machine->library, &machine->nvml, &err) == 0)
		snprintf(machine->driver, sizeof(machine->driver), "NVML %.80s",
			nvml_version(machine->nvml));
	if (!machine->nvml)
		return 0;
	rc = nvml_list(machine->nvml, any_down(machine), &gpus, &err);
	if (rc < 0 && rc != ERR_MISSING)
		return 0;
	changes = notice(machine, &gpus);
	set_visible(machine, &gpus);
	free(gpus.at);
	return changes;
}

int machine_busy(const struct machine *machine, uint32_t device)
{
	const struct machine_device *d = &machine->devices[device];

	return machine->nvml && machine_is_gpu(d) && d->up ? nvml_busy(machine->nvml, d->uuid) : -1;
}
