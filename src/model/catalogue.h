/*
 * What is publicly known of accelerators and of common models, and the
 * roofline estimate made of both.  doc/catalogue.md has the formula, the
 * sources and how far the estimate is from measurements.
 *
 * Everything here is an estimate for workloads that come without
 * measurements; measured speeds (model/profile.h) always win.
 */
#ifndef MODEL_CATALOGUE_H
#define MODEL_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct accelerator {
	const char *name;
	const char *aliases; /* other names, separated by spaces */
	double fp32_flops;   /* peak operations per second without tensor units */
	double half_flops; /* peak half precision with tensor units; equal to fp32 where there is none */
	int64_t mem_bytes;
	double mem_Bps;
	double link_Bps;    /* to its neighbours in a usual node, one direction */
	double price_per_h; /* on demand, order of magnitude */
};

struct model {
	const char *name;
	const char *aliases; /* other names, separated by spaces */
	const char *kind;    /* "vision", "language", … */
	double params;
	double flops;            /* of one sample, forward and backward */
	double activation_bytes; /* of one sample, kept for the backward pass */
	int batch;               /* usual samples per device and step */
	double skew;             /* largest tensor over all parameters */
	double host_s; /* per sample outside the device: decoding, environments; overlaps with it */
};

/* NULL-named entry last. */
extern const struct accelerator catalogue_accelerators[];
extern const struct model catalogue_models[];

/*
 * The entry of that name or alias, NULL if there is none.  Case and punctuation do not count;
 * a longer name that starts with a known one is taken as that ("resnet50_v1.5", "V100-SXM2") unless
 * what follows makes it another ("v1000", "rtx3090ti", "llama-70b").
 */
const struct accelerator *catalogue_accelerator(const char *name);
/* `batch` receives the batch size that the name states ("ResNet-18 (batch size 64)"), else the usual one. */
const struct model *catalogue_model(const char *name, int *batch);

/* One device's facts as the estimate needs them; 0 where unknown. */
struct roof {
	double flops, mem_Bps;
};

/* Where the time of one step of a data-parallel job goes, in seconds. */
struct step_time {
	double device_s;   /* arithmetic or memory, whichever takes longer */
	double overhead_s; /* launching, input, optimizer: does not depend on the device */
	double sync_s;     /* gradients that the backward pass does not hide */
};

/* NAN in device_s when too little is known of the device. */
struct step_time catalogue_step(const struct model *model, int batch, struct roof roof);
/* Seconds that exchanging gradients adds on `n` devices whose slowest link is `Bps` (0: unknown, nothing). */
double catalogue_sync_s(const struct model *model, struct step_time alone, uint32_t n, double Bps);

/* Bytes of device memory that training takes: weights, gradients, optimizer, activations. */
double catalogue_mem_bytes(const struct model *model, int batch);
double catalogue_gradient_bytes(const struct model *model);

#endif
