/*
 * One option as programs and the page's forms read it.
 */
#include "base/option_json.h"

void option_to_json(const struct option *option, struct json *j)
{
	static const char *const kinds[] = {
		[OPTION_DOUBLE] = "number",
		[OPTION_INT] = "integer",
		[OPTION_BOOL] = "bool",
		[OPTION_CHOICE] = "choice",
		[OPTION_TEXT] = "text",
	};
	bool number = option->kind == OPTION_DOUBLE || option->kind == OPTION_INT;
	struct buf text = { 0 };

	json_begin_object(j, NULL);
	json_str(j, "name", option->name);
	json_str(j, "kind", kinds[option->kind]);
	option_preset(option, &text);
	if (number)
		json_double(j, "default", option->preset);
	else if (option->kind == OPTION_BOOL)
		json_bool(j, "default", option->preset != 0);
	else
		json_str(j, "default", text.at ? text.at : "");
	if (number) {
		json_double(j, "min", option->min);
		json_double(j, "max", option->max);
	}
	if (option->kind == OPTION_CHOICE) {
		json_begin_array(j, "choices");
		for (const char *const *c = option->choices; *c; c++)
			json_str(j, NULL, *c);
		json_end(j, ']');
	}
	json_str(j, "help", option->help);
	json_end(j, '}');
	buf_fini(&text);
}
