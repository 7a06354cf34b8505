/*
 * The words for events, as the record writes them.
 */
#include "model/event.h"

const char *event_name(enum event_kind kind)
{
	static const char *const names[EV_KINDS] = {
		[EV_SUBMIT] = "submit",
		[EV_FINISH] = "finish",
		[EV_NODE_DOWN] = "node-down",
		[EV_NODE_UP] = "node-up",
		[EV_WITHDRAW] = "withdraw",
		[EV_YIELD] = "yield",
		[EV_BEGUN] = "begun",
		[EV_PROGRESS] = "progress",
		[EV_DEVICES_DOWN] = "devices-down",
		[EV_DEVICES_UP] = "devices-up",
		[EV_DEVICES_DRAINED] = "devices-drained",
		[EV_LOAN] = "loan",
		[EV_TIMER] = "timer",
		[EV_END] = "end",
		[EV_REJECT] = "reject",
		[EV_HOLD] = "hold",
		[EV_ADMIT] = "admit",
		[EV_START] = "start",
		[EV_PREEMPT] = "preempt",
		[EV_MIGRATE] = "migrate",
		[EV_RENEW] = "renew",
		[EV_RESIZE] = "resize",
		[EV_LOST] = "lost",
		[EV_WAIT] = "wait",
	};

	return (unsigned)kind < EV_KINDS ? names[kind] : "?";
}
