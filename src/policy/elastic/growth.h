/*
 * The option `growth` of policies that let a job have so many times the most
 * devices it ever had.
 */
#ifndef POLICY_ELASTIC_GROWTH_H
#define POLICY_ELASTIC_GROWTH_H

#include "base/err.h"

/* 0 is no limit; below 1 nobody could keep what it has: ERR_USAGE. */
static inline int growth_check(double growth, struct err *err)
{
	if (growth == 0 || growth >= 1)
		return 0;
	return err_set(err, ERR_USAGE,
		"growth=%g: a job would lose devices by having them; choose 0 (no limit) or at least 1",
		growth);
}

#endif
