/*
 * What a command writes its tables as: --json, --csv, --markdown, else for people.
 */
#ifndef CLI_FORM_H
#define CLI_FORM_H

#include "base/err.h"
#include "cli/command.h"
#include "report/table.h"

/* ERR_USAGE if more than one is given. */
int form_check(const struct args *args, struct err *err);
/* Of a table that is not asked for as JSON. */
enum table_form form_of_table(const struct args *args);

#endif
