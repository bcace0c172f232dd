// Many tests run servers and processes of their own. Swift Testing starts all tests at once unless a variable says how many
// may run at a time, and then threads and open files run into the thousands. It reads the variable after the test program
// is loaded, so this function, which runs while it is loaded, can give a value. A value from outside stays.
//
// Many tests don't suspend: they keep one of the few threads for tasks until they end, and each step of the others waits for
// them. The fewer run at a time, the sooner one of those gets its next step, and so stays within its time limit. To use
// both processors all the same, `make test` runs three such programs.
#include "CTestWidth.h"

#include <stdlib.h>

const char *const test_width_variable = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH";

__attribute__((constructor)) static void bound_test_width(void) {
    setenv(test_width_variable, "4", 0);
}
