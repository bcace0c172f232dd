#include "CSettleBuild.h"

const char *settle_build_commit(void) {
#ifdef SETTLE_COMMIT
    return SETTLE_COMMIT;
#else
    return 0;
#endif
}
