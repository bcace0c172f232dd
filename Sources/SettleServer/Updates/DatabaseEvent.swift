internal import SettleCore

/// A change of a database, as a document of the log of updates: its id is `created:notes`.
struct DatabaseEvent: Hashable, Sendable {
    enum Kind: String, Sendable { case created, updated, deleted }

    let kind: Kind
    let name: String

    init(_ kind: Kind, _ name: String) { (self.kind, self.name) = (kind, name) }

    /// Reads the id of a document; `nil` if it is not an event's.
    init?(_ id: DocumentID) {
        let parts = id.string.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
        self.init(kind, String(parts[1]))
    }

    var id: DocumentID { DocumentID(unchecked: "\(kind.rawValue):\(name)") }

    /// The event as a row of a feed.
    func row(_ sequence: String) -> [UInt8] {
        var bytes = Array("{\"db_name\":".utf8)
        JSONValue.append(name, to: &bytes)
        bytes += Array(",\"type\":\"\(kind.rawValue)\",\"seq\":\"\(sequence)\"}".utf8)
        return bytes
    }
}
