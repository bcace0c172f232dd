/// A document in the form of CouchDB's API. Only this type reads and prints that JSON.
///
///     {"_id":"a","_rev":"2-b", ‹members› ,"_revisions":{"start":2,"ids":["b","a"]},"_attachments":{…}}
package struct WireDocument: Sendable {
    /// The document's id; `nil` if missing in the text.
    package var id: String?
    /// The parent of an edit or, for a replicated revision, the revision itself.
    package var revision: WireRevision?
    /// The path to that revision, newest first.
    package var history: RevisionHistory?
    /// The content of `_revisions` in a local document, whose ids count writes: `{"start":0,"ids":["7"]}`.
    package var localNumber: String?
    /// Whether the revision is a tombstone.
    package var isDeleted = false
    /// The members without the reserved ones.
    package var body: DocumentBody
    /// The members of `_attachments`, in order.
    package var attachments: [WireAttachment] = []

    /// The reserved member with a document's history.
    package static let revisionsName = "_revisions"
    /// The reserved members that describe a revision, except for attachments. They do not belong to its body.
    package static let metadataNames: Set<String> = [
        "_id", "_rev", "_deleted", revisionsName, "_revs_info", "_conflicts", "_deleted_conflicts", "_local_seq",
        "_removed",
    ]

    /// Creates a document.
    package init(
        id: String?, revision: WireRevision? = nil, history: RevisionHistory? = nil, isDeleted: Bool = false,
        body: DocumentBody, attachments: [WireAttachment] = []
    ) {
        (self.id, self.revision, self.history, self.isDeleted) = (id, revision, history, isDeleted)
        (self.body, self.attachments) = (body, attachments)
    }
}

// MARK: - Reading

extension WireDocument {
    /// The origin of a text, which determines what is refused.
    package enum Reading: Sendable, Hashable {
        /// A request to CouchDB's API, with a limit on the number of values in each reserved member: an edit or a
        /// replicated revision. It is refused exactly if CouchDB refuses it, and its `_rev` may be one that no
        /// document can have.
        case request(maximumValues: Int)
        /// A file, or text that a person has written. Attachments without content are stubs.
        case file
        /// A server's response: unknown members are ignored.
        case answer

        var isAnswer: Bool { self == .answer }
    }

    /// The problem with a reserved member.
    package enum Fault: Error, Hashable {
        /// `_id` is not a string.
        case idIsNoString
        /// `_id` is a string that is not a valid document id.
        case illegalID(String)
        /// `_rev` is a string that is not a revision; `nil` if it is another value.
        case invalidRevision(String?)
        /// A member is unknown, or its value has the wrong type.
        case member(String)
        case history(HistoryFault)
        /// `_rev` differs from the newest revision in `_revisions`.
        case otherHistory(RevisionID, RevisionID)
        /// A number in an attachment is not an integer of at least zero.
        case attachmentNumber(name: String, member: String)
        /// An attachment has no content, or its `data` is not base64.
        case attachmentData(name: String)
    }

    /// The problem with `_revisions`.
    package enum HistoryFault: Error {
        case startIsNoInteger
        case idsAreNoArray
        case idIsNoString
        case idIsNotHexadecimal
        case tooLong
    }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - reader: Its members.
    ///   - reading: The origin of the text.
    /// - Throws: ``Fault`` for the first invalid member, in the order of the text; ``JSONError`` for too many
    ///   values.
    package init(_ reader: DocumentReader, _ reading: Reading) throws {
        body = reader.body
        for member in reader.reserved { try read(member, reading) }
        if case .revision(let revision) = revision, let history, history.revision != revision {
            if case .request = reading {} else { throw Fault.otherHistory(revision, history.revision) }
        }
        if let history {
            revision = .revision(history.revision)
        } else if let localNumber {
            revision = .impossible("0-\(localNumber)")
        }
    }

    /// Reads a server's response. It validates every byte in one pass and builds no values of the body.
    ///
    /// - Throws: ``JSONError``, or ``Fault``.
    package init(answer text: UnsafeBufferPointer<UInt8>) throws {
        try self.init(try DocumentReader.read(text, allowsReserved: true), .answer)
    }

