import Settle
import SettleDatabase
import SettleMobile
import SettlePlatform
import SettleServer
import Testing

/// What a continuous subscription sends and waits for.
@Suite(.timeLimit(.minutes(5))) struct MobileFeedTests {
    @Test func `a subscription waits when the newest change was purged and sends the next one`() throws {
        let database = try Database.inMemory()
        let server = try InProcessServer(database, name: "db", scripts: nil)
        defer { server.close() }
        for id in ["a", "b"] { try database.save(Document(id: DocumentID(unchecked: id))) }
        let pages = Guarded<[String]>([])
        let answers = Guarded<[BLIPMessage]>([])
        let device = BLIPConnection(
            isServer: false, limits: BLIPLimits(),
            handler: { message in
                pages.withLock { $0.append(String(decoding: message.body, as: UTF8.self)) }
                answers.withLock { $0.append(message) }
            })
        let other = server.connect(userAgent: "device")
        func move() throws {
            while true {
                if let bytes = try device.nextOutput() {
                    try bytes.withUnsafeBytes(other.receive)
                } else if let bytes = try other.nextOutput() {
                    try bytes.withUnsafeBytes(device.receive)
                } else if let message = answers.withLock({ $0.popLast() }) {
                    device.respond(to: message, with: BLIPMessage(.reply, body: Array("[]".utf8)))
                } else {
                    return
                }
            }
        }
        device.send(BLIPMessage(properties: ["Profile": "subChanges", "continuous": "true"]))
        try move()
        #expect(pages.withLock(\.self).last == "[]")
        try database.purge("b")
        try move()
        try database.save(Document(id: "c"))
        try move()
        #expect(pages.withLock(\.self).last?.contains("\"c\"") == true)
        device.end()
        other.end()
    }
}
