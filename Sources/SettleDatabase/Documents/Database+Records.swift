package import SettleCore
internal import SettlePlatform

extension Database {
    /// A document with its whole tree, its sequence, and the winner's content, as far as it is readable; `nil` if it was
    /// never written or was purged. A damaged document has its ``DocumentRecord/damage``, and is reported to the app.
    package func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        try engine.read { try $0.storedRecord(of: id, withContent: withContent) }.flatMap { noting([$0]).first }
    }

    /// Documents in the byte order of their ids, including deleted ones, at most `limit`. Damaged ones have their
    /// ``DocumentRecord/damage``, and are reported to the app.
    package func records(in range: DocumentRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        noting(try engine.read { try $0.records(in: range, limit: limit, withContent: withContent) })
    }

    /// The id of a document by its place among the live ones of a range, in the range's order and from 0; `nil` past the last.
    package func liveID(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        try engine.snapshot { try $0.liveID(at: place, in: range) }
    }

    /// Documents in the order of their last changes, at most `limit`; damaged ones as above.
    package func records(
        changedIn range: SequenceRange, limit: Int, withContent: Bool
    ) throws -> [DocumentRecord] {
        noting(try engine.read { try $0.records(changedIn: range, limit: limit, withContent: withContent) })
    }

    /// How many documents there are.
    package func counts() throws -> DocumentCounts { try engine.snapshot { try $0.counts() } }

    /// How many documents of a range are not deleted.
    package func countLive(in range: DocumentRange = DocumentRange()) throws -> Int {
        try engine.snapshot { try $0.count(.live(range)) }
    }

    /// How many documents were changed in a range.
    package func count(changedIn range: SequenceRange) throws -> Int {
        try engine.snapshot { try $0.count(.changes(range)) }
    }

    /// A setting by name; `nil` if it was never set.
    package func setting(_ name: String) throws -> String? { try engine.read { try $0.setting(name) } }

    /// An epoch that changes before and after every ``setSetting(_:to:)``; read it before the setting, and use it as a cache
    /// key. A change inside a transaction counts when it is made, so cache only settings that are never set within one.
    package var settingsEpoch: UInt64 {
        seeOthers()
        return settingsChanges.age
    }

    /// An epoch that changes with every commit of a design document, before its writer returns; read it before the design
    /// documents, and use it as a cache key.
    package var designEpoch: UInt64 {
        seeOthers()
        return designChanges.age
    }

    /// The newest commit, published before its writer is notified; `nil` inside a transaction of this thread, which
    /// sees more than the commit.
    ///
    /// Read it before the data, and use it as a cache key: a result from a state that includes its sequence stays valid
    /// while this stays the same.
    package var newestCommit: Commit? {
        seeOthers()
        return engine.isWriting ? nil : newest.withLock { $0 }
    }

    /// Notices what other processes have written. What is kept in memory counts as old when that can't be found out.
    private func seeOthers() {
        do {
            try whileOpen {}
            if !engine.isWriting { try engine.refresh() }
        } catch {
            guard engine.isShared else { return }
            settingsChanges.note()
            designChanges.note()
            designChanges.commit()
            newest.withLock { $0.follow($0.sequence) }
        }
    }

    /// Sets or clears a setting.
    package func setSetting(_ name: String, to value: String?) throws {
        settingsChanges.step()
        defer { settingsChanges.step() }
        try engine.commit { try $0.setSetting(name, to: value) }
    }

    /// Whether the database was closed or deleted.
    package var isClosed: Bool { notifier.isFinished }

    /// Calls a closure once: on the committing thread, as soon as something after a sequence is committed, so it must
    /// return quickly; or with false if the database is closed or the call is cancelled.
    package func notify(after seen: UpdateSequence, _ body: @escaping @Sendable (Bool) -> Void) -> Int {
        notifier.notify(after: seen, body)
    }

    /// The position of the newest change by this process since the database was opened, 0 before the first; it is in memory.
    package var newestOwnChange: UpdateSequence { ownNotifier.newest }

    /// Calls a closure like ``notify(after:_:)``, but for changes by this process alone where others write, too.
    package func notifyOfOwnChange(after seen: UpdateSequence, _ body: @escaping @Sendable (Bool) -> Void) -> Int {
        ownNotifier.notify(after: seen, body)
    }

    /// Waits for a commit after a sequence; false if the database is closed or the task is cancelled.
    package func waitForChange(after seen: UpdateSequence) async -> Bool { await notifier.wait(after: seen) }

    /// Cancels a notification, by the number that registering it returned.
    package func cancelNotice(_ number: Int) { notifier.cancel(number) }

    /// Writes a local document with a revision of the caller's choice.
    package func put(_ document: LocalDocument) throws { try engine.commit { try $0.put(document) } }
}
