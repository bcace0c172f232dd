internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Documents of requests, with CouchDB's errors.
extension WireDocument {
    /// Reads a document of a request.
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
        do { try self.init(reader, .request(maximumValues: RequestLimits.values)) } catch let fault as Fault {
            throw HTTPError(fault)
        }
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
        if let id = DocumentID(text) { return id }
        throw HTTPError.illegalID(text: text)
    }

    /// The error for an id that is not UTF-8.
    static let idIsNoText = HTTPError.illegalID("Document id must be valid UTF-8")
}

extension HTTPError {
    /// The error for a text that no document may have as its id.
    fileprivate static func illegalID(text: String) -> HTTPError {
        switch text {
        case "": illegalID("Document id must not be empty")
        case "_design/", "_local/": illegalID("Illegal document id `\(text)`")
        default: illegalID("Only reserved document ids may start with underscore.")
        }
    }

    /// CouchDB's words for what is wrong with a reserved member.
    fileprivate init(_ fault: WireDocument.Fault) {
        self =
            switch fault {
            case .idIsNoString: .illegalID("Document id must be a string")
            case .illegalID(let text): .illegalID(text: text)
            case .invalidRevision, .otherHistory: .invalidRevision
            case .member(let name): .invalidDocument("Bad special document member: \(name)")
            case .history(.startIsNoInteger): .invalidDocument("_revisions.start isn't an integer.")
            case .history(.idsAreNoArray): .invalidDocument("_revisions.ids isn't a array.")
            case .history(.idIsNoString): .invalidDocument("RevId isn't a string")
            case .history(.idIsNotHexadecimal): .invalidDocument("RevId isn't a valid hexadecimal")
            case .history(.tooLong): .invalidDocument("_revisions.start is less than the number of ids.")
            case .attachmentNumber(let name, let member): .badRequest("Invalid attachment \(member) for \(name)")
            case .attachmentData(let name): .badRequest("Invalid attachment data for \(name)")
            }
    }
}

extension WireAttachment {
    /// How its bytes are encoded that follow in the request, and their number; `nil` if the text says none.
    var following: (encoding: DocumentAttachment.Encoding?, length: Int64?) {
        guard let encoding = encoding.flatMap({ DocumentAttachment.Encoding(rawValue: $0) }) else {
            return (nil, length)
        }
        return (encoding, encodedLength ?? length)
    }

    /// Checks that an attachment may have a name.
    static func check(name: String) throws {
        if name.utf8.first == UInt8(ascii: "_") {
            throw HTTPError.badRequest("Attachment name '\(name)' starts with prohibited character '_'")
        }
    }
}

extension WireRevision {
    /// Reads `N-suffix`.
    ///
    /// - Throws: ``HTTPError/invalidRevision``.
    init(_ text: String) throws {
        guard let revision = WireRevision(parsing: text) else { throw HTTPError.invalidRevision }
        self = revision
    }

    /// Reads a JSON string.
    init(_ value: JSONValue) throws {
        guard let text = value.string else { throw HTTPError.invalidRevision }
        try self.init(text)
    }
}
