/// A document's members with the clocks of their changes.
///
/// A device that stamps its changes stores their clocks in the document itself, in the member `$clocks`, so that
/// software without clocks preserves them:
///
///     {
///       "name": "Family Holidays",
///       "budget": {"amount": 50},
///       "$clocks": {
///         "/budget/amount": "1423083525000-0-9f3a6c21 1c8dbb2e",
///         "/name": "1423083473000-0-9f3a6c21 5d41402a",
///         "/note": "1423083480000-0-04c2e1b7 00000000"
///       }
///     }
///
/// An entry's name is the member's JSON Pointer. Its value is a ``AttributeClock``, a blank, and a digest of the
/// member's value, or eight zeros for a removal. Objects have entries for their members, down to ``depth``; an
/// array is one value.
///
/// **Foreign edits.** Software without clocks leaves the entries unchanged when it edits. Then a digest does not
/// match its value, or a value has no entry. So the time of that member's change is unknown, while all other
/// members keep their clocks. From the next save on, a question mark replaces the digest: the clock is not that of
/// the value, but every later change of the member exceeds it (SEMANTICS 159).
///
/// `$clocks` is not trusted beyond that: malformed entries are ignored.
public struct ClockedDocument: Hashable, Sendable {
    /// The name of the member that holds the clocks.
    public static let memberName = "$clocks"
    /// The depth to which objects are merged member by member; anything deeper is one value.
    public static let depth = 32

    private(set) var root: ClockedAttribute
    /// The clock of the deletion, for a tombstone that has one.
    public let deletion: AttributeClock?
    /// Whether it has clocks at all.
    let hasClocks: Bool
    /// For a tombstone, its latest clock, of the deletion or any other; a revival must exceed it.
    private let erased: AttributeClock?

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - document: Its members, including `$clocks`.
    ///   - isDeleted: Whether it is a tombstone; then it has only the clock of its deletion.
    /// - Complexity: O(*n* log *n*) in bytes.
    public init(_ document: JSONObject, isDeleted: Bool = false) {
        let entries = document[Self.memberName]?.object
        let node = ClockNode(entries ?? JSONObject())
        hasClocks = entries != nil
        if isDeleted {
            let removal = ValueDigest(of: nil, isObject: false)
            if case .known(let clock, removal) = node.entry { deletion = clock } else { deletion = nil }
            erased = node.newest
            root = .object(ClockedAttributes())
            return
        }
        (deletion, erased) = (nil, nil)
        var members = document
        members[Self.memberName] = nil
        var inside = ClockNode(JSONObject())
        inside.inside = node.inside
        root = ClockedAttribute(.object(members), inside, hasClocks: hasClocks, depth: 0)
    }

    init(root: ClockedAttribute) {
        self.root = root
        (deletion, erased) = (nil, nil)
        hasClocks = true
    }

    /// The members without the clocks.
    public var members: JSONObject { root.value?.object ?? JSONObject() }

    /// The latest known change of the document, or its deletion; `nil` if none is known.
    public var newest: AttributeClock? { ClockedAttribute.later(root.newest, deletion) }

    /// The latest change of the document; `nil` unless the change of every member is known. After a foreign edit it
    /// is not.
    package var wholeMoment: AttributeClock? { hasClocks && root.isTrusted ? root.newest : nil }

    /// The latest clock in the document, trusted or not.
    private var reach: AttributeClock? { ClockedAttribute.later(root.reach, erased) }

    /// The clock of a member's change or removal; `nil` if it is unknown, or for an object that was never written
    /// as a whole.
    ///
    /// - Parameter path: The names from the document to the member.
    public subscript(path: String...) -> AttributeClock? {
        path.reduce(root) { member, name in member?.inside?[name] }?.clock
    }

    /// The document with its clocks as the last member, ordered by the bytes of their paths.
    public var document: JSONObject {
        var entries: [(path: [UInt8], entry: ClockNode.Entry)] = []
        Self.collect(root, at: [], into: &entries)
        entries.sort { left, right in
            left.path.withUnsafeBytes { left in right.path.withUnsafeBytes { left.lexicographicallyPrecedes($0) } }
        }
        var document = members
        document[Self.memberName] = .object(
            JSONObject(entries.map { (String(decoding: $0.path, as: UTF8.self), .string($0.entry.text)) }))
        return document
    }

    /// All known clocks, each with its JSON Pointer.
    package var moments: [(path: String, moment: AttributeClock)] {
        var entries: [(path: [UInt8], entry: ClockNode.Entry)] = []
        Self.collect(root, at: [], into: &entries)
        return entries.compactMap { path, entry in
            guard case .known(let moment, _) = entry else { return nil }
            return (String(decoding: path, as: UTF8.self), moment)
        }
    }

    /// All clocks in a document's entries, trusted or not.
    package static func moments(in document: DocumentBody) -> [AttributeClock] {
        (document[memberName]?.object ?? JSONObject()).compactMap { member in
            member.value.string.flatMap { ClockNode.Entry($0)?.moment }
        }
    }

