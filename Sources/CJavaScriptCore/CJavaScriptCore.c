#include "CJavaScriptCore.h"

#ifdef __linux__
#include <dlfcn.h>

struct settle_javascript settle_javascript;

// Builds of one library for several versions of GTK, which have the same C API. The first is what the tests run with.
static const char *const libraries[] = {
    "libjavascriptcoregtk-4.1.so.0", "libjavascriptcoregtk-6.0.so.1", "libjavascriptcoregtk-4.0.so.18"};

bool settle_javascript_load(void) {
    void *library = NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !library; i++) {
        library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
    }
    if (!library) return false;
    bool complete = true;
#define SETTLE_FIND(result, name, parameters, arguments) \
    settle_javascript.name = (result(*) parameters)dlsym(library, #name); \
    complete = complete && settle_javascript.name;
    SETTLE_JAVASCRIPT_FUNCTIONS(SETTLE_FIND)
#undef SETTLE_FIND
    return complete;
}
#endif
