internal import SettleCore
internal import SettleDatabase

/// Reads a thin client's changes: types, objects, and lists of changes (SEMANTICS 149).
///
///     {
///       "envelopes": [{
///         "id": "17bb2c1c-313d-41a6-ae31-c90785155687",
///         "changes": [{"attribute": "name", "value": "A New Name", "timestamp": 1423083473}]
///       }]
///     }
///
/// A malformed request is refused as a whole; an invalid change refuses its object only.
struct LocalChangesReader {
    /// An object of the request, in its place in the answer.
    struct Object {
        let id: String
        let attributes: [String]
        let changes: Result<ObjectChanges, HTTPError>
    }

    /// The member with the type of an object.
    static let typeName = "type"
    /// The device of changes that name none; see ``FieldClock/device``.
    static let device = "0"

    /// The latest accepted timestamp, in milliseconds since 1970.
    let latest: Int64
    let writeGuard: WriteGuard

    /// The objects of each type, in order.
    ///
    /// - Throws: ``HTTPError`` with status 400 for a malformed request.
    func objects(in body: JSONObject) throws -> [(type: String, objects: [Object])] {
        try body.map { type in
            guard let list = type.value.array else { throw Self.bad("`\(type.name)` must be an array of objects") }
            return (type.name, try list.map { try object($0, type: type.name) })
        }
    }

    private func object(_ value: JSONValue, type: String) throws -> Object {
        guard let id = value["id"]?.string, let list = value["changes"]?.array else {
            throw Self.bad("an object of `\(type)` must have an `id` and a list of `changes`")
        }
        let changes = try list.map(Self.change)
        return Object(
            id: id, attributes: changes.map(\.name),
            changes: Result { try checked(id, type, changes) }.mapError { HTTPError($0) })
    }

    private static func change(_ value: JSONValue) throws -> (name: String, value: JSONValue?, milliseconds: Int64) {
        guard let name = value["attribute"]?.string else { throw bad("a change must have an `attribute`") }
        guard let seconds = value["timestamp"]?.double, seconds >= 0, seconds * 1000 <= Double(FieldClock.latest)
        else { throw bad("the `timestamp` of `\(name)` must be seconds since 1970") }
        return (name, value["value"], Int64((seconds * 1000).rounded()))
    }

    private static func bad(_ reason: String) -> HTTPError { .badRequest(reason) }

    /// The changes of one object, validated.
    private func checked(
        _ id: String, _ type: String, _ changes: [(name: String, value: JSONValue?, milliseconds: Int64)]
    ) throws -> ObjectChanges {
        guard !id.hasPrefix("_") else { throw HTTPError.illegalID("An object's id must not start with an underscore.") }
        guard !changes.isEmpty else { throw HTTPError.invalidDocument("The object has no changes.") }
        let documentID = try WireDocument.checked(id)
        try writeGuard.check(documentID)
        let moments = try changes.map { name, value, milliseconds in
            guard !name.hasPrefix("_"), name != Self.typeName, name != ClockedDocument.memberName else {
                throw HTTPError.invalidDocument("`\(name)` can't be changed as an attribute.")
            }
            guard milliseconds <= latest,
                let moment = FieldClock(milliseconds: milliseconds, device: Self.device)
            else {
                throw HTTPError.forbidden(
                    "The timestamp of `\(name)` is ahead of the server's clock by more than a minute.")
            }
            return AttributeChange(name, value, at: moment)
        }
        return ObjectChanges(documentID, type: (Self.typeName, type), changes: moments)
    }
}
