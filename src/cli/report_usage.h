/*
 * stint report usage: GPU hours by user, tenant, model and month.
 */
#ifndef CLI_REPORT_USAGE_H
#define CLI_REPORT_USAGE_H

#include "cli/command.h"

int report_usage(const struct args *args, struct err *err);

#endif
