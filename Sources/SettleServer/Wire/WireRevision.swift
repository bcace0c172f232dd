internal import SettleCore

/// A revision in a request, which may be one that no document can have.
enum WireRevision: Hashable, Sendable {
    /// A possible revision.
    case revision(RevisionID)
    /// `0-…`, or a number that is too large: well formed, and never found.
    case impossible(String)

    /// Reads `N-suffix`.
    ///
    /// - Throws: ``HTTPError/invalidRevision``.
    init(_ text: String) throws {
        if let revision = RevisionID(text) {
            self = .revision(revision)
            return
        }
        let number = text.prefix { $0 != "-" }
        let digits = number.first == "+" ? number.dropFirst() : number
        guard number.endIndex != text.endIndex, !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber })
        else { throw HTTPError.invalidRevision }
        let signature = text[number.endIndex...].dropFirst()
        let isZero = digits.allSatisfy { $0 == "0" }
        if !isZero, signature.utf8.count == 32, RevisionSignature(signature) == nil { throw HTTPError.invalidRevision }
        self = .impossible("\(isZero ? "0" : String(digits))-\(signature)")
    }

    /// Reads a JSON string.
    init(_ value: JSONValue) throws {
        guard let text = value.string else { throw HTTPError.invalidRevision }
        try self.init(text)
    }

    /// The revision, unless it is impossible.
    var id: RevisionID? { if case .revision(let id) = self { id } else { nil } }
}

extension WireRevision: CustomStringConvertible {
    var description: String {
        switch self {
        case .revision(let id): id.description
        case .impossible(let text): text
        }
    }
}
