import Settle
import SettleHTTP
import SettleServer
import SettleTesting
import Testing

@testable import SettleReplication

/// The effect of network changes on replications. Delays are hours long here, so any progress is due to the change.
@Suite(.timeLimit(.minutes(5))) struct NetworkChangeTests {
    private static let away = PeerError(.unreachable, "no route")

    private func configuration(_ source: any Peer, _ target: any Peer) -> ReplicationConfiguration {
        var configuration = ReplicationConfiguration(source: source, target: target)
        configuration.isContinuous = true
        configuration.retry.firstDelay = .seconds(7200)
        configuration.retry.maximumDelay = .seconds(7200)
        configuration.network = NetworkMonitor()
        return configuration
    }

    // SEMANTICS 93, 105
    @Test func `an offline replication resumes at once when the network changes`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        let remote = ScriptedPeer(target.peer, needsNetwork: true)
        remote.tell { $0.always[.connect] = Self.away }
        let configuration = configuration(source.peer, remote)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .offline }
        try source.database.put("a", ["n": 1])
        remote.tell { $0.always = [.store: Self.away] }
        configuration.network.notify()
        await replicator.waits { $0.mode == .offline && $0.counts.revisionsMissing == 1 }
        remote.tell { $0.always = [:] }
        configuration.network.notify()
        let idle = await replicator.waits { $0.mode == .idle }
        #expect(idle.counts.revisionsWritten == 1 && idle.error == nil)
        await replicator.stop()
    }

    // SEMANTICS 105
    @Test func `an idle push detects that its target is gone, and that it is back`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        let remote = ScriptedPeer(target.peer, needsNetwork: true)
        let configuration = configuration(source.peer, remote)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        remote.tell { $0.always[.connect] = Self.away }
        configuration.network.notify()
        #expect(await replicator.waits { $0.mode == .offline }.error?.code == .unreachable)
        remote.tell { $0.always = [:] }
        configuration.network.notify()
        #expect(await replicator.waits { $0.mode == .idle }.error == nil)
        await replicator.stop()
    }

    @Test func `a pull does not wait on a connection that may be dead`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        let remote = ScriptedPeer(source.peer, needsNetwork: true)
        let configuration = configuration(remote, target.peer)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        // The waiting feed ends only because of the change.
        remote.tell { $0.always[.changes] = Self.away }
        configuration.network.notify()
        await replicator.waits { $0.mode == .offline }
        remote.tell { $0.always = [:] }
        configuration.network.notify()
        await replicator.waits { $0.mode == .idle }
        try source.database.put("a", ["n": 1])
        await replicator.waits { $0.counts.revisionsWritten == 1 }
        await replicator.stop()
    }

    // SEMANTICS 105
    @Test func `a request on a connection that may be dead is made again`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        let remote = ScriptedPeer(source.peer, needsNetwork: true)
        let configuration = configuration(remote, target.peer)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        remote.tell { $0.always[.changes] = Self.away }
        configuration.network.notify()
        await replicator.waits { $0.mode == .offline }
        // The next request is sent into a network that has no answer.
        remote.tell {
            $0.always = [.connect: Self.away]
            $0.before[.changes] = waitForCancellation
        }
        let before = remote.count(.changes)
        configuration.network.notify()
        await eventually("the request is sent") { remote.count(.changes) > before }
        remote.tell {
            $0.always = [:]
            $0.before = [:]
        }
        configuration.network.notify()
        await replicator.waits { $0.mode == .idle }
        await replicator.stop()
    }

    // SEMANTICS 105
    @Test func `a replication that connects in a network without answers connects again in the next`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        let remote = ScriptedPeer(target.peer, needsNetwork: true)
        remote.tell { $0.before[.connect] = waitForCancellation }
        let configuration = configuration(source.peer, remote)
        let replicator = OneWayReplicator(configuration)
        replicator.start()
        await eventually("the request is sent") { remote.count(.connect) == 1 }
        configuration.network.notify()
        await eventually("it is sent again") { remote.count(.connect) == 2 }
        remote.tell { $0.before = [:] }
        configuration.network.notify()
        await replicator.waits { $0.mode == .idle }
        #expect(remote.count(.connect) == 3)
        await replicator.stop()
    }

    @Test func `where it is disabled, or no peer is remote, nothing listens`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        var configuration = configuration(source.peer, target.peer)
        let near = OneWayReplicator(configuration)
        near.start()
        await near.waits { $0.mode == .idle }
        #expect(configuration.network.listenerCount == 0)
        await near.stop()
        configuration.target = ScriptedPeer(target.peer, needsNetwork: true)
        let far = OneWayReplicator(configuration)
        far.start()
        await far.waits { $0.mode == .idle }
        #expect(configuration.network.listenerCount == 1)
        await far.stop()
        #expect(configuration.network.listenerCount == 0)
        configuration.watchesNetwork = false
        let deaf = OneWayReplicator(configuration)
        deaf.start()
        await deaf.waits { $0.mode == .idle }
        #expect(configuration.network.listenerCount == 0)
        await deaf.stop()
        #expect(try CouchDBPeer(HTTPURL("http://192.0.2.1/db")).needsNetwork)
        #expect(try !CouchDBPeer(HTTPURL("http://localhost/db")).needsNetwork)
    }

    // SEMANTICS 93
    @Test func `a network change at the moment of a failure is not lost`() async throws {
        let (source, target) = try await PeerPair.local[0].make()
        for _ in 0..<200 {
            let remote = ScriptedPeer(target.peer)
            let replicator = OneWayReplicator(configuration(source.peer, remote))
            remote.tell { script in
                script.before[.connect] = {
                    guard remote.count(.connect) == 1 else { return }
                    replicator.networkChanged()
                    throw Self.away
                }
            }
            replicator.start()
            await replicator.waits { $0.mode == .idle }
            await replicator.stop()
        }
    }

    // SEMANTICS 93
    @Test func `a replication resumes on notice when a server that was down comes up`() async throws {
        let server = try LiveServer()
        let hub = try DocumentStore(path: server.folder.path).create("hub")
        let proxy = try FaultProxy(to: server.server.port)
        defer { proxy.stop() }
        let notes = try Database.inMemory()
        defer { notes.close() }
        let peer = try CouchDBPeer(
            HTTPURL("\(proxy.address)/hub"), credentials: .basic(user: "admin", password: "secret-word"))
        let replicator = OneWayReplicator(configuration(LocalPeer(notes), peer))
        replicator.start()
        await replicator.waits { $0.mode == .idle }
        proxy.goDown()
        replicator.networkChanged()
        try notes.put("a", ["n": 1])
        await replicator.waits { $0.mode == .offline && $0.counts.changesRead == 1 }
        try proxy.comeUp()
        replicator.networkChanged()
        await replicator.waits { $0.mode == .idle && $0.counts.revisionsWritten == 1 }
        #expect(try hub.document("a") != nil)
        await replicator.stop()
    }
}
