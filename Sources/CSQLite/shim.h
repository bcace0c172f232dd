#include <sqlite3.h>

/// Gives a connection a pool for its small, short-lived allocations; Debian's SQLite has none by default.
static inline int settle_sqlite3_lookaside(sqlite3 *connection, int size, int count) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}
