/* Any text, its format recognised. */
#include "fuzz/trace_fuzz.h"

FUZZ_FORMAT(NULL)
