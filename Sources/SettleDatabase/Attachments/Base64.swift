#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Base64 between bytes and text, by Foundation.
package enum Base64 {
    /// Bytes as base64 with padding.
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The bytes of a base64 text, or `nil` when it is none.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        Data(base64Encoded: Data(text)).map { Array($0) }
    }
}
