public import SettleCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The id of a model, which is the id of its document.
///
/// `String`, `UUID`, `Int`, ``DocumentID`` and optional ones are such ids. `nil` asks for a new one.
///
///     struct NoteID: RawRepresentable, Hashable, Codable, DocumentIDConvertible {
///         var rawValue: String
///         var documentID: DocumentID? { get throws { try DocumentID(validating: rawValue) } }
///     }
public protocol DocumentIDConvertible: Sendable {
    /// The document's id; `nil` if one is to be made.
    ///
    /// - Throws: ``InvalidIdentifier`` for text that is no id.
    var documentID: DocumentID? { get throws }
}

extension DocumentID: DocumentIDConvertible {
    /// The id itself.
    public var documentID: DocumentID? { self }
}

extension String: DocumentIDConvertible {
    /// The text as an id.
    public var documentID: DocumentID? { get throws { try DocumentID(validating: self) } }
}

extension Int: DocumentIDConvertible {
    /// The digits as an id.
    public var documentID: DocumentID? { DocumentID(unchecked: String(self)) }
}

extension UUID: DocumentIDConvertible {
    /// The text in upper case, as `uuidString`.
    public var documentID: DocumentID? { DocumentID(unchecked: uuidString) }
}

extension Optional: DocumentIDConvertible where Wrapped: DocumentIDConvertible {
    /// The wrapped id.
    public var documentID: DocumentID? { get throws { try flatMap { try $0.documentID } } }
}