    static func collect(
        _ member: ClockedAttribute, at path: [UInt8], into entries: inout [(path: [UInt8], entry: ClockNode.Entry)]
    ) {
        if let clock = member.clock {
            let digest = ValueDigest(of: member.value, isObject: member.inside != nil)
            entries.append((path, ClockNode.Entry.known(clock, digest)))
        } else if member.isUnknown, member.value == nil || member.bound != nil {
            entries.append((path, ClockNode.Entry.unknown(after: member.bound)))
        }
        guard let inside = member.inside else { return }
        for (name, member) in zip(inside.names, inside.members) {
            collect(member, at: path + MergePath.step(name), into: &entries)
        }
    }
}

extension ClockedDocument {
    /// Replaces the members; unchanged ones keep their clocks.
    ///
    /// - Parameters:
    ///   - members: The new members; clocks among them are ignored.
    ///   - clock: The time of the change. If a member has a later clock, it gets that clock's successor.
    ///   - others: Other known versions, such as the other leaves of a conflict: the change is later than theirs
    ///     too.
    public mutating func stamp(
        _ members: JSONObject, at clock: AttributeClock, inSightOf others: [ClockedDocument] = []
    ) {
        var new = members
        new[Self.memberName] = nil
        let cover = others.reduce(erased) { ClockedAttribute.later($0, $1.erased) }
        root = root.stamped(
            to: .object(new), at: clock, depth: 0, cover: cover, inSightOf: others.map(\.root))
    }

    /// The body with the clocks of its changes, as with ``stamp(_:at:inSightOf:)``.
    ///
    /// - Parameters:
    ///   - body: The new members; clocks among them are ignored.
    ///   - parent: The former document, not deleted; `nil` for a new one.
    ///   - clock: The time of the change.
    /// - Returns: The body with its clocks as the last member.
    /// - Throws: ``JSONError`` never, unless the parent's bytes are damaged.
    /// - Complexity: O(*n*) in bytes, O(*n* log *n*) for members that are objects.
    package static func stamped(
        _ body: DocumentBody, on parent: DocumentBody?, at clock: AttributeClock
    ) throws(JSONError) -> DocumentBody {
        if let stamped = ClockStamper.stamp(body, on: parent ?? .empty, at: clock) { return stamped }
        return try stampedByValues(body, on: parent, at: clock)
    }

    /// The same, without the fast path.
    static func stampedByValues(
        _ body: DocumentBody, on parent: DocumentBody?, at clock: AttributeClock
    ) throws(JSONError) -> DocumentBody {
        var document = ClockedDocument(parent?.json.object ?? JSONObject())
        document.stamp(body.json.object ?? JSONObject(), at: clock)
        return try DocumentBody(.object(document.document))
    }

    /// The members of a tombstone that deletes the document at a time, or directly after its latest change.
    ///
    /// - Parameters:
    ///   - kept: The members that the tombstone keeps.
    ///   - clock: The time of the deletion.
    ///   - others: Other known versions.
    /// - Returns: The tombstone's members.
    public func tombstone(
        keeping kept: JSONObject, at clock: AttributeClock, inSightOf others: [ClockedDocument] = []
    ) -> JSONObject {
        var tombstone = kept
        tombstone[Self.memberName] = nil
        let latest = others.reduce(reach) { ClockedAttribute.later($0, $1.reach) }
        guard let moment = ClockedAttribute.moment(clock, after: latest) else { return tombstone }
        let entry = ClockNode.Entry.known(moment, ValueDigest(of: nil, isObject: false))
        tombstone[Self.memberName] = .object(JSONObject([("", .string(entry.text))]))
        return tombstone
    }

    /// Writes one member as a whole, as if at the time of `clock`: later changes are kept.
    ///
    /// A member whose change has an unknown time is replaced, because a known clock takes precedence. So is a
    /// member whose clock is past `latest`.
    ///
    /// - Parameters:
    ///   - name: The member.
    ///   - value: The value, or `nil` to remove it.
    ///   - clock: The time of the change.
    ///   - latest: The latest trusted time, in milliseconds since 1970.
    package mutating func write(
        _ name: String, _ value: JSONValue?, at clock: AttributeClock, believing latest: Int64 = AttributeClock.latest
    ) {
        _ = write([(name, value, clock)], believing: latest)
    }

    /// Writes many members like ``write(_:_:at:believing:)``, and builds the document once.
    ///
    /// - Returns: For each change, in order, the member directly after it and its clock.
    /// - Complexity: O(*n* + *m*) for *n* changes of a document with *m* members.
    package mutating func write(
        _ changes: [(name: String, value: JSONValue?, moment: AttributeClock)],
        believing latest: Int64 = AttributeClock.latest
    ) -> [(value: JSONValue?, newest: AttributeClock?)] {
        guard var inside = root.inside else { return changes.map { _ in (nil, nil) } }
        func isKnown(_ member: ClockedAttribute) -> Bool {
            member.isTrusted && member.newest.map { $0.milliseconds <= latest } ?? true
        }
        let outcomes = changes.map { name, value, moment in
            let written = ClockedAttribute.written(value, at: moment, depth: 1)
            let known = inside[name].flatMap { isKnown($0) ? $0 : nil } ?? .nothing
            let member = ClockedAttribute.join([known, written]) ?? written
            inside.set(name, member)
            return (member.value, member.newest)
        }
        root = .object(inside)
        return outcomes
    }
}
