import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A real `settle serve` that is killed: the replications of its documents resume when it is started again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KilledReplicatorTests {
    @Test func `a continuous replication resumes after kill -9, a completed one does not start again`() async throws {
        let (folder, far) = (try TemporaryFolder(), try LiveServer())
        for name in ["on", "once"] { #expect(try await far.ask("PUT", "/\(name)").status == 201) }
        var near = try ServedFolder.restartable(folder)
        #expect(try near.ask("PUT", "/a").hasPrefix("HTTP/1.1 201"))
        #expect(try near.ask("PUT", "/a/x", "{}").hasPrefix("HTTP/1.1 201"))
        for (name, isContinuous) in [("on", true), ("once", false)] {
            let body: JSONValue = [
                "source": .string("http://admin:admin@127.0.0.1:\(near.port)/a"),
                "target": .string("http://admin:admin@127.0.0.1:\(far.port)/\(name)"),
                "continuous": .bool(isContinuous),
            ]
            #expect(try near.ask("PUT", "/_replicator/\(name)", body.description).hasPrefix("HTTP/1.1 201"))
        }
        await far.wait(for: "/on/x")
        await far.wait(for: "/once/x")
        await eventually("it is completed") { try near.ask("GET", "/_replicator/once").contains("completed") }
        let port = near.port
        near.kill()

        near = try ServedFolder(folder, port: port)
        #expect(try near.ask("PUT", "/a/y", "{}").hasPrefix("HTTP/1.1 201"))
        await far.wait(for: "/on/y")
        #expect(try await far.ask("GET", "/once/y").status == 404)
        #expect(try near.ask("GET", "/_scheduler/docs/_replicator/once").contains("completed"))
        near.kill()
    }
}
