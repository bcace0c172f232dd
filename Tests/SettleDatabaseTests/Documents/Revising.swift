import Foundation
import Settle
import SettleDatabase
import SettlePlatform

/// A history written from its newest revision on: `path("3-c", "b", "a")`.
func path(_ newest: String, _ older: String...) throws -> RevisionHistory {
    let revision = try RevisionID(validating: newest)
    let signatures = try older.map { try RevisionID(validating: "1-\($0)").signature }
    return try RevisionHistory(start: revision.generation, signatures: [revision.signature] + signatures)
}

/// A revision as a peer would send it.
func peer(
    _ id: DocumentID, _ history: RevisionHistory, _ body: DocumentBody = .empty, isDeleted: Bool = false,
    attachments: [DocumentAttachment] = []
) -> ReplicatedRevision {
    ReplicatedRevision(id: id, history: history, isDeleted: isDeleted, body: body, attachments: attachments)
}

/// The code of the error a closure throws; `nil` when it throws none.
func code(_ body: () throws -> some Any) -> DatabaseErrorCode? {
    do { _ = try body() } catch { return (error as? DatabaseError)?.code ?? DatabaseErrorCode.unexpected }
    return nil
}

extension DatabaseErrorCode {
    /// Stands for an error that is not the database's.
    static let unexpected = DatabaseError(.storage, "").code
}

extension ReplicatedRevision.Outcome {
    /// The outcome in one word.
    var word: String {
        switch self {
        case .stored: "stored"
        case .known: "known"
        case .refused(let error): error.code.name
        }
    }
}

extension Database {
    /// Saves a new document or fails.
    @discardableResult
    func add(_ id: DocumentID, _ body: DocumentBody = ["v": 1]) throws -> Document {
        try save(Document(id: id, body: body), onConflict: .fail)
    }

    /// Saves the stored document with one member changed.
    @discardableResult
    func set(_ id: DocumentID, _ name: String, _ value: JSONValue) throws -> Document {
        var document = try document(id) ?? Document(id: id)
        document[name] = value
        return try save(document, onConflict: .fail)
    }

    /// What is wrong with the database.
    func problems() throws -> [String] { try verify().problems }

    /// A document's winner and leaves in text.
    func leafNames(_ id: DocumentID) throws -> [String] {
        try leaves(of: id).map { $0.revision?.description ?? "-" }
    }
}

/// Collects values from several threads.
final class Log<Element: Sendable>: Sendable {
    private let kept = Guarded<[Element]>([])
    var values: [Element] { kept.withLock { $0 } }
    func add(_ element: Element) { kept.withLock { $0.append(element) } }

    /// The values so far, which are forgotten.
    func take() -> [Element] {
        kept.withLock { values in
            defer { values = [] }
            return values
        }
    }
}

/// Runs a closure on a number of threads at once and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(number)
            group.leave()
        }
    }
    group.wait()
}

/// An error that is not the database's own.
struct Nonsense: Error, Equatable {}
