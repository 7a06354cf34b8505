/*
 * Quantities of hardware with their units.  k, M, G, T and P count in
 * thousands, Ki, Mi, … in 1,024.
 */
#ifndef IO_UNITS_H
#define IO_UNITS_H

#include <stdbool.h>

#include "base/text.h"

/* "25GB/s", "100Gb/s", "100Gbps", "1.5e9": bytes per second, 0 or more. */
bool unit_speed(struct slice text, double *out);
/* "125e12", "125T", "125 TFLOPS": operations per second, 0 or more. */
bool unit_flops(struct slice text, double *out);

#endif
