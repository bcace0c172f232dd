public import SettleCore
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The id of a model, which is the id of its document.
///
/// `String`, `UUID`, `Int`, ``DocumentID`` and optionals of them are such ids. `nil` requests a new id. An app's
/// own type converts itself to the id of a document. A `Codable` type is decoded from the text of the id; a type
/// with a different format also implements the initializer:
///
///     struct NoteID: RawRepresentable, Hashable, Codable, DocumentIDConvertible {
///         var rawValue: Int
///         var documentID: DocumentID? { get throws { try DocumentID(validating: "note-\(rawValue)") } }
///         init(documentID: DocumentID) throws { … }
///     }
public protocol DocumentIDConvertible: Sendable {
    /// The document's id; `nil` to create a new one.
    ///
    /// - Throws: ``InvalidIdentifier`` for text that is not a valid id.
    var documentID: DocumentID? { get throws }

    /// Creates the id of a model from that of its document.
    ///
    /// - Throws: An error if the document's id does not correspond to an id of this type.
    init(documentID: DocumentID) throws
}

extension DocumentIDConvertible where Self: Decodable {
    /// Decodes the text of the id, or the id as a number.
    ///
    /// - Throws: `DecodingError`, also if the decoded value corresponds to another document id.
    public init(documentID: DocumentID) throws {
        let text = JSONValue.string(documentID.string)
        do { self = try text.decode(Self.self) } catch {
            guard let number = JSONNumber(text: documentID.string) else { throw error }
            self = try JSONValue.number(number).decode(Self.self)
        }
        guard try self.documentID == documentID else {
            let message = "\(Self.self) can't be the id \"\(documentID)\"; it needs an init(documentID:)"
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: message))
        }
    }
}

extension DocumentID: DocumentIDConvertible {
    /// The id itself.
    public var documentID: DocumentID? { self }

    /// The id itself.
    public init(documentID: DocumentID) { self = documentID }
}

extension String: DocumentIDConvertible {
    /// The text as an id.
    public var documentID: DocumentID? { get throws { try DocumentID(validating: self) } }

    /// The text of the id.
    public init(documentID: DocumentID) { self = documentID.string }
}

extension Int: DocumentIDConvertible {
    /// The digits as an id.
    public var documentID: DocumentID? { DocumentID(unchecked: String(self)) }
}

extension UUID: DocumentIDConvertible {
    /// The text in upper case, as `uuidString`.
    public var documentID: DocumentID? { DocumentID(unchecked: uuidString) }

    /// Reads the text in upper or lower case.
    ///
    /// - Throws: `DecodingError` for text that is not a UUID.
    public init(documentID: DocumentID) throws { self = try JSONValue.string(documentID.string).decode(UUID.self) }
}

extension Optional: DocumentIDConvertible where Wrapped: DocumentIDConvertible {
    /// The wrapped id.
    public var documentID: DocumentID? { get throws { try flatMap { try $0.documentID } } }

    /// The id, wrapped.
    public init(documentID: DocumentID) throws { self = try Wrapped(documentID: documentID) }
}

extension DocumentID {
    /// Checks an id that may have been created by a literal.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func check() throws {
        if let problem { throw DatabaseError(.invalid, "\(problem)", cause: problem) }
    }
}

extension DocumentIDConvertible {
    /// The id of a document that an app has given: a variable, a literal, or the id of a model.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for text that is not a valid id, and for a model without an
    ///   id.
    package func ofDocument() throws -> DocumentID {
        guard let id = try checked() else {
            throw DatabaseError(
                .invalid, "an id is nil, so no document is meant; save the model first, which gives it one")
        }
        return id
    }

    /// The id; `nil` to create one.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for text that is not a valid id.
    func checked() throws -> DocumentID? {
        let id: DocumentID?
        do { id = try documentID } catch let problem as InvalidIdentifier {
            throw DatabaseError(.invalid, "\(problem)", cause: problem)
        }
        try id?.check()
        return id
    }
}

// MARK: - Unique

extension DocumentID {
    /// A new, globally unique id: 32 hexadecimal digits, as in CouchDB.
    ///
    ///     0193a1c2b4f0 7d3e5a90c1f2b8a7e6d4
    ///     time         random
    ///
    /// The first 12 digits are the time in milliseconds since 1970, so later documents have later ids, and an index
    /// of ids grows at its end. The remaining digits are random.
    ///
    /// - Complexity: O(1).
    public static func unique() -> DocumentID {
        let now = WallTime.now()
        let time = UInt64(max(now.seconds * 1000 + now.milliseconds, 0)) << 16
        return DocumentID(
            unchecked: hexadecimal(time | UInt64(UInt16.random(in: .min ... .max)))
                + hexadecimal(.random(in: .min ... .max)))
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
