internal import Dispatch
internal import SettleCore
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Database {
    /// Sets the date at which a document will be purged, or removes it.
    ///
    /// At that time, or as soon as the database is open again, the document is purged here with all its revisions;
    /// the purge does not replicate (see ``purge(_:)``). Dates are rounded to milliseconds.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` if the document does not exist, `invalid` for an invalid
    ///   date.
    public func setExpiration(of id: some DocumentIDConvertible, at date: Date?) throws {
        let id = try id.ofDocument()
        if date?.timeIntervalSince1970.isNaN == true {
            throw DatabaseError(.invalid, "the expiration date is not a number")
        }
        try engine.commit { writer in
            guard try writer.storedRecord(of: id, withContent: false) != nil else {
                throw DatabaseError(.notFound, "there is no document \"\(id)\" to expire")
            }
            try writer.setExpiration(date.map(\.milliseconds), of: id)
        }
        try scheduleExpiration()
    }

    /// The date at which a document will be purged, or `nil`.
    public func expiration(of id: some DocumentIDConvertible) throws -> Date? {
        let id = try id.ofDocument()
        return try engine.read { try $0.expiration(of: id) }.map { Date(milliseconds: $0) }
    }

    /// Purges the documents whose time has come. While the database is open, this happens automatically.
    ///
    /// - Parameter date: The time to compare with; now by default.
    /// - Returns: The number of documents that were purged.
    /// - Throws: ``DatabaseError`` of the storage.
    @discardableResult
    public func purgeExpired(at date: Date = Date()) throws -> Int {
        let due = date.milliseconds
        guard try !engine.read({ try $0.expirations(through: due, limit: 1) }).isEmpty else { return 0 }
        var purged = 0
        var previous: DocumentID?
        while true {
            let (first, count) = try transaction { () -> (DocumentID?, Int) in
                // The dates are read in the transaction. One may have been postponed meanwhile, and other reads inside
                // of a snapshot still see the documents that were purged.
                let ids = try engine.read { try $0.expirations(through: due, limit: 500) }.map(\.id)
                // Purged documents must be gone from the index; otherwise this loop would never end.
                if let first = ids.first, first == previous {
                    throw DatabaseError(.corrupt, "the index of expirations is damaged")
                }
                let still = try ids.filter { id in
                    try engine.read { try $0.expiration(of: id) }.map { $0 <= due } ?? false
                }
                for id in still {
                    try purge(id)
                    try engine.commit { try $0.setExpiration(nil, of: id) }
                }
                return (ids.first, still.count)
            }
            guard let first else { return purged }
            purged += count
            previous = first
        }
    }

    /// Sets the timer for the next document that expires. The timer may fire without need, which is harmless. It is
    /// never cancelled here, since the date may have been read in a transaction that fails later.
    func scheduleExpiration() throws {
        guard let next = try engine.read({ try $0.expirations(through: .max, limit: 1) }).first?.time else { return }
        let bounded = min(max(next, 0), 9_000_000_000_000_000)
        expirations.set(for: bounded, now: Date().milliseconds) { [weak self] in self?.expire() }
    }

    /// Purges expired documents and sets the timer again; after a failure, it retries in a minute.
    private func expire() {
        do {
            try purgeExpired()
            try scheduleExpiration()
        } catch let error as DatabaseError where [.closed, .suspended].contains(error.code) {
            // A database that is resumed looks again.
        } catch {
            warn("documents that expired could not be purged: \(error)")
            let now = Date().milliseconds
            expirations.set(for: now + 60_000, now: now) { [weak self] in self?.expire() }
        }
    }
}

// MARK: - ExpirationTimer

/// Calls a closure at the time the next document expires.
final class ExpirationTimer: Sendable {
    private struct Pending {
        var number = 0
        /// The time at which the timer fires, by the system's clock; `nil` if it is not set.
        var time: Int64?
    }

    private let pending = Guarded(Pending())
    /// The longest delay in milliseconds. For a later time, the timer is set again after this delay.
    private static let longest: Int64 = 24 * 3_600_000

    /// Sets a time in milliseconds since 1970, if no earlier one is set.
    ///
    /// The timer goes by the system's clock, which may be put forward or back, and goes on while the device sleeps.
    func set(for time: Int64, now: Int64, _ action: @escaping @Sendable () -> Void) {
        let delay = min(max(time - now, 0), Self.longest)
        let end = Date().milliseconds + delay
        let number: Int? = pending.withLock { pending in
            if let earlier = pending.time, earlier <= end { return nil }
            pending.number += 1
            pending.time = end
            return pending.number
        }
        guard let number else { return }
        let deadline = DispatchWallTime.now() + .milliseconds(Int(delay))
        DispatchQueue.global(qos: .utility).asyncAfter(wallDeadline: deadline) { [weak self] in
            if self?.fires(number) == true { action() }
        }
    }

    /// Cancels the timer.
    func cancel() {
        pending.withLock { pending in
            pending.number += 1
            pending.time = nil
        }
    }

    /// Whether a number is that of the last timer.
    private func fires(_ number: Int) -> Bool {
        pending.withLock { pending in
            guard pending.number == number else { return false }
            pending.time = nil
            return true
        }
    }
}
