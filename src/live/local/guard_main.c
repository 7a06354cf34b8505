/*
 * stint-guard: started by the daemon for each attempt, never by hand.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "live/local/guard.h"

int main(void)
{
	if (fcntl(GUARD_ORDER_FD, F_GETFD) < 0 || fcntl(GUARD_REPORT_FD, F_GETFD) < 0) {
		fprintf(stderr, "stint-guard is started by the stint daemon, for each job\n");
		return 2;
	}
	/*
	 * Without exit handlers: that of LeakSanitizer stops the process with SIGSTOP, which the SIGCONT that follows
	 * every order to stop would undo, and then it waits forever.
	 */
	_exit(guard_run(GUARD_ORDER_FD, GUARD_REPORT_FD));
}
