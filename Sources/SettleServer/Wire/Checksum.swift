internal import RevisionTree

/// A short number that tells one request from another; not a protection.
enum Checksum {
    /// The number of a query and a body.
    static func of(_ query: [(name: String, value: String)], _ body: JSONObject) -> String {
        // FNV-1a, so that it is the same in every process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let text = query.map { "\($0.name)=\($0.value)" }.joined(separator: "&") + JSON.object(body).description
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}
