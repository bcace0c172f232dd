#ifndef CSETTLEBUILD_H
#define CSETTLEBUILD_H

/// The commit that the tool was built from, or null if the build did not say.
const char *_Nullable settle_build_commit(void);

#endif
