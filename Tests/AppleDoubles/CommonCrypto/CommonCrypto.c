#define OPENSSL_SUPPRESS_DEPRECATED
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#include "CommonCrypto.h"

#include <openssl/md5.h>
#include <openssl/sha.h>

_Static_assert(sizeof(MD5_CTX) <= sizeof(CC_MD5_CTX), "the context of MD5 fits");
_Static_assert(sizeof(SHA_CTX) <= sizeof(CC_SHA1_CTX), "the context of SHA-1 fits");
_Static_assert(sizeof(SHA256_CTX) <= sizeof(CC_SHA256_CTX), "the context of SHA-256 fits");

int CC_MD5_Init(CC_MD5_CTX *c) { return MD5_Init((MD5_CTX *)c); }
int CC_MD5_Update(CC_MD5_CTX *c, const void *data, CC_LONG len) { return MD5_Update((MD5_CTX *)c, data, len); }
int CC_MD5_Final(unsigned char *md, CC_MD5_CTX *c) { return MD5_Final(md, (MD5_CTX *)c); }

int CC_SHA1_Init(CC_SHA1_CTX *c) { return SHA1_Init((SHA_CTX *)c); }
int CC_SHA1_Update(CC_SHA1_CTX *c, const void *data, CC_LONG len) { return SHA1_Update((SHA_CTX *)c, data, len); }
int CC_SHA1_Final(unsigned char *md, CC_SHA1_CTX *c) { return SHA1_Final(md, (SHA_CTX *)c); }

int CC_SHA256_Init(CC_SHA256_CTX *c) { return SHA256_Init((SHA256_CTX *)c); }
int CC_SHA256_Update(CC_SHA256_CTX *c, const void *data, CC_LONG len) { return SHA256_Update((SHA256_CTX *)c, data, len); }
int CC_SHA256_Final(unsigned char *md, CC_SHA256_CTX *c) { return SHA256_Final(md, (SHA256_CTX *)c); }
