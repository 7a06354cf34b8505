/*
 * Moved: every test shares it now.
 */
#ifndef TESTS_BASE_PROPERTY_H
#define TESTS_BASE_PROPERTY_H

#include "support/property.h"

#endif
