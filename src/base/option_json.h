/*
 * Options for programs: name, kind, default, range, choices, help.
 */
#ifndef BASE_OPTION_JSON_H
#define BASE_OPTION_JSON_H

#include "base/json.h"
#include "base/option.h"

/* {"name":…,"kind":"number|integer|bool|choice|text","default":…,"min","max","choices","help"} */
void option_to_json(const struct option *option, struct json *j);

#endif
