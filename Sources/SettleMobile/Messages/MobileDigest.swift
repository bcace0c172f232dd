internal import SettleCrypto
internal import SettleDatabase

/// The digest by which Couchbase Lite names the content of a blob: `sha1-` and the SHA-1 in base64.
package enum MobileDigest {
    package static func of(_ content: [UInt8]) -> String { "sha1-" + Base64.encode(SHA1.hash(content)) }
}
