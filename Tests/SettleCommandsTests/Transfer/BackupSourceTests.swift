import Foundation
import Settle
import Testing

@testable import SettleCommands
@testable import SettleServer

/// What a backup reads, while databases are deleted.
@Suite(.timeLimit(.minutes(5))) struct BackupSourceTests {
    private let remote: RemoteRoom
    private let missing = CommandError.notFound("a part is missing")

    init() throws { remote = try RemoteRoom() }

    private func source(_ place: String) throws -> BackupSource {
        try BackupSource(
            place,
            Invocation(
                arguments: Arguments(verb: "backup"), console: Console(isJSON: true, isQuiet: true), session: nil,
                runLine: { _, _ in .success }))
    }

    @Test func `a database of a server in which something is missing is not one that was deleted`() throws {
        try remote.run("create", remote.url("db"))
        let source = try source(remote.url(""))
        #expect(throws: CommandError.self) {
            try source.withDatabase("db") { _ -> Int in throw missing }
        }
        let outcome = try source.withDatabase("db") { _ -> Int in
            try remote.server.state.databases.delete("db")
            throw missing
        }
        #expect(outcome == nil)
    }

    @Test func `a database of a folder in which something is missing is not one that was deleted`() throws {
        let room = remote.room
        try room.write("", into: "data/.keep")
        try room.run("create", "data/db.settle")
        let source = try source(room.path("data"))
        #expect(throws: CommandError.self) {
            try source.withDatabase("db") { _ -> Int in throw missing }
        }
        let outcome = try source.withDatabase("db") { _ -> Int in
            try FileManager.default.removeItem(atPath: room.path("data/db.settle"))
            throw missing
        }
        #expect(outcome == nil)
        #expect(try source.withDatabase("never") { _ in 1 } == nil)
    }
}
