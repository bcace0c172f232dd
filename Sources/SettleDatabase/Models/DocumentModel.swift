internal import SettleCore

/// A model that says how its values are stored, and which documents are its own.
///
///     struct Person: DocumentModel {
///         var name: String
///         static let documentType: DocumentType? = DocumentType("person")
///     }
///
/// Conform where the type is declared, not in an extension: then it also works in a module that is isolated to the main actor by
/// default. Any `Codable` type can be a model without this protocol.
public protocol DocumentModel: Codable, Sendable {
    /// How dates and bytes are stored; ``DocumentCoding/standard`` by default.
    static var coding: DocumentCoding { get }
    /// What distinguishes the documents of this model from others in a database; `nil`, the default, for nothing.
    ///
    /// The field is added to documents that are made from the model, unless the model has it itself, and queries find only
    /// documents that have it.
    static var documentType: DocumentType? { get }
    /// Whether the property `id` of an `Identifiable` model is the id of its document; `true` by default.
    ///
    /// With `false` the property is a member of the document like any other.
    static var idIsDocumentID: Bool { get }
    /// The members that identify the elements of a list when a model is saved; `id` and `_id` by default.
    ///
    /// Elements with an equal identity are the same element. Others are matched by their contents and their places.
    static var elementIdentities: [String] { get }
}

extension DocumentModel {
    /// The coding of a model that has none of its own.
    public static var coding: DocumentCoding { .standard }

    /// A model that names no type of documents.
    public static var documentType: DocumentType? { nil }

    /// The property `id` is the id of the document.
    public static var idIsDocumentID: Bool { true }

    /// Elements are identified by `id` or by `_id`.
    public static var elementIdentities: [String] { standardElementIdentities }
}

/// The members that identify the elements of a list in a model that names none.
let standardElementIdentities = ["id", "_id"]

/// A field, and the text it has in all documents of a model.
public struct DocumentType: Hashable, Sendable {
    /// The name of the field.
    public var field: String
    /// The text.
    public var value: String

    /// Names the documents of a model.
    ///
    /// - Parameters:
    ///   - value: The text.
    ///   - field: The name of the field, `type` by default, as most apps of CouchDB have it.
    public init(_ value: String, field: String = "type") { (self.value, self.field) = (value, field) }

    /// The type of a model, if it names one.
    package static func of(_ type: Any.Type) -> DocumentType? { (type as? any DocumentModel.Type)?.documentType }

    /// An object with the member, in front unless it has one already.
    func added(to json: JSONValue) -> JSONValue {
        guard case .object(let members) = json, members[field] == nil else { return json }
        return .object(JSONObject([(field, .string(value))] + members.map { ($0.name, $0.value) }))
    }
}
