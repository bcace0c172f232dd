// A stand-in for CommonCrypto on Linux, over libcrypto: Apple's signatures of what Settle calls, as
// <CommonCrypto/CommonDigest.h> has them. The contexts are opaque here; nobody reads their members.
#ifndef SETTLE_COMMON_CRYPTO_DOUBLE_H
#define SETTLE_COMMON_CRYPTO_DOUBLE_H

#include <stdint.h>

#define CC_MD5_DIGEST_LENGTH 16
#define CC_SHA1_DIGEST_LENGTH 20
#define CC_SHA256_DIGEST_LENGTH 32

typedef uint32_t CC_LONG;

typedef struct { uint64_t state[16]; } CC_MD5_CTX;
typedef struct { uint64_t state[16]; } CC_SHA1_CTX;
typedef struct { uint64_t state[16]; } CC_SHA256_CTX;

// Apple deprecates MD5, and a warning is an error in this package.
#define CC_DEPRECATED __attribute__((deprecated("This function is cryptographically broken and should not be used in security contexts.")))

int CC_MD5_Init(CC_MD5_CTX *c) CC_DEPRECATED;
int CC_MD5_Update(CC_MD5_CTX *c, const void *data, CC_LONG len) CC_DEPRECATED;
int CC_MD5_Final(unsigned char *md, CC_MD5_CTX *c) CC_DEPRECATED;

int CC_SHA1_Init(CC_SHA1_CTX *c);
int CC_SHA1_Update(CC_SHA1_CTX *c, const void *data, CC_LONG len);
int CC_SHA1_Final(unsigned char *md, CC_SHA1_CTX *c);

int CC_SHA256_Init(CC_SHA256_CTX *c);
int CC_SHA256_Update(CC_SHA256_CTX *c, const void *data, CC_LONG len);
int CC_SHA256_Final(unsigned char *md, CC_SHA256_CTX *c);

#endif
