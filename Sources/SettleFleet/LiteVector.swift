internal import SettleDatabase
internal import SettleMobile
internal import SettlePlatform

/// The relation of two states of a document.
enum LiteOrder: Int {
    case same = 0
    case older = 1
    case newer = 2
    case conflicting = 3

    init(isNewer: Bool, isOlder: Bool) {
        self =
            switch (isNewer, isOlder) {
            case (false, false): .same
            case (false, true): .older
            case (true, false): .newer
            case (true, true): .conflicting
            }
    }
}

/// A version vector in LiteCore's form: the current version, the versions that it has merged, and older ones.
///
///     18eb…@anna, 18ea…@bert, 18e9…@carl; 18e0…@dora
///     └── current └── merged by the current one  └── older
struct LiteVector: Hashable {
    private(set) var versions: [DocumentVersion]
    /// The number of first versions that are the current one and those that it has merged.
    private(set) var currents: Int

    init(_ version: DocumentVersion) { (versions, currents) = ([version], 1) }

    private init(_ versions: [DocumentVersion], currents: Int) { (self.versions, self.currents) = (versions, currents) }

    /// Parses a vector; without a semicolon all versions are current ones. `nil` for other text.
    init?(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.split(separator: ",").map { String($0).trimmingBlanks() }.filter { !$0.isEmpty }
                .map { DocumentVersion($0) }
        }
        let all = parts.flatMap(\.self)
        let known = all.compactMap(\.self)
        guard parts.count <= 2, known.count == all.count, !known.isEmpty else { return nil }
        self.init(known, currents: parts.count == 2 ? parts[0].count : known.count)
    }

    var current: DocumentVersion { versions[0] }

    /// The versions that the current one has merged, latest first.
    private var merged: [DocumentVersion] { Self.sorted(versions[1..<currents]) }

    /// The text, which the properties `rev` and `history` of a message contain together.
    var text: String {
        let (first, rest) = (versions[..<currents].map(\.description), versions[currents...].map(\.description))
        let head = first.joined(separator: ", ")
        if rest.isEmpty { return currents > 1 ? head + ";" : head }
        return head + "; " + rest.joined(separator: ", ")
    }

    /// Whether older versions follow in the text.
    var hasOlder: Bool { currents < versions.count }

    func time(of source: DocumentVersion.Source) -> UInt64? { versions.first { $0.source == source }?.time }

    /// The relation of this vector to a single version.
    private func order(to version: DocumentVersion) -> LiteOrder {
        guard let index = versions.firstIndex(where: { $0.source == version.source }),
            versions[index].time >= version.time
        else { return .older }
        return versions[index].time == version.time && index == 0 ? .same : .newer
    }

    /// The relation of this vector to another one. Only the current versions count.
    func order(to other: LiteVector) -> LiteOrder {
        let mine = order(to: other.current)
        if mine == .same { return .same }
        return other.order(to: current) == mine ? .conflicting : mine
    }

    /// Whether both have merged the same versions, so that equal contents are the same revision.
    func mergesSame(as other: LiteVector) -> Bool {
        currents > 1 && other.currents > 1 && merged == other.merged
    }

    func sharesVersion(with other: LiteVector) -> Bool { !Set(versions).isDisjoint(with: other.versions) }

    /// Adds a version at the front; merged versions become older ones.
    mutating func add(_ version: DocumentVersion) {
        let last = current.source
        let rest = versions.enumerated().filter { index, known in
            known.source != version.source && (index == 0 || known.source != last)
        }
        self = LiteVector([version] + rest.map(\.element), currents: 1)
    }

    /// A new version that has merged the current ones of two vectors.
    static func merge(_ first: LiteVector, _ second: LiteVector, _ version: DocumentVersion) -> LiteVector {
        let merged = sorted([first.current, second.current])
        let known = Set([version, first.current, second.current].map(\.source))
        let others = newest(first, second).filter { !known.contains($0.source) }
        return LiteVector([version] + merged + sorted(others), currents: 3)
    }

    /// The winner's version, including everything that both have seen. No new version is made.
    static func trivialMerge(winner: LiteVector, loser: LiteVector) -> LiteVector {
        let all = newest(winner, loser)
        func latest(of source: DocumentVersion.Source) -> DocumentVersion? { all.first { $0.source == source } }
        var kept = Array(winner.versions[..<winner.currents])
        let isKept = kept.enumerated().allSatisfy { index, version in
            index > 0 && version.source == winner.current.source
                || version.time >= latest(of: version.source)?.time ?? 0
        }
        if kept.count == 1 || !isKept { kept = [latest(of: winner.current.source) ?? winner.current] }
        let sources = Set(kept.map(\.source))
        return LiteVector(kept + sorted(all.filter { !sources.contains($0.source) }), currents: kept.count)
    }

    /// The latest version of each source.
    private static func newest(_ first: LiteVector, _ second: LiteVector) -> [DocumentVersion] {
        let versions = first.versions + second.versions
        return Dictionary(versions.map { ($0.source, $0.time) }, uniquingKeysWith: max)
            .map { DocumentVersion(time: $0.value, source: $0.key) }
    }

    private static func sorted(_ versions: some Collection<DocumentVersion>) -> [DocumentVersion] {
        versions.sorted { $0.time == $1.time ? $0.description < $1.description : $0.time > $1.time }
    }
}

/// A hybrid clock: later than every time that it has seen.
struct LiteClock {
    let source: DocumentVersion.Source
    private var last: UInt64

    /// - Parameters:
    ///   - name: 16 bytes.
    ///   - start: The initial time.
    init?(name: [UInt8], start: UInt64) {
        let text = String(Base64.encode(name).dropLast(2))
        guard let version = DocumentVersion("1000000000000000@" + text) else { return nil }
        (source, last) = (version.source, start)
    }

    /// Records the versions of a vector as seen.
    mutating func see(_ vector: LiteVector) {
        for version in vector.versions where version.source != .tree { last = max(last, version.time) }
    }

    /// Advances, like a wall clock.
    mutating func advance(to time: UInt64) { last = max(last, time) }

    /// The next version of this device.
    mutating func next() -> DocumentVersion {
        last = (last & ~0xFFFF) + 0x1_0000
        return DocumentVersion(time: last, source: source)
    }
}
