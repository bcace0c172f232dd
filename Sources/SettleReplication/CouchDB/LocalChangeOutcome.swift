public import RevisionTree

/// What a server made of the changes of one object.
public struct LocalChangeOutcome: Sendable, Hashable {
    /// What became of the change of one attribute.
    public enum Attribute: Sendable, Hashable {
        /// The server has the value now.
        case applied
        /// A later change stays: its value, `nil` for a member that was removed, and when it was made, in milliseconds since
        /// 1970, where that is known.
        case superseded(by: JSON?, time: Int64?)
        /// The object was deleted later.
        case deleted(time: Int64?)
    }

    /// The type under which it was sent.
    public let type: String
    /// The object.
    public let documentID: DocumentID
    /// The revision that has the changes; `nil` where it was refused.
    public let revision: RevisionID?
    /// What became of each change, by attribute; none where the object was refused.
    public let attributes: [String: Attribute]
    /// Why the object was refused, in the server's words, as in `forbidden: …`; `nil` where it was not.
    public let refusal: String?

    /// Reads one object of an answer; `nil` for a value of another form.
    init?(_ json: JSON, type: String) {
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
    fileprivate init(_ row: JSON) {
        guard row["outcome"] == "superseded" else {
            self = .applied
            return
        }
        let time = row["by"]?["timestamp"]?.double.map { Int64(($0 * 1000).rounded()) }
        self = row["by"]?["deleted"] == true ? .deleted(time: time) : .superseded(by: row["by"]?["value"], time: time)
    }
}
