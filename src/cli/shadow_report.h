/*
 * What a policy in the shadow of Slurm would have done, from the record.
 */
#ifndef CLI_SHADOW_REPORT_H
#define CLI_SHADOW_REPORT_H

#include "cli/command.h"

int shadow_report(const struct args *args, struct err *err);

#endif
