/*
 * Clocks and memory as the kernel counts them.
 */
#include "base/clock.h"

#include <sys/resource.h>
#include <time.h>

static double read_clock(clockid_t which)
{
	struct timespec t = { 0 };

	clock_gettime(which, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_cpu_s(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double clock_thread_cpu_s(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double clock_wall_s(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double clock_real_s(void)
{
	return read_clock(CLOCK_REALTIME);
}

double clock_boot_s(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_peak_rss_bytes(void)
{
	struct rusage use = { 0 };

	getrusage(RUSAGE_SELF, &use);
	return (int64_t)use.ru_maxrss * 1024; /* Linux counts KiB */
}
