internal import SettleCore

/// A model that defines how its values are stored, and which documents belong to it.
///
///     struct Person: DocumentModel {
///         var name: String
///         static let documentType: DocumentType? = DocumentType("person")
///     }
///
/// Conform in the declaration of the type, not in an extension: then it also works in a module that is isolated to
/// the main actor by default. Any `Codable` type can be a model without this protocol.
public protocol DocumentModel: Codable, Sendable {
    /// The form of stored dates and bytes; ``DocumentCoding/standard`` by default.
    static var coding: DocumentCoding { get }
    /// The field that distinguishes the documents of this model from others in a database; `nil`, the default, for
    /// none.
    ///
    /// The field is added to documents that are created from the model, unless the model contains it, and queries
    /// find only documents that have it.
    static var documentType: DocumentType? { get }
    /// Whether the property `id` of an `Identifiable` model is the id of its document; `true` by default.
    ///
    /// With `false` the property is a member of the document like any other. The id of the document is then what the
    /// model has under the coding key `_id`; without that, each save of a plain model creates a new document.
    static var idIsDocumentID: Bool { get }
    /// The members that identify the elements of a list when a model is saved; `id` and `_id` by default.
    ///
    /// Elements with an equal identity are the same element. Elements without an identity are matched by their
    /// contents and positions.
    static var elementIdentities: [String] { get }
}

extension DocumentModel {
    /// The standard coding.
    public static var coding: DocumentCoding { .standard }

    /// No type of documents.
    public static var documentType: DocumentType? { nil }

    /// `true`: the property `id` is the id of the document.
    public static var idIsDocumentID: Bool { true }

    /// Elements are identified by `id` or by `_id`.
    public static var elementIdentities: [String] { standardElementIdentities }
}

/// The members that identify the elements of a list, for a model that does not define them.
let standardElementIdentities = ["id", "_id"]

/// A field, and the text that it has in all documents of a model.
public struct DocumentType: Hashable, Sendable {
    /// The name of the field.
    public var field: String
    /// The text.
    public var value: String

    /// Defines the documents of a model.
    ///
    /// - Parameters:
    ///   - value: The text.
    ///   - field: The name of the field; `type` by default, as in most apps of CouchDB.
    public init(_ value: String, field: String = "type") { (self.value, self.field) = (value, field) }

    /// The type of documents of a model, if it defines one.
    package static func of(_ type: Any.Type) -> DocumentType? { (type as? any DocumentModel.Type)?.documentType }

    /// The object with the member, which is added at the front if it is absent.
    func added(to json: JSONValue) -> JSONValue {
        guard case .object(let members) = json, members[field] == nil else { return json }
        return .object(JSONObject([(field, .string(value))] + members.map { ($0.name, $0.value) }))
    }
}
