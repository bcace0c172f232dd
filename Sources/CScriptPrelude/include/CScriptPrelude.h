#ifndef CSCRIPTPRELUDE_H
#define CSCRIPTPRELUDE_H

/// The text of `prelude.js`, zero-terminated.
const char *_Nonnull settle_script_prelude(void);

#endif
