// The code of the article "Testing an app".
import Foundation
import Settle
import SettleTesting

#if canImport(SettleServer)
import SettleServer
#endif

/// The list of an app, which is tested here.
struct ShoppingList {
    let database: Database

    func add(_ name: String) throws -> Document { try database.save(Document(body: ["name": .string(name)])) }

    func buy(_ id: DocumentID) throws { try database.update(id) { $0["bought"] = true } }

    /// Buys what is still open, a minute after the last change.
    func buyAllLater<C: Clock>(_ clock: C) async throws where C.Duration == Duration {
        try await clock.sleep(for: .seconds(60))
        for document in try database.documents() { try buy(document.id) }
    }
}

/// What a test framework offers: stops if something is not so.
func expect(_ isSo: Bool, _ what: String) {
    if !isSo {
        print("not so: \(what)")
        exit(1)
    }
}

// snippet.memory
let memory = try Database.inMemory()
let milk = try ShoppingList(database: memory).add("Milk")
expect(milk["bought"] == nil, "a new item is not bought")
// snippet.end

// snippet.reopen
let temporary = try TemporaryDatabase(.file)
_ = try ShoppingList(database: temporary.database).add("Milk")
try temporary.reopen()
expect(try temporary.database.documents().count == 1, "an item is there after the next start")
// snippet.end

// snippet.clock
let clock = ManualClock()
let list = ShoppingList(database: memory)
let work = Task { try await list.buyAllLater(clock) }
try await clock.waitForSleepers(1)
expect(try memory.document(milk.id)?["bought"] == nil, "nothing is bought before its time")
clock.advance(by: .seconds(60))
try await work.value
expect(try memory.document(milk.id)?["bought"] == true, "all is bought when the time has come")
// snippet.end

// snippet.devices
let (phone, tablet) = (try Database.inMemory(), try Database.inMemory())
func replicate() async throws {
    let replicator = Replicator(phone, with: LocalPeer(tablet)) { $0.conflictPolicy = .threeWayMerge() }
    try await replicator.run()
}
let bread = try ShoppingList(database: phone).add("Bread")
try await replicate()
try ShoppingList(database: phone).buy(bread.id)
try tablet.update(bread.id) { $0["count"] = 2 }
try await replicate()
for device in [phone, tablet] {
    let merged = try device.document(bread.id)
    expect(merged?["bought"] == true && merged?["count"] == 2, "both changes are on both devices")
}
// snippet.end

#if canImport(SettleServer)
// snippet.network
let folder = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path
var serverOptions = ServerOptions()
serverOptions.port = 0
serverOptions.security.admins = ["anna": "secret"]
let server = Server(store: try DocumentStore(path: folder), options: serverOptions)
try server.start()
let proxy = try FaultProxy(to: server.port, plan: .random(seed: 7, rate: 0.3).first(40))
let address = try HTTPURL("http://anna:secret@127.0.0.1:\(proxy.port)/list")
try await Replicator(phone, with: CouchDBPeer(address), direction: .push) {
    $0.createsTarget = true
    $0.retry.attempts = 50
    $0.retry.maximumDelay = .milliseconds(20)
}.run()
proxy.stop()
server.stop()
expect(proxy.statistic.values.reduce(0, +) > 0, "there were faults: \(proxy.report)")
let arrived = try DocumentStore(path: folder).open("list")
expect(try arrived.document(bread.id)?["count"] == 2, "the item is at the server: \(proxy.report)")
// snippet.end
try FileManager.default.removeItem(atPath: folder)
#endif

// snippet.policy
let longest = SimulatedPolicy("longest") { _ in
    .custom("longest") { conflict in
        .document(conflict.leaves.max { $0.json.description.count < $1.json.description.count } ?? conflict.winner)
    }
}
var simulated = SimulationOptions()
simulated.policies = [longest]
if let failure = try Simulation(simulated).failure(in: 0..<50) {
    expect(false, "the policy loses something: \(failure)")
}
// snippet.end
print("All is as it should be.")
