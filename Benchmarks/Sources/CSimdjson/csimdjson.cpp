#include "include/csimdjson.h"
#include <simdjson.h>

int csimdjson_parse(const char *text, size_t length) {
    static thread_local simdjson::dom::parser parser;
    simdjson::dom::element element;
    return parser.parse(text, length, false).get(element) == simdjson::SUCCESS;
}
