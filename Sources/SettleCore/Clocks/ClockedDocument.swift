/// A document's members, with what is known of when each of them was changed.
///
/// A device that stamps its changes keeps their moments in the document itself, in the member `$clocks`, so that they
/// travel through any software that knows nothing of them:
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
/// An entry stands under the member's JSON Pointer: an ``AttributeClock``, a blank, and a digest of the value the member was
/// changed to, eight zeros for a removal. Objects are taken apart, down to ``depth``; an array is one value.
///
/// **Foreign edits.** Whoever knows no clocks leaves them as they are. The digest does not fit the value then, or a value
/// has no entry, so of that member it is not known when it was changed, while all others keep their moments. From the next
/// save on, a question mark stands in the place of the digest: the moment is not that of the value, but whoever changes the
/// member after all comes later (SEMANTICS 159).
///
/// What stands in `$clocks` is not believed further than that: what is no entry is passed over.
public struct ClockedDocument: Hashable, Sendable {
    /// The name of the member that holds the clocks.
    public static let memberName = "$clocks"
    /// How many objects deep members are told apart; what is inside of that is one value.
    public static let depth = 32

    /// The document as a member.
    private(set) var root: ClockedMember
    /// When the document was deleted, for a tombstone that says so.
    public let deletion: AttributeClock?
    /// Whether it has clocks at all.
    let hasClocks: Bool
    /// For a tombstone, the latest moment it bears, be it the deletion's or not: what revives the document is later.
    private let erased: AttributeClock?

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - document: Its members, `$clocks` among them.
    ///   - isDeleted: Whether it is a tombstone; then it has no members but a moment.
    /// - Complexity: O(*n* log *n*) in bytes.
    public init(_ document: JSONObject, isDeleted: Bool = false) {
        let entries = document[Self.memberName]?.object
        let node = ClockNode(entries ?? JSONObject())
        hasClocks = entries != nil
        if isDeleted {
            let removal = ValueDigest(of: nil, isObject: false)
            if case .known(let clock, removal) = node.entry { deletion = clock } else { deletion = nil }
            erased = node.newest
            root = .object(ClockedMembers())
            return
        }
        (deletion, erased) = (nil, nil)
        var members = document
        members[Self.memberName] = nil
        var inside = ClockNode(JSONObject())
        inside.inside = node.inside
        root = ClockedMember(.object(members), inside, hasClocks: hasClocks, depth: 0)
    }

    init(root: ClockedMember) {
        self.root = root
        (deletion, erased) = (nil, nil)
        hasClocks = true
    }

    /// The members without the clocks.
    public var members: JSONObject { root.value?.object ?? JSONObject() }

    /// The latest change of anything in the document, or its deletion; `nil` when none is known.
    public var newest: AttributeClock? { ClockedMember.later(root.newest, deletion) }

    /// The latest change of anything in the document; `nil` unless of each member it is known when it was changed, as it is not
    /// after an edit by software that knows no clocks.
    package var wholeMoment: AttributeClock? { hasClocks && root.isTrusted ? root.newest : nil }

    /// The latest moment it bears, of whatever it says.
    private var reach: AttributeClock? { ClockedMember.later(root.reach, erased) }

    /// When a member was changed or removed; `nil` when that is not known, or for an object that was never written as a
    /// whole.
    ///
    /// - Parameter path: The names that lead to it.
    public subscript(path: String...) -> AttributeClock? {
        path.reduce(root) { member, name in member?.inside?[name] }?.clock
    }

    /// The document with its clocks, which stand last and in the order of their paths' bytes.
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

    /// All moments that are known, each with its JSON Pointer.
    package var moments: [(path: String, moment: AttributeClock)] {
        var entries: [(path: [UInt8], entry: ClockNode.Entry)] = []
        Self.collect(root, at: [], into: &entries)
        return entries.compactMap { path, entry in
            guard case .known(let moment, _) = entry else { return nil }
            return (String(decoding: path, as: UTF8.self), moment)
        }
    }

    /// All moments a document's entries name, believed or not.
    package static func moments(in document: DocumentBody) -> [AttributeClock] {
        (document[memberName]?.object ?? JSONObject()).compactMap { member in
            member.value.string.flatMap { ClockNode.Entry($0)?.moment }
        }
    }

