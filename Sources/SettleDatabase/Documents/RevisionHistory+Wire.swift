package import SettleCore

extension RevisionHistory {
    /// The errors of a `_revisions` member.
    package enum WireFault: Error {
        case startIsNoInteger
        case idsAreNoArray
        case idIsNoString
        case idIsNotHexadecimal
        case tooLong
    }

    /// Reads the value of `_revisions`: `{"start": 3, "ids": ["c", "b", "a"]}`, newest first.
    ///
    /// - Returns: The history; `nil` if no revision is listed.
    /// - Throws: The first error found.
    /// - Complexity: O(*n*) in revisions.
    package static func read(_ members: JSONObject) throws(WireFault) -> RevisionHistory? {
        guard let start = members["start"]?.int else { throw .startIsNoInteger }
        guard let ids = members["ids"]?.array else { throw .idsAreNoArray }
        var signatures: [RevisionSignature] = []
        signatures.reserveCapacity(ids.count)
        for id in ids {
            guard let text = id.string else { throw .idIsNoString }
            guard let signature = RevisionSignature(text) else { throw .idIsNotHexadecimal }
            signatures.append(signature)
        }
        guard !signatures.isEmpty else { return nil }
        guard let generation = UInt64(exactly: start),
            let history = try? RevisionHistory(start: generation, signatures: signatures)
        else { throw .tooLong }
        return history
    }

    /// Appends the value of `_revisions`.
    package func append(to bytes: inout [UInt8]) {
        bytes += Array("{\"start\":\(start),\"ids\":[".utf8)
        for (index, signature) in signatures.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONValue.append(signature.description, to: &bytes)
        }
        bytes += [UInt8(ascii: "]"), UInt8(ascii: "}")]
    }
}
