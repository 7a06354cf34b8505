/*
 * stint-guard: started by the daemon for each attempt, never by hand.
 */
#include <fcntl.h>
#include <stdio.h>

#include "live/local/guard.h"

int main(void)
{
	if (fcntl(GUARD_ORDER_FD, F_GETFD) < 0 || fcntl(GUARD_REPORT_FD, F_GETFD) < 0) {
		fprintf(stderr, "stint-guard is started by the stint daemon, for each job\n");
		return 2;
	}
	return guard_run(GUARD_ORDER_FD, GUARD_REPORT_FD);
}