    static func collect(
        _ member: ClockedMember, at path: [UInt8], into entries: inout [(path: [UInt8], entry: ClockNode.Entry)]
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
    /// Changes the document to other members, at a moment; what is the same keeps its moment.
    ///
    /// - Parameters:
    ///   - members: The members now; clocks among them are passed over.
    ///   - clock: When they were changed. A member that has a later moment already gets the successor of that.
    ///   - others: Other versions that were in sight, such as the other leaves of a conflict: the change is later than
    ///     theirs, too.
    public mutating func stamp(
        _ members: JSONObject, at clock: AttributeClock, inSightOf others: [ClockedDocument] = []
    ) {
        var new = members
        new[Self.memberName] = nil
        let cover = others.reduce(erased) { ClockedMember.later($0, $1.erased) }
        root = root.stamped(
            to: .object(new), at: clock, depth: 0, cover: cover, inSightOf: others.map(\.root))
    }

    /// A body with the clocks of its changes, the same as ``stamp(_:at:inSightOf:)`` gives.
    ///
    /// - Parameters:
    ///   - body: The members now; clocks among them are passed over.
    ///   - parent: What the document was, not deleted; `nil` for a new one.
    ///   - clock: When it was changed.
    /// - Returns: The body with its clocks, which stand last.
    /// - Throws: ``JSONError`` never, unless the parent's bytes are damaged.
    /// - Complexity: O(*n*) in bytes, O(*n* log *n*) for members that are objects.
    package static func stamped(
        _ body: DocumentBody, on parent: DocumentBody?, at clock: AttributeClock
    ) throws(JSONError) -> DocumentBody {
        if let stamped = ClockStamper.stamp(body, on: parent ?? .empty, at: clock) { return stamped }
        return try stampedByValues(body, on: parent, at: clock)
    }

    /// The same, by values alone.
    static func stampedByValues(
        _ body: DocumentBody, on parent: DocumentBody?, at clock: AttributeClock
    ) throws(JSONError) -> DocumentBody {
        var document = ClockedDocument(parent?.json.object ?? JSONObject())
        document.stamp(body.json.object ?? JSONObject(), at: clock)
        return try DocumentBody(.object(document.document))
    }

    /// The clocks of a tombstone that deletes the document at a moment, or right after its latest change.
    ///
    /// - Parameters:
    ///   - kept: The members the tombstone keeps.
    ///   - clock: When it is deleted.
    ///   - others: Other versions that were in sight.
    /// - Returns: The tombstone's members.
    public func tombstone(
        keeping kept: JSONObject, at clock: AttributeClock, inSightOf others: [ClockedDocument] = []
    ) -> JSONObject {
        var tombstone = kept
        tombstone[Self.memberName] = nil
        let latest = others.reduce(reach) { ClockedMember.later($0, $1.reach) }
        guard let moment = ClockedMember.moment(clock, after: latest) else { return tombstone }
        let entry = ClockNode.Entry.known(moment, ValueDigest(of: nil, isObject: false))
        tombstone[Self.memberName] = .object(JSONObject([("", .string(entry.text))]))
        return tombstone
    }

    /// Writes one member as a whole, as if that had been done at a moment: what was changed later stays.
    ///
    /// A member of which it is not known when it was changed gives way: a moment that is known counts more. So does one that
    /// is said to have been changed when it can't have been yet.
    ///
    /// - Parameters:
    ///   - name: The member.
    ///   - value: The value, `nil` to remove it.
    ///   - clock: When it was written.
    ///   - latest: The latest moment that is believed, in milliseconds since 1970.
    package mutating func write(
        _ name: String, _ value: JSON?, at clock: AttributeClock, believing latest: Int64 = AttributeClock.latest
    ) {
        _ = write([(name, value, clock)], believing: latest)
    }

    /// Writes many members, each as ``write(_:_:at:believing:)`` does; the document is put together once.
    ///
    /// - Returns: For each change, in order, what the member is right after it and when that was changed.
    /// - Complexity: O(*n* + *m*) for *n* changes of a document with *m* members.
    package mutating func write(
        _ changes: [(name: String, value: JSON?, moment: AttributeClock)],
        believing latest: Int64 = AttributeClock.latest
    ) -> [(value: JSON?, newest: AttributeClock?)] {
        guard var inside = root.inside else { return changes.map { _ in (nil, nil) } }
        func isKnown(_ member: ClockedMember) -> Bool {
            member.isTrusted && member.newest.map { $0.milliseconds <= latest } ?? true
        }
        let outcomes = changes.map { name, value, moment in
            let written = ClockedMember.written(value, at: moment, depth: 1)
            let known = inside[name].flatMap { isKnown($0) ? $0 : nil } ?? .nothing
            let member = ClockedMember.join([known, written]) ?? written
            inside.set(name, member)
            return (member.value, member.newest)
        }
        root = .object(inside)
        return outcomes
    }
}
