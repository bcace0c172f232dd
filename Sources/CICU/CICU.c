#include "CICU.h"

// Apple's systems have ICU without its headers, and with names that carry no version.
#ifdef __APPLE__
typedef int UErrorCode;
typedef struct UCollator UCollator;
typedef uint8_t UVersionInfo[4];
#define U_ZERO_ERROR 0
#define U_SUCCESS(status) ((status) <= 0)
extern UCollator *ucol_open(const char *locale, UErrorCode *status);
extern int ucol_strcollUTF8(
    const UCollator *collator, const char *left, int32_t left_length, const char *right, int32_t right_length,
    UErrorCode *status);
extern void ucol_getVersion(const UCollator *collator, UVersionInfo version);
extern int32_t ucol_getSortKey(
    const UCollator *collator, const uint16_t *text, int32_t length, uint8_t *key, int32_t room);
#else
#include <unicode/ucol.h>
#endif

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
