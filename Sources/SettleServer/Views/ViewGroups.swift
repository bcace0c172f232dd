internal import SettleDatabase
internal import SettlePlatform

/// The views of a database's design documents that were asked lately, kept as long as no design document changes.
final class ViewGroups: Sendable {
    private struct State {
        var age: UInt64?
        var scripts: Scripts?
        var groups: [String: ViewGroup] = [:]
    }

    private let state = Guarded(State())
    /// How many are kept.
    private static let most = 16

    private init() {}

    /// The views of a design document if they are kept, whatever runs their scripts.
    static func known(_ design: String, of source: any DocumentSource) -> ViewGroup? {
        let age = source.designEpoch
        return source.known(ViewGroups.self)?.state.withLock { $0.age == age ? $0.groups[design] : nil }
    }

    /// The views of a design document.
    ///
    /// - Throws: ``HTTPError`` when there is no such design document, or it has no views that can be run.
    static func group(_ design: String, of database: Database, by scripts: Scripts) throws -> ViewGroup {
        let own = database.companion(ViewGroups.self) { ViewGroups() }
        // Taken before it is read: what is written meanwhile makes it old.
        let age = database.designEpoch
        let known = own.state.withLock { $0.age == age && $0.scripts === scripts ? $0.groups[design] : nil }
        if let known { return known }
        let made = try ViewGroup(DesignDocuments.document(design, of: database), of: database, by: scripts)
        own.state.withLock { state in
            if state.age != age || state.scripts !== scripts || state.groups.count >= most {
                state = State(age: age, scripts: scripts)
            }
            state.groups[design] = made
        }
        return made
    }
}
