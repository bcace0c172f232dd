public import SettleCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a server did with the changes of one object.
public struct LocalChangeOutcome: Sendable, Hashable {
    /// What the server did with the change of one attribute.
    public enum Attribute: Sendable, Hashable {
        /// The server stored the value.
        case applied
        /// A later change wins: its value, `nil` for a removed member, and its time, if known.
        case superseded(by: JSONValue?, time: Date?)
        /// The object was deleted later.
        case deleted(time: Date?)
    }

    /// The type under which it was sent.
    public let type: String
    /// The object.
    public let documentID: DocumentID
    /// The revision that has the changes; `nil` if the object was refused.
    public let revision: RevisionID?
    /// What the server did with each change, by attribute; empty if the object was refused.
    public let attributes: [String: Attribute]
    /// Why the object was refused, as reported by the server, like `forbidden: …`; `nil` if it was accepted.
    public let refusal: String?

    /// Reads one object of an answer; `nil` for a value of another form.
    init?(_ json: JSONValue, type: String) {
        guard let id = json["id"]?.string.flatMap({ try? DocumentID(validating: $0) }) else { return nil }
        self.type = type
        documentID = id
        revision = json["rev"]?.string.flatMap { RevisionID($0) }
        let rows = (json["changes"]?.array ?? []).compactMap { row -> (String, Attribute)? in
            row["attribute"]?.string.map { ($0, Attribute(row)) }
        }
        attributes = Dictionary(rows) { $1 }
        refusal = json["error"]?.string.map { error in
            [error, json["reason"]?.string ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
        }
    }
}

extension LocalChangeOutcome.Attribute {
    fileprivate init(_ row: JSONValue) {
        guard row["outcome"] == "superseded" else {
            self = .applied
            return
        }
        let time = row["by"]?["timestamp"]?.double.map { Date(timeIntervalSince1970: $0) }
        self = row["by"]?["deleted"] == true ? .deleted(time: time) : .superseded(by: row["by"]?["value"], time: time)
    }
}
