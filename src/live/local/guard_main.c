/*
 * stint-guard: the parent of one job.
 */
#include <stdio.h>

int main(void)
{
	fputs("stint-guard: is started by stint daemon, not by hand\n", stderr);
	return 2;
}
