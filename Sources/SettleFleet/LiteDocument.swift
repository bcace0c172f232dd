internal import SettleCore

/// A document in a database of LiteCore, including what the replicator knows of the server's revision.
protocol LiteDocument {
    /// The revision that the app sees.
    var current: LiteRevision { get }
    /// The server's revision in an open conflict.
    var conflict: LiteRevision? { get }
    /// Whether LiteCore has compared a revision id from before an upgrade with the server's. It compares such ids
    /// by generation and digest, as if there were no branches, and treats later revisions as conflicts. So an edit
    /// may replace another one or be replaced, a deletion may not arrive, and LiteCore may fail to look up its
    /// record. No server can fix that.
    var isConfused: Bool { get }

    /// Saves new content, like the app.
    mutating func edit(_ body: JSONObject, isDeleted: Bool, _ clock: inout LiteClock)

    /// The proposal in `proposeChanges`: its revision, and the server's revision that it knows; `nil` if the server
    /// has the revision.
    var proposal: LiteProposal? { get }
    /// Whether the current revision descends from one that the server has named.
    func descends(from text: String) -> Bool
    /// The properties of the message `rev`.
    func properties(known: String?, maxHistory: Int) -> [String: String]
    /// Records that the server has the current revision.
    mutating func markSynced()

    /// Whether to request a revision that the server offers.
    ///
    /// - Throws: ``LiteFault`` if LiteCore can't read its own record.
    func verdict(on name: String) throws -> LiteVerdict
    /// Records that a revision, which is here, is the server's. The replicator may have pushed the current one without a record of it.
    mutating func setRemote(_ name: String, isPushed: Bool)
    /// Stores a revision of the server.
    ///
    /// - Throws: ``LiteFault`` if LiteCore does not accept the revision.
    mutating func insert(_ pulled: LitePull, _ clock: inout LiteClock) throws
    /// Ends the conflict.
    mutating func resolve(_ resolver: LiteResolver, _ clock: inout LiteClock)
}

/// The content of a revision, and its name.
struct LiteRevision {
    var name: String
    var body: JSONObject
    var isDeleted: Bool
}

/// A row of `proposeChanges`.
struct LiteProposal: Equatable {
    let name: String
    var known: String?
}

/// LiteCore's answer to a row of `changes`.
enum LiteVerdict {
    /// It has the revision, or a newer one. The value says whether it knows that the server has it too.
    case known(isMarked: Bool)
    /// It requests the revision, and has these ancestors.
    case wanted([String])
}

/// A message `rev` of the server.
struct LitePull {
    let name: String
    let history: String
    let isDeleted: Bool
    let body: JSONObject
}

/// An error inside LiteCore.
struct LiteFault: Error {
    let domain: String
    let code: Int
    let message: String
}
