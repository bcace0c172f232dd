#include <sqlite3.h>

/// Lets a connection leave the write-ahead log as it is when it closes.
static inline int settle_sqlite3_leave_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Gives a connection a pool for its small, short-lived allocations; Debian's SQLite has none by default.
static inline int settle_sqlite3_lookaside(sqlite3 *connection, int size, int count) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}

/// The code of a file that was to be removed and is gone already; a macro that Swift does not import.
static const int settle_sqlite3_ioerr_delete_noent = SQLITE_IOERR_DELETE_NOENT;
