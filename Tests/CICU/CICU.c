#include "CICU.h"
// A plain `swift build` compiles this too, and needs no ICU.
#if __has_include(<unicode/ucol.h>)
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

int32_t settle_collator_sort_key(
    const void *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t room) {
    return ucol_getSortKey(collator, (const void *)text, length, key, room);
}
#else
#include <stddef.h>

const void *settle_collator_open(void) { return NULL; }

int settle_collator_compare(
    const void *collator, const char *left, int32_t left_length, const char *right, int32_t right_length) {
    return 0;
}

uint32_t settle_collator_version(const void *collator) { return 0; }

int32_t settle_collator_sort_key(
    const void *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t room) {
    return 0;
}
#endif
