#include "cli/form.h"

int form_check(const struct args *args, struct err *err)
{
	if (args->json + args->csv + args->markdown > 1)
		return err_set(err, ERR_USAGE, "--json, --csv and --markdown: give one");
	return 0;
}

enum table_form form_of_table(const struct args *args)
{
	if (args->csv)
		return TABLE_CSV;
	return args->markdown ? TABLE_MARKDOWN : TABLE_TEXT;
}
