#include "CICU.h"

// Apple's systems keep their ICU to themselves; there Foundation compares.
#ifndef __APPLE__
#include <unicode/ucol.h>

const void *settle_collator_open(void) {
    UErrorCode status = U_ZERO_ERROR;
    UCollator *collator = ucol_open("", &status);
    return U_SUCCESS(status) ? collator : NULL;
}

int settle_collator_compare(
    const void *collator, const char *left, int32_t left_length, const char *right, int32_t right_length) {
    UErrorCode status = U_ZERO_ERROR;
    return (int)ucol_strcollUTF8(collator, left, left_length, right, right_length, &status);
}

uint32_t settle_collator_version(const void *collator) {
    UVersionInfo version;
    ucol_getVersion(collator, version);
    return (uint32_t)version[0] << 24 | (uint32_t)version[1] << 16 | (uint32_t)version[2] << 8 | version[3];
}
#endif
