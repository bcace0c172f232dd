// The floor of a GET: libmicrohttpd in the server's own mode of threads, answering 500 bytes from memory.
//
//     HTTPFloor PORT

#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char body[500];

static enum MHD_Result answer(
    void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *data, size_t *count, void **own) {
    (void)context, (void)url, (void)method, (void)version, (void)data, (void)count;
    static int has_begun;
    if (*own == NULL) {
        *own = &has_begun;
        return MHD_YES;
    }
    *own = NULL;
    struct MHD_Response *response = MHD_create_response_from_buffer(sizeof body, body, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "application/json");
    MHD_add_response_header(response, "Cache-Control", "must-revalidate");
    MHD_add_response_header(response, "ETag", "\"1-0123456789abcdef0123456789abcdef\"");
    MHD_add_response_header(response, "Server", "floor");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

int main(int count, char **arguments) {
    int port = count > 1 ? atoi(arguments[1]) : 0;
    if (port <= 0 || port > 65535) {
        fprintf(stderr, "usage: HTTPFloor PORT\n");
        return 64;
    }
    memset(body, 'x', sizeof body);
    signal(SIGPIPE, SIG_IGN);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, (uint16_t)port, NULL, NULL, answer, NULL,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned int)2, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)10000, MHD_OPTION_END);
    if (daemon == NULL) {
        perror("HTTPFloor");
        return 1;
    }
    pause();
    return 0;
}
