internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// A document as a request brings it.
struct WireDocument: Sendable {
    /// The id, unless the request leaves it to the server.
    var id: String?
    /// The revision it is an edit of or, as a peer's, the one it is.
    var revision: WireRevision?
    /// The path to that revision, newest first.
    var history: RevisionHistory?
    var isDeleted = false
    var body: DocumentBody
    var attachments: [WireAttachment] = []
    /// The revision that `_revisions` names where it starts at 0, as that of a local document does: its ids count writes.
    private var count: WireRevision?

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: Its JSON.
    ///   - limit: How large its body may be.
    /// - Throws: ``HTTPError``: text that is not JSON, no object, or has members that may not be.
    init(_ bytes: [UInt8], limit: Int) throws {
        let reader: DocumentReader
        do { reader = try DocumentReader.read(bytes, allowsReserved: true) } catch {
            guard error.code == .notAnObject else { throw error }
            _ = try JSON(utf8: bytes)
            throw HTTPError.badRequest("Document must be a JSON object")
        }
        body = reader.body
        for member in reader.reserved { try take(member) }
        if let named = history.map({ .revision($0.revision) }) ?? count { revision = named }
        if body.utf8.count > limit { throw HTTPError.documentTooLarge(id ?? "") }
    }

    /// The id, checked, with a new one where there is none.
    mutating func complete() throws -> DocumentID {
        let known = id ?? SecureRandom.hexadecimal()
        id = known
        return try WireDocument.checked(known)
    }

    /// Sees that text may be a document's id.
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

    /// What is said of an id that is no UTF-8.
    static let idIsNoText = HTTPError.illegalID("Document id must be valid UTF-8")

    private mutating func take(_ member: DocumentReader.ReservedMember) throws {
        let value = try JSON(utf8: member.value)
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

    /// Reads `{"start": 0, "ids": ["7"]}`, the history of a local document; `nil` where no revision is listed.
    private static func count(_ ids: JSON?) throws(RevisionHistory.WireFault) -> WireRevision? {
        guard let ids = ids?.array else { throw .idsAreNoArray }
        let texts = ids.compactMap(\.string)
        guard texts.count == ids.count else { throw .idIsNoString }
        return texts.first.map { .impossible("0-\($0)") }
    }
}
