/*
 * Published simulators whose results can be reproduced: policies offer those
 * that concern them as the option `compat`, and the simulated world follows
 * their rules too.
 */
#ifndef MODEL_COMPAT_H
#define MODEL_COMPAT_H

enum compat {
	COMPAT_NONE,   /* the system as it was meant */
	COMPAT_GAVEL,  /* the simulator of Gavel */
	COMPAT_OSDI21, /* the simulator of Pollux: one type, restarts of 30 s, whole seconds */
	COMPAT_SIA,    /* the simulator of Sia: restarts by model, moves of equal shape are free */
	COMPAT_SHOCKWAVE, /* the simulator of Shockwave */
};

#endif
