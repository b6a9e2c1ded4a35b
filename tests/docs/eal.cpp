// SPDX-License-Identifier: BSD-3-Clause
// Starts EAL before the examples of the headers run.
#include "tests/support/eal.h"
