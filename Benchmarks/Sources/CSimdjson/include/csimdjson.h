#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Parses a JSON text with simdjson's DOM parser; 1 if it is valid. The text has padding behind it.
int csimdjson_parse(const char *text, size_t length);
#ifdef __cplusplus
}
#endif