    private mutating func read(_ member: DocumentReader.ReservedMember, _ reading: Reading) throws {
        switch member.name {
        case "_id": try read(id: member.string, reading)
        case "_rev": try read(revision: member.string, reading)
        case "_deleted":
            isDeleted = member.value.elementsEqual("true".utf8)
            if !isDeleted, !member.value.elementsEqual("false".utf8), !reading.isAnswer {
                throw Fault.member(member.name)
            }
        case Self.revisionsName, WireAttachment.listName:
            let value = try Self.value(member, reading)
            guard let members = value.object ?? (reading.isAnswer ? JSONObject() : nil) else {
                throw Fault.member(member.name)
            }
            if member.name == Self.revisionsName {
                try read(revisions: members)
            } else {
                attachments = try members.map { try WireAttachment($0.name, $0.value, reading) }
            }
        case "_revs_info", "_local_seq", "_conflicts", "_deleted_conflicts":
            if case .request = reading { _ = try Self.value(member, reading) }
        default: if !reading.isAnswer { throw Fault.member(member.name) }
        }
    }

    private static func value(_ member: DocumentReader.ReservedMember, _ reading: Reading) throws -> JSONValue {
        guard case .request(let maximum) = reading else { return try JSONValue(utf8: member.value) }
        return try JSONValue(utf8: member.value, atMost: maximum)
    }

    private mutating func read(id text: String?, _ reading: Reading) throws {
        if !reading.isAnswer {
            guard let text else { throw Fault.idIsNoString }
            guard DocumentID(text) != nil else { throw Fault.illegalID(text) }
        }
        id = text
    }

    private mutating func read(revision text: String?, _ reading: Reading) throws {
        if reading.isAnswer {
            revision = text.flatMap { RevisionID($0) }.map { .revision($0) }
        } else {
            guard let text, let named = WireRevision(parsing: text) else { throw Fault.invalidRevision(text) }
            revision = named
        }
    }

    private mutating func read(revisions members: JSONObject) throws {
        do throws(HistoryFault) {
            if members["start"] == 0 {
                guard let ids = members["ids"]?.array else { throw .idsAreNoArray }
                let texts = ids.compactMap(\.string)
                guard texts.count == ids.count else { throw .idIsNoString }
                localNumber = texts.first
            } else {
                history = try RevisionHistory.read(members) ?? history
            }
        } catch { throw Fault.history(error) }
    }
}

extension DocumentReader.ReservedMember {
    /// The value, if it is a string.
    fileprivate var string: String? {
        guard value.count > 1, value.first == UInt8(ascii: "\"") else { return nil }
        if value.contains(UInt8(ascii: "\\")) { return (try? JSONValue(utf8: value))?.string }
        return String(decoding: value[1..<value.count - 1], as: UTF8.self)
    }
}

extension RevisionHistory {
    /// Reads the value of `_revisions`: `{"start": 3, "ids": ["c", "b", "a"]}`, newest first.
    ///
    /// - Returns: The history; `nil` if no revision is listed.
    /// - Throws: The first error found.
    /// - Complexity: O(*n*) in revisions.
    fileprivate static func read(_ members: JSONObject) throws(WireDocument.HistoryFault) -> RevisionHistory? {
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
}

// MARK: - Printing

extension WireDocument {
    /// The order of the members.
    package enum Order: Sendable {
        /// CouchDB's: `_id` and `_rev`, the body, and then the other reserved members.
        case bodyEarly
        /// The order of replicators and files: all reserved members, the body, and then `_attachments`.
        case bodyLate
    }

