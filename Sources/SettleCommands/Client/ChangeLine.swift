internal import Settle
import SettleCore
import SettleReplication

/// A row of `_changes`, as `settle changes` shows it.
struct ChangeLine {
    /// The position, which only the one who gave it can read.
    var sequence: JSONValue
    /// The document's id; `nil` for a row that ends a feed.
    let id: String?
    /// The leaves to show, the winner first.
    let leaves: [RevisionID]
    let isDeleted: Bool
    /// The winner, where documents were asked for.
    let document: Document?

    /// Reads a row of `_changes`.
    init(_ row: [UInt8]) throws {
        let outline = try JSONOutline(row)
        func value(_ name: String) throws -> JSONValue? {
            try outline[name].map { try JSONValue(utf8: Array(row[$0])) }
        }
        sequence = try value("seq") ?? value("last_seq") ?? .null
        id = try value("id")?.string
        leaves = try (value("changes")?.array ?? []).compactMap { $0["rev"]?.string.flatMap { RevisionID($0) } }
        isDeleted = try value("deleted") == true
        document = try outline["doc"].flatMap { range in
            row[range].first == UInt8(ascii: "{") ? try FetchedDocument(Array(row[range])).document : nil
        }
    }

    /// The position for people.
    var position: String { PeerSequence(sequence).shortened }
}

extension PeerSequence {
    /// The position for people: a long one by its beginning.
    var shortened: String { description.count > 24 ? "\(description.prefix(16))…" : description }
}

extension Client {
    /// Reads a row of `_changes`. The positions of a folder are numbers for those who use it.
    func change(_ row: [UInt8]) throws -> ChangeLine {
        var line = try ChangeLine(row)
        if database != nil, let number = PeerSequence(line.sequence).number {
            line.sequence = .number(JSONNumber(number))
        }
        return line
    }
}
