// libmicrohttpd, and typed doors to what it has as variadic functions, which Swift can't call.

#ifndef SETTLE_CMICROHTTPD_SHIM_H
#define SETTLE_CMICROHTTPD_SHIM_H

#ifdef __linux__
#include <malloc.h>
#endif
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

// Has the threads of this process share so many pools of memory, where the system's allocator has such.
static inline void settle_limit_memory_pools(int count) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, count);
#else
    (void)count;
#endif
}

// How a daemon is started; a limit of 0 is not set.
struct settle_mhd_options {
    const struct sockaddr *address;
    // A listening socket to use instead of the address, or -1.
    int listening_socket;
    int is_ipv6;
    unsigned int threads;
    unsigned int connection_limit;
    unsigned int connection_timeout_seconds;
    size_t connection_memory_limit;
    MHD_AccessHandlerCallback handler;
    void *handler_context;
    void *(*begin)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback notified;
    // For TLS, both in PEM; NULL for none. Needed until the daemon is stopped.
    const char *key;
    const char *certificate;
};

// Leaves paths and queries as they came: what is escaped is for the receiver to say.
static size_t settle_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

// Has the end of a response's body of unknown length be that of the connection, also for clients that know chunks.
static inline void settle_mhd_end_by_closing(struct MHD_Response *response) {
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

// Starts a daemon with a pool of polling threads. Without an option for it, the library sets SO_REUSEADDR: a server that is
// started right after another one has the port at once, and two can't have it at the same time. Polling by `poll` and not by `epoll`, which in 0.9.75 keeps
// connections that were aborted for good.
static inline struct MHD_Daemon *settle_mhd_start(const struct settle_mhd_options *o) {
    unsigned int flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE;
    if (o->is_ipv6) flags |= MHD_USE_IPv6;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)o->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)o->certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem own[] = {
        {MHD_OPTION_SOCK_ADDR, 0, (void *)o->address},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem inherited[] = {
        {MHD_OPTION_LISTEN_SOCKET, o->listening_socket, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    int is_secure = o->key != NULL && o->certificate != NULL;
    if (is_secure) flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, o->handler, o->handler_context,
        MHD_OPTION_ARRAY, o->listening_socket >= 0 ? inherited : own,
        MHD_OPTION_THREAD_POOL_SIZE, o->threads,
        MHD_OPTION_CONNECTION_LIMIT, o->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, o->connection_timeout_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->connection_memory_limit,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned int)1024,
        MHD_OPTION_UNESCAPE_CALLBACK, settle_mhd_keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, o->begin, o->handler_context,
        MHD_OPTION_NOTIFY_COMPLETED, o->completed, o->handler_context,
        MHD_OPTION_NOTIFY_CONNECTION, o->notified, o->handler_context,
#if MHD_VERSION >= 0x00097701
        MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1,
#endif
        MHD_OPTION_ARRAY, is_secure ? tls : plain,
        MHD_OPTION_END);
}

// Gives the socket of an upgraded connection back, which closes it.
static inline void settle_mhd_close_upgraded(struct MHD_UpgradeResponseHandle *handle) {
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

// The address of a connection's other end, or NULL.
static inline const struct sockaddr *settle_mhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// The socket of a connection, or -1.
static inline int settle_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : (int)info->connect_fd;
}

// What the program keeps of a connection, from the notice of its start on.
static inline void *settle_mhd_own(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

// How far the lines of a header were followed through memory.
struct settle_mhd_lines {
    const char *end;
    int is_plain;
};

static inline enum MHD_Result settle_mhd_follow_line(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value, size_t value_size) {
    struct settle_mhd_lines *lines = (struct settle_mhd_lines *)context;
    (void)kind;
    if (name != lines->end + 2) lines->is_plain = 0;
    lines->end = value == NULL ? name + name_size + 1 : value + value_size;
    return MHD_YES;
}

// Whether each line of a request's header ends with CR LF and none goes on in the next: libmicrohttpd before 0.9.77 takes
// a bare LF, a bare CR and folded lines, which a proxy in front may read another way. It leaves names and values where
// they came in, so that two bytes have to lie between a value and the next name; addresses are compared, and nothing is
// read. Later versions refuse all of that themselves.
static inline int settle_mhd_has_plain_lines(
    struct MHD_Connection *connection, const char *method, const char *version) {
#if MHD_VERSION < 0x00097701
    struct settle_mhd_lines lines = {version + strlen(version), 1};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, settle_mhd_follow_line, &lines);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return lines.is_plain && (info == NULL || method + info->header_size == lines.end + 4);
#else
    (void)connection, (void)method, (void)version;
    return 1;
#endif
}

// How many connections a daemon has.
static inline unsigned int settle_mhd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

// The socket a daemon listens on, or -1.
static inline int settle_mhd_listening_socket(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD);
    return info == NULL ? -1 : (int)info->listen_fd;
}

// The port a daemon listens on, or 0.
static inline unsigned int settle_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

#endif
