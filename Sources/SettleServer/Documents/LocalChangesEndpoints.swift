internal import SettleCore
internal import SettleDatabase

/// Changes of thin clients, which keep no documents and no revisions: an extension of ours.
enum LocalChangesEndpoints {
    /// `POST /{db}/_local_changes`
    ///
    /// Each attribute is resolved by itself: the later change stays. The answer has the form of the request, with an
    /// outcome in the place of each change.
    static let post: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        guard !context.parameter("db").hasPrefix("_") else {
            throw HTTPError.forbidden("Local changes can't be written to a system database.")
        }
        guard try database.attributeClocks() else {
            throw HTTPError(
                412, "precondition_failed",
                "Attribute clocks are off in this database; an administrator can PUT true to its _attribute_clocks.")
        }
        let latest = database.clockTime + HybridClock.tolerance
        let writeGuard = try WriteGuard(context)
        let reader = LocalChangesReader(latest: latest, writeGuard: writeGuard)
        let types = try reader.objects(in: try context.jsonObject())
        let objects = types.flatMap(\.objects)
        var outcomes = try writeGuard.change(
            objects.compactMap { try? $0.changes.get() }, believing: latest,
            refused: objects.compactMap { (try? $0.changes.get()) == nil ? DocumentID(unchecked: $0.id) : nil },
            in: database)[...]
        let answer = types.map { type, objects in
            (type, JSONValue.array(objects.map { outcomeJSON($0, &outcomes) }))
        }
        return .json(.object(JSONObject(answer)))
    }

    /// The outcome of an object; each object that was not refused before has one.
    private static func outcomeJSON(
        _ object: LocalChangesReader.Object, _ outcomes: inout ArraySlice<ObjectChanges.Outcome>
    ) -> JSONValue {
        var told: JSONObject = ["id": .string(object.id)]
        func refuse(_ error: HTTPError) {
            told["error"] = .string(error.error)
            told["reason"] = .string(error.reason)
        }
        if case .failure(let error) = object.changes {
            refuse(error)
            return .object(told)
        }
        switch outcomes.popFirst() {
        case .resolved(let resolved):
            told["rev"] = resolved.revision.map { .string($0.description) }
            told["changes"] = .array(zip(object.attributes, resolved.changes).map(Self.outcomeJSON))
        case .refused(let error): refuse(HTTPError(error))
        case .waits(let id):
            refuse(HTTPError(424, "waiting", "It refers to \(id), which was refused and is not there."))
        case nil: break
        }
        return .object(told)
    }

    /// The outcome of one change.
    private static func outcomeJSON(_ attribute: String, _ outcome: AttributeChange.Outcome) -> JSONValue {
        let by: JSONValue
        switch outcome {
        case .applied: return ["attribute": .string(attribute), "outcome": "applied"]
        case .superseded(let value, let moment): by = winner(("value", value), at: moment)
        case .deleted(let moment): by = winner(("deleted", true), at: moment)
        }
        return ["attribute": .string(attribute), "outcome": "superseded", "by": by]
    }

    /// The change that won over another, with its time in seconds since 1970.
    private static func winner(_ what: (name: String, value: JSONValue?), at moment: AttributeClock?) -> JSONValue {
        var by: JSONValue = [:]
        by[what.name] = what.value
        guard let milliseconds = moment?.milliseconds else { return by }
        let seconds = Double(milliseconds) / 1000
        by["timestamp"] =
            milliseconds % 1000 == 0
            ? .number(JSONNumber(milliseconds / 1000)) : JSONNumber(seconds).map(JSONValue.number)
        return by
    }

    /// `GET /{db}/_attribute_clocks`
    static let clocks: Endpoint = .work { context in .json(.bool(try context.database().attributeClocks())) }

    /// `PUT /{db}/_attribute_clocks`
    static let setClocks: Endpoint = .work { context in
        let database = try context.database()
        guard let areOn = try context.json().bool else {
            throw HTTPError.badRequest("`_attribute_clocks` must be true or false")
        }
        guard !context.parameter("db").hasPrefix("_") else {
            throw HTTPError.forbidden("A system database has no attribute clocks.")
        }
        try database.setAttributeClocks(areOn)
        return .ok()
    }
}

// MARK: - LocalChangesReader

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
    /// The device of changes that name none; see ``AttributeClock/device``.
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
        guard let seconds = value["timestamp"]?.double, seconds >= 0, seconds * 1000 <= Double(AttributeClock.latest)
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
                let moment = AttributeClock(milliseconds: milliseconds, device: Self.device)
            else {
                throw HTTPError.forbidden(
                    "The timestamp of `\(name)` is ahead of the server's clock by more than a minute.")
            }
            return AttributeChange(name, value, at: moment)
        }
        return ObjectChanges(documentID, type: (Self.typeName, type), changes: moments)
    }
}