    /// The document as JSON, with its members in the given order, and with further reserved members if there are
    /// any.
    package func bytes(_ order: Order, others: [(String, JSONValue)] = []) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.utf8.count + 200)
        append(to: &bytes, order, others: others)
        return bytes
    }

    /// Appends the document as JSON.
    package func append(to bytes: inout [UInt8], _ order: Order, others: [(String, JSONValue)] = []) {
        appendHead(to: &bytes, order, others: others)
        if !attachments.isEmpty {
            Self.beginAttachments(in: &bytes)
            for (index, attachment) in attachments.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                attachment.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends the document without its attachments and its end.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - order: The order of the members.
    ///   - others: Further reserved members.
    ///   - appendMembers: Appends the members of the body; by default their bytes are copied.
    package func appendHead(
        to bytes: inout [UInt8], _ order: Order, others: [(String, JSONValue)] = [],
        appendMembers: (ArraySlice<UInt8>, inout [UInt8]) -> Void = { $1 += $0 }
    ) {
        if let id {
            bytes += "{\"_id\":".utf8
            JSONValue.append(id, to: &bytes)
        } else {
            bytes.append(UInt8(ascii: "{"))
        }
        if let revision {
            Self.begin("_rev", in: &bytes)
            JSONValue.append(revision.description, to: &bytes)
        }
        if order == .bodyEarly {
            appendBody(to: &bytes, appendMembers)
            appendDeleted(to: &bytes)
            appendHistory(to: &bytes)
        } else {
            appendHistory(to: &bytes)
            appendDeleted(to: &bytes)
        }
        for (name, value) in others {
            Self.begin(name, in: &bytes)
            value.append(to: &bytes)
        }
        if order == .bodyLate { appendBody(to: &bytes, appendMembers) }
    }

    /// Appends the name of `_attachments` and the beginning of its value.
    package static func beginAttachments(in bytes: inout [UInt8]) {
        begin(WireAttachment.listName, in: &bytes)
        bytes.append(UInt8(ascii: "{"))
    }

    /// Appends a member's name, after a comma if it is not the first.
    private static func begin(_ name: String, in bytes: inout [UInt8]) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        JSONValue.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    private func appendBody(
        to bytes: inout [UInt8], _ appendMembers: (ArraySlice<UInt8>, inout [UInt8]) -> Void
    ) {
        let members = body.utf8.dropFirst().dropLast()
        guard !members.isEmpty else { return }
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        appendMembers(members, &bytes)
    }

    private func appendDeleted(to bytes: inout [UInt8]) {
        guard isDeleted else { return }
        Self.begin("_deleted", in: &bytes)
        bytes += "true".utf8
    }

    private func appendHistory(to bytes: inout [UInt8]) {
        guard history != nil || localNumber != nil else { return }
        Self.begin(Self.revisionsName, in: &bytes)
        bytes += "{\"start\":\(history?.start ?? 0),\"ids\":[".utf8
        for (index, signature) in (history?.signatures ?? []).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONValue.append(signature.description, to: &bytes)
        }
        if let localNumber { JSONValue.append(localNumber, to: &bytes) }
        bytes += "]}".utf8
    }
}

// MARK: - WireRevision

/// A revision in a text, which may be one that no document can have.
package enum WireRevision: Hashable, Sendable {
    /// A possible revision.
    case revision(RevisionID)
    /// `0-…`, or a number that is too large: well formed, and never found.
    case impossible(String)

    /// Reads `N-suffix`; `nil` for a text that CouchDB refuses.
    package init?(parsing text: String) {
        if let revision = RevisionID(text) {
            self = .revision(revision)
            return
        }
        let number = text.prefix { $0 != "-" }
        let digits = number.first == "+" ? number.dropFirst() : number
        guard number.endIndex != text.endIndex, !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        let signature = text[number.endIndex...].dropFirst()
        let isZero = digits.allSatisfy { $0 == "0" }
        if !isZero, signature.utf8.count == 32, RevisionSignature(signature) == nil { return nil }
        self = .impossible("\(isZero ? "0" : String(digits))-\(signature)")
    }

    /// The revision, unless it is impossible.
    package var id: RevisionID? { if case .revision(let id) = self { id } else { nil } }
}

extension WireRevision: CustomStringConvertible {
    /// The revision as text.
    package var description: String {
        switch self {
        case .revision(let id): id.description
        case .impossible(let text): text
        }
    }
}
