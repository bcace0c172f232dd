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
        for member in reader.reserved { try take(member) }
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

    private mutating func take(_ member: DocumentReader.ReservedMember) throws {
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
        case ("_revisions", .object(let members)): try takeRevisions(members)
        case ("_revs_info", _), ("_local_seq", _), ("_conflicts", _), ("_deleted_conflicts", _): break
        default: throw HTTPError.invalidDocument("Bad special document member: \(member.name)")
        }
    }

    private mutating func takeRevisions(_ members: JSONObject) throws {
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
