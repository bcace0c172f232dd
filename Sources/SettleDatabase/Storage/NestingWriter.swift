/// A writer in whose write other writes and parts nest. Engines differ in how a part begins and ends, and the rules are here:
///
///     whole    a write, or a part     fails if a write inside it has failed half way
///     joined   a write inside it      shares its fate: a change before the failure fails the whole
///     part     a part of it           fails alone, and its changes and actions are undone
package protocol NestingWriter: StorageWriter, AnyObject {
    /// What the storage needs to end a part.
    associatedtype Part

    /// The state of the write in which others nest.
    var nesting: WriteNesting { get set }

    /// Throws if the storage has undone the transaction.
    func checkTransaction() throws

    /// Begins a part.
    func beginPart() throws -> Part

    /// Ends a part whose changes stay.
    func keepPart(_ part: Part) throws

    /// Ends a part that has failed with an error, and undoes its changes.
    func undoPart(_ part: Part, after error: any Error)
}

/// The state of a write in which others nest.
package struct WriteNesting {
    /// The number of changes that were begun. Contents of attachments do not count: without a document they are harmless.
    package var changes = 0
    /// The error with which the open write or part is going to fail, although its closure may continue.
    fileprivate(set) var failure: (any Error)?
    /// The actions to run after the commit.
    package private(set) var actions: [@Sendable () -> Void] = []

    package init() {}

    /// Removes the actions to run, after the commit.
    mutating func dequeueActions() -> [@Sendable () -> Void] {
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// Forgets all actions but the first ones, after the rest was rolled back.
    mutating func forgetActions(after count: Int) { actions.removeSubrange(min(count, actions.count)...) }

    fileprivate mutating func append(_ action: @escaping @Sendable () -> Void) { actions.append(action) }
}

extension NestingWriter {
    package func afterCommit(_ action: @escaping @Sendable () -> Void) { nesting.append(action) }

    /// Runs a closure that makes all changes of a write so far.
    package func whole<Result>(_ body: () throws -> Result) throws -> Result {
        nesting.failure = nil
        let result = try body()
        if let failure = nesting.failure { throw failure }
        try checkTransaction()
        return result
    }

    /// Runs the closure of a write inside another write.
    @inline(__always)
    package func joined<Result>(_ body: () throws -> Result) throws -> Result {
        try checkTransaction()
        let before = nesting.changes
        do { return try body() } catch {
            if nesting.changes != before, nesting.failure == nil { nesting.failure = error }
            throw error
        }
    }

    package func part<Result>(_ body: () throws -> Result) throws -> Result {
        let (outer, changes, actions) = (nesting.failure, nesting.changes, nesting.actions.count)
        defer { nesting.failure = outer }
        try checkTransaction()
        let part = try beginPart()
        do {
            let result = try whole(body)
            try keepPart(part)
            return result
        } catch {
            undoPart(part, after: error)
            nesting.changes = changes
            nesting.forgetActions(after: actions)
            throw error
        }
    }
}
