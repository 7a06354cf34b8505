/*
 * The table of failures, and what helps.
 */
#include "live/slurm/advice.h"

#include <stdbool.h>
#include <string.h>

static const struct {
	const char *kind;
	int code;
	const char *what, *advice;
} table[] = {
	{ "unreachable", ERR_MISSING, "the Slurm controller does not answer",
		"see that slurmctld runs ('scontrol ping') and that $SLURM_CONF or /etc/slurm/slurm.conf names it" },
	{ "timeout", ERR_MISSING, "the Slurm controller took too long to answer",
		"try again; 'sdiag' tells what keeps it busy" },
	{ "auth", ERR_REFUSED, "munge does not vouch for us",
		"see that munged runs here with the cluster's key ('munge -n | unmunge')" },
	{ "version", ERR_REFUSED,
		"the controller is of another release than the libslurm that stint-slurm was built with",
		"build stint-slurm on a machine with the cluster's own libslurm" },
	{ "denied", ERR_REFUSED, "Slurm does not allow it",
		"run as root or SlurmUser, or have this user made an operator: sacctmgr modify user NAME set adminlevel=operator" },
	{ "protocol", ERR_BROKEN, "stint and stint-slurm do not understand each other",
		"install both of one version" },
};

int slurm_failed(const char *kind, const char *error, struct err *err)
{
	bool said = error && *error;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strcmp(table[i].kind, kind))
			return err_set(err, table[i].code, "%s%s%s%s: %s", table[i].what,
				said ? " (" : "", said ? error : "", said ? ")" : "", table[i].advice);
	}
	return err_set(err, ERR_REFUSED, "Slurm: %s", said ? error : kind);
}
