import Foundation
import Settle
import SettleTesting
import Testing

/// Databases that were replaced since the last checkpoint.
@Suite(.timeLimit(.minutes(5)))
struct BackupTests {
    /// A database on disk that can be restored to an earlier state.
    private final class Restorable {
        private let folder: TemporaryFolder
        private let name: String
        private(set) var database: Database

        init(_ name: String) throws {
            folder = try TemporaryFolder()
            self.name = name
            database = try Database.create(folder("\(name).settle"))
        }

        deinit { database.close() }

        var peer: LocalPeer { LocalPeer(database, identity: name) }

        /// Copies the database aside.
        func backUp() throws {
            database.close()
            try? FileManager.default.removeItem(atPath: folder("backup"))
            try FileManager.default.copyItem(atPath: folder("\(name).settle"), toPath: folder("backup"))
            database = try Database.open(folder("\(name).settle"))
        }

        /// Puts the copy in the database's place.
        func restore() throws {
            database.close()
            try FileManager.default.removeItem(atPath: folder("\(name).settle"))
            try FileManager.default.copyItem(atPath: folder("backup"), toPath: folder("\(name).settle"))
            database = try Database.open(folder("\(name).settle"))
        }

        /// Deletes the database and creates an empty one of the same name.
        func remake() throws {
            database.close()
            try FileManager.default.removeItem(atPath: folder("\(name).settle"))
            database = try Database.create(folder("\(name).settle"))
        }
    }

    private func replicate(
        _ source: Restorable, _ target: Restorable
    ) async throws -> ReplicationResult {
        try await OneWayReplicator(ReplicationConfiguration(source: source.peer, target: target.peer)).run()
    }

    private func fill(_ database: Database, _ prefix: String, _ count: Int) throws {
        for number in 0..<count { try database.put(DocumentID(validating: "\(prefix)\(number)"), ["n": 1]) }
    }

    // SEMANTICS 206
    @Test func `a source restored from a backup is read again from the newest common checkpoint`() async throws {
        let (source, target) = (try Restorable("source"), try Restorable("target"))
        try fill(source.database, "a", 10)
        _ = try await replicate(source, target)
        try source.backUp()
        try fill(source.database, "b", 10)
        _ = try await replicate(source, target)
        try source.restore()
        // At least as many new changes as were lost: the position alone does not show the loss.
        try fill(source.database, "c", 15)
        let result = try await replicate(source, target)
        #expect(result.counts.resyncs == 1)
        #expect(result.warnings.map(\.kind) == [.resync])
        #expect(result.counts.changesRead == 15)
        #expect(try target.database.documents().count == 35)
        #expect(try await replicate(source, target).warnings.isEmpty)
    }

    @Test func `a target restored from a backup receives again what it lost`() async throws {
        let (source, target) = (try Restorable("source"), try Restorable("target"))
        try fill(source.database, "a", 10)
        _ = try await replicate(source, target)
        try target.backUp()
        try fill(source.database, "b", 10)
        _ = try await replicate(source, target)
        try target.restore()
        let result = try await replicate(source, target)
        #expect(result.counts.resyncs == 1)
        #expect(result.counts.changesRead == 10)
        try expectSame(source.database, target.database)
    }

    @Test func `a backup older than the first replication starts from the beginning`() async throws {
        let (source, target) = (try Restorable("source"), try Restorable("target"))
        try fill(source.database, "a", 10)
        try target.backUp()
        _ = try await replicate(source, target)
        try target.restore()
        let result = try await replicate(source, target)
        #expect(result.counts.resyncs == 1)
        #expect(result.counts.changesRead == 10)
        try expectSame(source.database, target.database)
    }

    @Test func `a source that was deleted and created again is read from the beginning, with a warning`() async throws {
        let (source, target) = (try Restorable("source"), try Restorable("target"))
        try fill(source.database, "a", 10)
        _ = try await replicate(source, target)
        try source.remake()
        try fill(source.database, "b", 30)
        let result = try await replicate(source, target)
        #expect(result.counts.resyncs == 1)
        #expect(result.warnings.map(\.kind) == [.resync])
        #expect(try target.database.documents().count == 40)
    }

    @Test func `a restored backup is detected while a continuous replication runs`() async throws {
        let (source, target) = (try Restorable("source"), try Kept(TemporaryDatabase(.memory)))
        let database = target.database
        try fill(source.database, "a", 10)
        let switching = SwitchingPeer(source.peer)
        var configuration = ReplicationConfiguration(source: switching, target: LocalPeer(target.database))
        configuration.isContinuous = true
        configuration.checkpointInterval = .milliseconds(1)
        let replicator = OneWayReplicator(configuration)
        let events = replicator.events
        replicator.start()
        await replicator.waits { $0.mode == .idle && $0.counts.changesRead == 10 }
        // The source has the later one of the two logs.
        await waitForCheckpoint(10, in: source.database)
        // An older state with other documents replaces the source, at a position that is not lower.
        let (older, newer) = (try Restorable("source"), source)
        try fill(older.database, "z", 12)
        switching.use(older.peer)
        newer.database.close()
        try await replicator.waits { _ in try database.documents().count == 22 }
        await replicator.stop()
        for await event in events {
            guard case .warning(let warning) = event else { continue }
            #expect(warning.kind == .resync)
            break
        }
        #expect(replicator.status.counts.resyncs == 1)
    }

    private func waitForCheckpoint(_ number: Int64, in database: Database) async {
        await eventually("the checkpoint at \(number) is written") {
            let logs = try await database.perform { try $0.localDocuments() }
            return logs.contains { $0.body["source_last_seq"]?.int == Int(number) }
        }
    }

    @Test func `where one side allows no log, the other side's is trusted, with a warning`() async throws {
        for isSource in [true, false] {
            let (source, target) = (try Restorable("source"), try Restorable("target"))
            let closed = ScriptedPeer(isSource ? source.peer : target.peer)
            closed.tell { script in
                script.always[.writeLog] = PeerError(.forbidden, "read only", status: 403)
            }
            let configuration = ReplicationConfiguration(
                source: isSource ? closed : source.peer, target: isSource ? target.peer : closed)
            try fill(source.database, "a", 10)
            let first = try await OneWayReplicator(configuration).run()
            #expect(first.warnings.map(\.kind) == [.checkpointOnOneSide])
            try fill(source.database, "b", 5)
            let second = try await OneWayReplicator(configuration).run()
            #expect(second.counts.changesRead == 5)
            #expect(second.counts.resyncs == 0)
        }
    }

    @Test func `a source with one log whose position went back is read from the beginning`() async throws {
        let (source, target) = (try Restorable("source"), try Restorable("target"))
        try fill(source.database, "a", 5)
        try source.backUp()
        try fill(source.database, "b", 10)
        func run() async throws -> ReplicationResult {
            let closed = ScriptedPeer(source.peer)
            closed.tell { script in
                script.always = [.writeLog: PeerError(.forbidden, "no"), .readLog: PeerError(.unauthorized, "no")]
            }
            return try await OneWayReplicator(ReplicationConfiguration(source: closed, target: target.peer)).run()
        }
        _ = try await run()
        try source.restore()
        try fill(source.database, "c", 3)
        let result = try await run()
        #expect(result.counts.resyncs == 1)
        #expect(result.counts.changesRead == 8)
        #expect(try target.database.documents().count == 18)
    }
}
