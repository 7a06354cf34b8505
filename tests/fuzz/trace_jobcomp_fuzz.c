#include "fuzz/trace_fuzz.h"

FUZZ_FORMAT("jobcomp")
