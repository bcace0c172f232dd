// The implementation for each system: CommonCrypto on Apple's systems, libcrypto on Linux, otherwise the portable
// one.
#if canImport(CommonCrypto)
typealias SystemMD5 = CommonCryptoDigests.MD5State
typealias SystemSHA1 = CommonCryptoDigests.SHA1State
typealias SystemSHA256 = CommonCryptoDigests.SHA256State
#elseif canImport(CCrypto)
typealias SystemMD5 = OpenSSLDigests.MD5State
typealias SystemSHA1 = OpenSSLDigests.SHA1State
typealias SystemSHA256 = OpenSSLDigests.SHA256State
#else
typealias SystemMD5 = PortableDigest<PortableMD5>
typealias SystemSHA1 = PortableDigest<PortableSHA1>
typealias SystemSHA256 = PortableDigest<PortableSHA256>
#endif
