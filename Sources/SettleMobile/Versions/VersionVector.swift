package import SettleCore
internal import SettlePlatform

/// What a version of a document has seen: for each source the time of its latest version, and behind these the ids of a tree
/// from before the first version.
///
///     18eb55accfe80001@aYzo…ZA; 3039e0c8012@Revision+Tree+Encoding, 3-9e0c80…, 2-44e1…
///     └── current version        └── others, merged or older             └── ids of a tree, the newest first
package struct VersionVector: Hashable, Sendable {
    /// The version itself; `nil` if the document has ids of a tree alone.
    package let current: DocumentVersion?
    /// The latest time of each source, that of the current version among them.
    private let times: [DocumentVersion.Source: UInt64]
    /// The ids of a tree, the newest first.
    package let legacy: [RevisionID]

    package init(
        current: DocumentVersion?, others: [DocumentVersion.Source: UInt64], legacy: [RevisionID]
    ) {
        var times = others
        if let current { times[current.source] = max(current.time, times[current.source] ?? 0) }
        (self.current, self.times, self.legacy) = (current, times, legacy)
    }

    /// Parses the properties `rev` and `history` of a message, or a text with both.
    ///
    /// - Returns: `nil` if one of them is neither a version nor an id of a tree, if a version stands behind an id, or if the
    ///   current version is not the latest of its source.
    package init?(_ revision: String, history: String = "") {
        let parts = "\(revision),\(history)".split { $0 == "," || $0 == ";" }
            .map { String($0).trimmingBlanks() }.filter { !$0.isEmpty }
        let versions = parts.prefix { $0.utf8.contains(UInt8(ascii: "@")) }.map { DocumentVersion($0) }
        let ids = parts.dropFirst(versions.count).map { RevisionID($0) }
        guard !parts.isEmpty, versions.count <= 1000, versions.allSatisfy({ $0 != nil }), ids.allSatisfy({ $0 != nil })
        else { return nil }
        let known = versions.compactMap(\.self)
        guard known.allSatisfy({ $0.source != known[0].source || $0.time <= known[0].time }) else { return nil }
        self.init(
            current: known.first, others: Dictionary(known.map { ($0.source, $0.time) }, uniquingKeysWith: max),
            legacy: ids.compactMap(\.self))
    }

    /// Whether this vector has seen the current version of another one, or a later one of its source.
    ///
    /// Couchbase Lite compares vectors so, too, and pulls no revision whose current version it has seen. Other sources do not
    /// count: after a push a device knows no more of the server's state than the version that it has pushed.
    package func covers(_ other: VersionVector) -> Bool {
        guard let version = other.current ?? other.legacy.first.map({ DocumentVersion($0) }) else { return true }
        return version.time <= allTimes[version.source] ?? 0
    }

    /// Whether the latest version that this vector has seen of a revision's source is the revision.
    package func hasSeenLast(_ revision: RevisionID) -> Bool {
        let version = DocumentVersion(revision)
        return times[version.source] == version.time || legacy.contains(revision)
    }

    /// Whether this vector has certainly seen a revision. For a version of a device, the time of that device decides. For an
    /// id of a tree, the vector must contain the id itself, since a later id may belong to another branch.
    package func hasSeen(_ revision: RevisionID) -> Bool {
        let version = DocumentVersion(revision)
        guard version.source == .tree else { return version.time <= times[version.source] ?? 0 }
        return version.time == times[.tree] || legacy.contains(revision)
    }

    /// The times, with the newest id of a tree as a version. A device that calls a version by such an id has seen that version.
    private var allTimes: [DocumentVersion.Source: UInt64] {
        guard let newest = legacy.first.map({ DocumentVersion($0) }) else { return times }
        return times.merging([newest.source: newest.time], uniquingKeysWith: max)
    }

    /// The property `rev`: the current version, or the newest id.
    package var revision: String { current?.description ?? legacy.first?.description ?? "" }

    /// How many versions the property `history` names at most. Couchbase Lite refuses properties of more than 102,400 bytes.
    private static let mostVersions = 999

    /// The property `history`: the other versions, the latest first, and the ids behind them.
    ///
    /// - Parameter ids: The maximum number of ids in the text. A device that has the document under an id of a tree finds its
    ///   own state among these ancestors. Other devices would report a conflict, so they get no ids.
    /// - Returns: The text; empty if there is nothing but the current version.
    package func history(ids: Int) -> String {
        let others = times.filter { $0.key != current?.source }.map { DocumentVersion(time: $0.value, source: $0.key) }
            .sorted { $0.time == $1.time ? $0.description < $1.description : $0.time > $1.time }
            .prefix(Self.mostVersions)
        let behind = (current == nil ? legacy.dropFirst() : legacy[...]).prefix(ids)
        return (others.map(\.description) + behind.map(\.description)).joined(separator: ",")
    }

    /// The versions in one text.
    package var text: String {
        let history = history(ids: 0)
        return history.isEmpty ? revision : "\(revision); \(history)"
    }
}
