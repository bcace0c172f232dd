// libcurl, and typed doors to what it has as variadic functions, which Swift can't call.

#ifndef SETTLE_CCURL_SHIM_H
#define SETTLE_CCURL_SHIM_H

#include <curl/curl.h>

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

static inline long settle_curl_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode settle_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// Takes the next transfer that has ended: its handle, its context and its result. Zero when there is none.
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
