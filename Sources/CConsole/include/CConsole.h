#ifndef CCONSOLE_H
#define CCONSOLE_H

#include <stddef.h>

/// A file of the console, as it stands in the program.
typedef struct {
    /// Its path below the folder `built`.
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t length;
} settle_console_file;

/// How many files there are.
size_t settle_console_count(void);

/// A file by its place among them, which must be below their number.
const settle_console_file *_Nonnull settle_console_at(size_t place);

#endif
