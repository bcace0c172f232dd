/// A parser that is fed with unexpected bytes. It throws if a law is violated; the fuzzer detects everything else, above
/// all crashes.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// JSON text read as a document.
    case document
    /// A packed revision tree.
    case tree
    /// Ids of documents and revisions.
    case identifier
    /// Blocks, logs and batches of LevelDB, and compressed bytes.
    case level
    /// Terms of Erlang and trees of PouchDB.
    case terms
    /// A document with clocks.
    case clocks
    /// The file of a database.
    case file
    /// Frames and messages of Couchbase Mobile's protocol.
    case mobile
    /// Values, trees and version vectors of Couchbase Lite's files.
    case fleece

    /// Runs the target on an input.
    public func run(_ bytes: [UInt8]) throws {
        switch self {
        case .document: try DocumentTarget.run(bytes)
        case .tree: try TreeTarget.run(bytes)
        case .identifier: try IdentifierTarget.run(bytes)
        case .level: try LevelTarget.run(bytes)
        case .terms: try TermTarget.run(bytes)
        case .clocks: try ClockTarget.run(bytes)
        case .file: try FileTarget.shared.run(bytes)
        case .mobile: try MobileTarget.run(bytes)
        case .fleece: try FleeceTarget.run(bytes)
        }
    }
}

/// Throws unless a law holds.
func require(_ holds: Bool, _ law: @autoclosure () -> String) throws {
    if !holds { throw FuzzFailure(law()) }
}
