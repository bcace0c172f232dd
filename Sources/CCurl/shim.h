// libcurl, and typed doors to what it has as variadic functions, which Swift can't call.

#ifndef SETTLE_CCURL_SHIM_H
#define SETTLE_CCURL_SHIM_H

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Apple's systems have no such flag; their curl sets it afterwards.
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0
#endif

// Called with bytes that arrived, or with room for bytes to send; the two have one shape.
typedef size_t (*settle_curl_bytes)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode settle_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode settle_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

// Strings are copied by curl.
static inline CURLcode settle_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode settle_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

// Has what arrives handed to two functions, and what is sent asked of a third; a fourth starts the body again.
static inline CURLcode settle_curl_set_callbacks(
    CURL *easy, void *context, settle_curl_bytes header, settle_curl_bytes received, settle_curl_bytes sent,
    curl_seek_callback rewound) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_READDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, received);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, sent);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewound);
    return code;
}

// A buffer of CURL_ERROR_SIZE bytes that curl writes its words about a failure to; NULL for none.
static inline CURLcode settle_curl_set_error_buffer(CURL *easy, char *buffer) {
    return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

// HTTP and nothing else.
static inline CURLcode settle_curl_allow_only_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

// Lets go of a name that is being looked up without waiting for the answer, so that one request that is given up does
// not hold all others up.
static inline CURLcode settle_curl_leave_lookups(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
    return CURLE_OK;
#endif
}

// Whether an IPv4 address, as a number, is not one of the public network: its own, a private network's, or a group's.
static inline int settle_is_private_ipv4(uint32_t address) {
    uint32_t first = address >> 24, second = (address >> 16) & 255;
    return first == 0 || first == 10 || first == 127 || first >= 224 || (first == 100 && (second & 192) == 64)
        || (first == 169 && second == 254) || (first == 172 && (second & 240) == 16)
        || (first == 192 && (second == 168 || (address >> 8) == 0xc00000)) || (first == 198 && (second & 254) == 18);
}

// The same of an IPv6 address; of one that carries an IPv4 address, that counts.
static inline int settle_is_private_ipv6(const uint8_t *a) {
    static const uint8_t nothing[12] = {0}, mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t translated[12] = {0, 0x64, 0xff, 0x9b};
    uint32_t last = (uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 | a[15];
    uint32_t early = (uint32_t)a[2] << 24 | (uint32_t)a[3] << 16 | (uint32_t)a[4] << 8 | a[5];
    if (memcmp(a, nothing, 12) == 0 || memcmp(a, mapped, 12) == 0 || memcmp(a, translated, 12) == 0)
        return settle_is_private_ipv4(last);
    if (a[0] == 0x20 && a[1] == 0x02) return settle_is_private_ipv4(early);
    return (a[0] & 0xfe) == 0xfc || (a[0] == 0xfe && a[1] >= 0x80) || a[0] == 0xff
        || (a[0] == 0 && a[1] == 0x64 && a[2] == 0xff && a[3] == 0x9b);
}

// Whether a socket's address is not one of the public network; what is no address of the internet is not.
static inline int settle_is_private_address(const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        return settle_is_private_ipv4(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
    if (address->sa_family == AF_INET6)
        return settle_is_private_ipv6(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
    return 1;
}

static inline curl_socket_t settle_curl_open_public(
    void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
    if (settle_is_private_address(&address->addr)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Connects to addresses of the public network alone, whatever names lead to.
static inline CURLcode settle_curl_refuse_private(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, settle_curl_open_public);
}

static inline long settle_curl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// The socket of a handle that only connects; -1 if the handle is not connected.
static inline int settle_curl_get_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? (int)socket : -1;
}

static inline CURLMcode settle_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// Takes the next transfer that has ended: its handle, its context and its result. Zero when no transfer has ended.
static inline int settle_curl_next_ended(CURLM *multi, CURL **easy, void **context, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        *context = NULL;
        curl_easy_getinfo(*easy, CURLINFO_PRIVATE, (char **)context);
        return 1;
    }
    return 0;
}

// What a callback answers to be called again only after the transfer goes on, or to end it.
static const size_t settle_curl_pause_write = CURL_WRITEFUNC_PAUSE;
static const size_t settle_curl_pause_read = CURL_READFUNC_PAUSE;
static const size_t settle_curl_abort_read = CURL_READFUNC_ABORT;

#endif
