#ifndef C_TEST_WIDTH_H
#define C_TEST_WIDTH_H

// The name of the variable in which Swift Testing reads how many tests may run at a time.
extern const char *const test_width_variable;

#endif
