import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

/// How automatic settling waits and ends.
@Suite struct SettlingEndTests {
    @Test(.timeLimit(.minutes(5)))
    func `a deletion learnt of a known tombstone is settled before settling is idle`() async throws {
        let database = try Database.plain(options: .quiet)
        var tombstone = try peer("d", path("3-t", "x", "a"), isDeleted: true)
        try database.insertReplicated([peer("d", path("2-b", "a"), ["v": 1]), tombstone])
        let settling = database.settleAutomatically(using: .deletesWin)
        try await settling.idle()
        tombstone.isDeletionAtSource = true
        try database.insertReplicated([tombstone])
        #expect(try database.conflictedDocumentIDs(.deletion) == ["d"])
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs(.deletion) == [])
        await settling.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `idle throws when its task is cancelled`() async throws {
        let database = try Database.plain(options: .quiet)
        try database.makeConflict("d")
        let never = Barrier(count: 2)
        let settling = database.settleAutomatically(
            using: .asking("a person who is out") { _ in
                await never.pass()
                return .leaveConflicted
            })
        let waiting = Task { try await settling.idle() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await settling.stop()
        await never.open()
    }

    @Test(.timeLimit(.minutes(5)))
    func `settling waits while the database is suspended, and goes on when it is resumed`() async throws {
        let temporary = try TemporaryDatabase(.file, options: .quiet)
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
        let seen = Seen()
        let settling = database.settleAutomatically(
            using: .custom("suspends once") { conflict in
                seen.note(conflict.documentID.string)
                if seen.all.count == 1 { try database.suspend() }
                return .document(conflict.winner)
            }, atOnce: 1)
        await eventually("the database is suspended") { database.isSuspended }
        let waiting = Task { try await settling.idle() }
        // Settling that ends shows it meanwhile.
        for _ in 0..<50 { await Task.yield() }
        try database.resume()
        try await waiting.value
        #expect(try database.conflictedDocumentIDs() == [])
        // If the policy's thread stands still, the write comes only after the database is resumed, and succeeds.
        #expect([["a", "a", "b"], ["a", "b"]].contains(seen.all.sorted()))
        try database.makeConflict("c")
        try await settling.idle()
        #expect(try database.conflictedDocumentIDs() == [])
        await settling.stop()
        for await event in settling.events {
            if case .ended(let error) = event { Issue.record("settling ended: \(error)") }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `idle throws the error with which settling ended`() async throws {
        let database = try Database.plain(options: .quiet)
        try database.makeConflict("d")
        let gate = Barrier(count: 2)
        let settling = database.settleAutomatically(
            using: .asking("closes the database") { conflict in
                await gate.pass()
                database.close()
                return .document(conflict.winner)
            })
        let waiting = Task { try await settling.idle() }
        // Usually enough for the call to wait for the policy.
        for _ in 0..<50 { await Task.yield() }
        await gate.open()
        let error = await #expect(throws: DatabaseError.self) { try await waiting.value }
        #expect(error?.code == .closed)
        await settling.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a second stop waits too`() async throws {
        let database = try Database.plain(options: .quiet)
        try database.makeConflict("d")
        let (seen, goOn) = (Seen(), DispatchSemaphore(value: 0))
        let settling = database.settleAutomatically(
            using: .custom("slow") { conflict in
                seen.note("begun")
                goOn.wait()
                seen.note("done")
                return .document(conflict.winner)
            })
        await eventually("the policy is called") { !seen.all.isEmpty }
        let stops = (0..<2).map { _ in
            Task {
                await settling.stop()
                seen.note("stopped")
            }
        }
        // The policy returns only after a call that does not wait would have returned, unless the machine is busy.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { goOn.signal() }
        for stop in stops { await stop.value }
        #expect(seen.all == ["begun", "done", "stopped", "stopped"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `a resolver that waits for a person does not block other documents`() async throws {
        let database = try Database.plain(options: .quiet)
        for id: DocumentID in ["a", "b"] { try database.makeConflict(id) }
        let never = Barrier(count: 2)
        let settling = database.settleAutomatically(
            using: .asking("thinks long over a") { conflict in
                if conflict.documentID == "a" { await never.pass() }
                return .document(conflict.winner)
            })
        for await event in settling.events {
            guard case .settled(let settlement) = event else { continue }
            #expect(settlement.documentID == "b")
            break
        }
        #expect(try database.conflictedDocumentIDs() == ["a"])
        await settling.stop()
        await never.open()
    }
}
