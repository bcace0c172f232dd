public import SettleCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A stored model: its value, the id and revision of its document, and its state when it was read.
///
///     var milk = try database.save(Item(name: "Milk", count: 1))        // milk.id, milk.revision
///     milk.count = 2                                                    // a property of the model
///     try database.save(&milk)                                          // an edit of exactly what was read
///
/// Everything that reads a model returns this type: `document(_:as:)`, `find`, `observe`, live queries, `save` and
/// `update`. Properties of the model can be read and written directly; if one has the same name as a property here,
/// use ``value``.
///
/// Saving it changes only the members of ``value`` that were changed since it was read. Members that the model does
/// not have, and members that another writer changed meanwhile, stay as they are stored.
@dynamicMemberLookup
public struct Saved<Model>: Identifiable {
    /// The document's id.
    public let id: DocumentID
    /// The document as it was read; `nil` if only some of its members were requested (``DocumentQuery/selecting(_:)``).
    public let document: Document?
    /// The model, to read and to change.
    public var value: Model
    /// The model as it was read.
    private let original: Model

    /// Creates a value from a document and the model that was decoded from it.
    package init(_ document: Document, _ value: Model) {
        (id, self.document, self.value, original) = (document.id, document, value, value)
    }

    /// Creates a model of some members of a document; it can't be saved.
    package init(partOf id: DocumentID, _ value: Model) {
        (self.id, document, self.value, original) = (id, nil, value, value)
    }

    /// The revision it was read at or saved as; `nil` if only some members of the document were requested.
    public var revision: RevisionID? { document?.revision }

    /// A property of the model.
    public subscript<Value>(dynamicMember property: KeyPath<Model, Value>) -> Value { value[keyPath: property] }

    /// A property of the model, to read and to write.
    public subscript<Value>(dynamicMember property: WritableKeyPath<Model, Value>) -> Value {
        get { value[keyPath: property] }
        set { value[keyPath: property] = newValue }
    }
}

extension Saved: Sendable where Model: Sendable {}

extension Saved: Equatable where Model: Equatable {
    /// Whether id, revision and model are equal.
    public static func == (left: Saved, right: Saved) -> Bool {
        left.id == right.id && left.revision == right.revision && left.value == right.value
    }
}

extension Saved: Hashable where Model: Hashable {
    /// Hashes id, revision and model.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(revision)
        hasher.combine(value)
    }
}

extension Saved where Model: Decodable {
    /// Decodes a document.
    package init(_ document: Document) throws { self.init(document, try document.decode(Model.self)) }

    /// Decodes a document that was just saved, which gives the model its id and revision. If the model can't be
    /// decoded from its own encoding, it stays unchanged.
    static func read(_ document: Document, else model: Model) -> Saved {
        (try? Saved(document)) ?? Saved(document, model)
    }
}

extension Saved where Model: Codable {
    /// The changes of the model since it was read.
    ///
    /// If a value contains a reference, the object may have been changed in place, and then the original has
    /// changed, too. So such a model is decoded again.
    func change(of document: Document) throws -> ModelChange {
        let before = References.areHeld(in: value) ? try document.decode(Model.self) : original
        return try ModelChange(from: ModelContent(before), to: ModelContent(value), of: Model.self, id)
    }
}

/// Finds references inside a value.
private enum References {
    /// Whether a value contains an instance of a class, at any depth that mirrors show.
    static func areHeld(in value: Any, depth: Int = 0) -> Bool {
        if value is any Plain || depth > JSONLimits.depth { return false }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .class { return true }
        return mirror.children.contains { areHeld(in: $0.value, depth: depth + 1) }
    }
}

/// A type without references that an app could change.
private protocol Plain {}
extension Bool: Plain {}
extension String: Plain {}
extension Int: Plain {}
extension Double: Plain {}
extension Float: Plain {}
extension Decimal: Plain {}
extension Date: Plain {}
extension Data: Plain {}
extension URL: Plain {}
extension UUID: Plain {}
extension DocumentID: Plain {}
extension JSONValue: Plain {}
extension Optional: Plain where Wrapped: Plain {}
extension Array: Plain where Element: Plain {}
extension Set: Plain where Element: Plain {}
extension Dictionary: Plain where Key: Plain, Value: Plain {}
