// ICU's order of strings, which tests compare Settle's with. ICU's own headers stay out of Swift's sight, because its
// functions are macros over versioned names (`ucol_open_72`) and Foundation brings an ICU of another version.
#pragma once
#include <stdint.h>

/// Opens the collator of the root locale, which is never closed; NULL where ICU's data is missing.
const void *_Nullable settle_collator_open(void);

/// Compares two strings in UTF-8: below, at or above zero.
int settle_collator_compare(
    const void *_Nonnull collator, const char *_Nullable left, int32_t left_length, const char *_Nullable right,
    int32_t right_length);

/// The version of the collator's rules and data, in four bytes from the highest down.
uint32_t settle_collator_version(const void *_Nonnull collator);

/// Writes the bytes by which a string in UTF-16 is ordered, a zero at the end included, as far as there is room.
///
/// Returns how many bytes there are.
int32_t settle_collator_sort_key(
    const void *_Nonnull collator, const uint16_t *_Nullable text, int32_t length, uint8_t *_Nullable key, int32_t room);
