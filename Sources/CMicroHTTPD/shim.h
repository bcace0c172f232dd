// libmicrohttpd, and typed doors to what it has as variadic functions, which Swift can't call.

#ifndef SETTLE_CMICROHTTPD_SHIM_H
#define SETTLE_CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

// How a daemon is started; a limit of 0 is not set.
struct settle_mhd_options {
    const struct sockaddr *address;
    int is_ipv6;
    unsigned int threads;
    unsigned int connection_limit;
    unsigned int connection_timeout_seconds;
    size_t connection_memory_limit;
    MHD_AccessHandlerCallback handler;
    void *handler_context;
    void *(*begin)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
};

// Leaves paths and queries as they came: what is escaped is for the receiver to say.
static size_t settle_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

// Starts a daemon with a pool of polling threads. Polling by `poll` and not by `epoll`, which in 0.9.75 keeps
// connections that were aborted for good.
static inline struct MHD_Daemon *settle_mhd_start(const struct settle_mhd_options *o) {
    unsigned int flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
    if (o->is_ipv6) flags |= MHD_USE_IPv6;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, o->handler, o->handler_context,
        MHD_OPTION_SOCK_ADDR, o->address,
        MHD_OPTION_THREAD_POOL_SIZE, o->threads,
        MHD_OPTION_CONNECTION_LIMIT, o->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, o->connection_timeout_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->connection_memory_limit,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned int)1024,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, (unsigned int)1,
        MHD_OPTION_UNESCAPE_CALLBACK, settle_mhd_keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, o->begin, o->handler_context,
        MHD_OPTION_NOTIFY_COMPLETED, o->completed, o->handler_context,
        MHD_OPTION_END);
}

// The port a daemon listens on, or 0.
static inline unsigned int settle_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

#endif
