internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A document in a request.
struct WireDocument: Sendable {
    /// The id, unless the server is to choose it.
    var id: String?
    /// The parent of an edit or, for a replicated revision, the revision itself.
    var revision: WireRevision?
    /// The path to that revision, newest first.
    var history: RevisionHistory?
    var isDeleted = false
    var body: DocumentBody
    var attachments: [WireAttachment] = []
    /// The revision that `_revisions` names if it starts at 0, as for a local document, whose ids count writes.
    private var count: WireRevision?

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: Its JSON.
    ///   - limit: The maximum size of its body.
    /// - Throws: ``HTTPError`` for text that is not a JSON object, or has unknown reserved members.
    init(_ bytes: [UInt8], limit: Int) throws {
        let reader: DocumentReader
        do { reader = try DocumentReader.read(bytes, allowsReserved: true) } catch {
            guard error.code == .notAnObject else { throw error }
            _ = try RequestLimits.value(bytes)
            throw HTTPError.badRequest("Document must be a JSON object")
        }
        body = reader.body
        for member in reader.reserved { try parse(member) }
        if let named = history.map({ .revision($0.revision) }) ?? count { revision = named }
        if body.utf8.count > limit { throw HTTPError.documentTooLarge(id ?? "") }
    }

    /// The id, validated, or a new one if it is missing.
    mutating func complete() throws -> DocumentID {
        let known = id ?? SecureRandom.hexadecimal()
        id = known
        return try WireDocument.checked(known)
    }

    /// Checks that a text is a valid document id.
    static func checked(_ text: String) throws -> DocumentID {
        switch text {
        case "": throw HTTPError.illegalID("Document id must not be empty")
        case "_design/", "_local/": throw HTTPError.illegalID("Illegal document id `\(text)`")
        default:
            do { return try DocumentID(validating: text) } catch {
                throw HTTPError.illegalID("Only reserved document ids may start with underscore.")
            }
        }
    }

    /// The error for an id that is not UTF-8.
    static let idIsNoText = HTTPError.illegalID("Document id must be valid UTF-8")

    private mutating func parse(_ member: DocumentReader.ReservedMember) throws {
        let value = try RequestLimits.value(member.value)
        switch (member.name, value) {
        case ("_id", .string(let text)):
            _ = try Self.checked(text)
            id = text
        case ("_id", _): throw HTTPError.illegalID("Document id must be a string")
        case ("_rev", _): revision = try WireRevision(value)
        case ("_deleted", .bool(let flag)): isDeleted = flag
        case ("_attachments", .object(let members)):
            attachments = try members.map { try WireAttachment($0.name, $0.value) }
        case ("_revisions", .object(let members)): try parseRevisions(members)
        case ("_revs_info", _), ("_local_seq", _), ("_conflicts", _), ("_deleted_conflicts", _): break
        default: throw HTTPError.invalidDocument("Bad special document member: \(member.name)")
        }
    }

    private mutating func parseRevisions(_ members: JSONObject) throws {
        do throws(RevisionHistory.WireFault) {
            if members["start"] == 0 {
                count = try Self.count(members["ids"])
                return
            }
            history = try RevisionHistory.read(members) ?? history
        } catch {
            let reason =
                switch error {
                case .startIsNoInteger: "_revisions.start isn't an integer."
                case .idsAreNoArray: "_revisions.ids isn't a array."
                case .idIsNoString: "RevId isn't a string"
                case .idIsNotHexadecimal: "RevId isn't a valid hexadecimal"
                case .tooLong: "_revisions.start is less than the number of ids."
                }
            throw HTTPError.invalidDocument(reason)
        }
    }

    /// Reads `{"start": 0, "ids": ["7"]}`, the history of a local document; `nil` if no revision is listed.
    private static func count(_ ids: JSONValue?) throws(RevisionHistory.WireFault) -> WireRevision? {
        guard let ids = ids?.array else { throw .idsAreNoArray }
        let texts = ids.compactMap(\.string)
        guard texts.count == ids.count else { throw .idIsNoString }
        return texts.first.map { .impossible("0-\($0)") }
    }
}

// MARK: - WireAttachment

/// A member of `_attachments` in a request.
struct WireAttachment: Sendable {
    enum Content: Sendable {
        /// In the JSON itself.
        case inline([UInt8])
        /// In the parent revision, with the given revpos and digest if any.
        case stub(revpos: JSONValue?, digest: String?)
        /// In a later part of the request.
        case follows(
            length: Int64?, encoding: DocumentAttachment.Encoding?, encodedLength: Int64?, digest: String?)
        /// In the database already.
        case stored(DocumentAttachment)
    }

    let name: String
    let contentType: String
    let revpos: UInt64
    let content: Content

    /// An attachment whose content the database has.
    init(_ attachment: DocumentAttachment) {
        (name, contentType, revpos) = (attachment.name, attachment.contentType, attachment.revpos)
        content = .stored(attachment)
    }

    /// Reads a member.
    ///
    /// - Throws: ``HTTPError`` for an invalid name or invalid data.
    init(_ name: String, _ value: JSONValue) throws {
        self.name = name
        contentType = value["content_type"]?.string ?? "application/octet-stream"
        let length = try Self.number("length", of: name, in: value)
        let encodedLength = try Self.number("encoded_length", of: name, in: value)
        if value["stub"] == true {
            // A wrong revpos is that of another stub.
            revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0
            content = .stub(revpos: value["revpos"], digest: value["digest"]?.string)
            return
        }
        revpos = try Self.number("revpos", of: name, in: value).map(UInt64.init) ?? 0
        if value["follows"] == true {
            let encoding = value["encoding"]?.string.flatMap { DocumentAttachment.Encoding(rawValue: $0) }
            content = .follows(
                length: length, encoding: encoding,
                encodedLength: encoding == nil ? length : encodedLength ?? length, digest: value["digest"]?.string)
        } else {
            guard let text = value["data"]?.string, let data = Self.decode(text) else {
                throw HTTPError.badRequest("Invalid attachment data for \(name)")
            }
            content = .inline(data)
        }
    }

    /// A number of at least zero in an attachment; `nil` if it is missing.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    private static func number(_ member: String, of name: String, in value: JSONValue) throws -> Int64? {
        guard let given = value[member], !given.isNull else { return nil }
        guard let number = given.int.flatMap({ Int64(exactly: $0) }), number >= 0 else {
            throw HTTPError.badRequest("Invalid attachment \(member) for \(name)")
        }
        return number
    }

    /// Checks that an attachment may have a name.
    static func check(name: String) throws {
        if name.utf8.first == UInt8(ascii: "_") {
            throw HTTPError.badRequest("Attachment name '\(name)' starts with prohibited character '_'")
        }
    }

    /// White space in base64 is ignored.
    private static func decode(_ text: String) -> [UInt8]? {
        let isPlain = text.utf8.allSatisfy { $0 > UInt8(ascii: " ") }
        return Base64.decode(isPlain ? Array(text.utf8) : text.utf8.filter { $0 > UInt8(ascii: " ") })
    }
}

// MARK: - WireRevision

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
