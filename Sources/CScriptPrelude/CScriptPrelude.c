#include "CScriptPrelude.h"

// C23 has #embed, and this compiler in all its modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char prelude[] = {
#embed "prelude.js"
    , 0
};

const char *settle_script_prelude(void) { return (const char *)prelude; }
