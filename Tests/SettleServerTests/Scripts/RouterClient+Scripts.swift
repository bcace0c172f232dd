import Settle
import SettleScripting
import Testing

@testable import SettleServer

extension RouterClient {
    /// A client of a server that runs scripts in the tool built with the tests, with a database `db` that is open to
    /// everyone.
    static func withScripts(timeLimit: Int = 5000) throws -> RouterClient {
        let client = try RouterClient { options in
            options.scripts = .built
            options.scripts?.timeLimit = timeLimit
            options.scripts?.workers = 2
        }
        #expect(try client.send("PUT", "/db").status == 201)
        #expect(try client.send("PUT", "/db/_security", ["members": ["names": []]]).status == 200)
        return client
    }

    /// Stores a design document; returns the answer.
    @discardableResult
    func design(_ name: String, _ members: JSONValue) throws -> Answer {
        let answer = try send("PUT", "/db/_design/\(name)", members)
        #expect(answer.status == 201, "\(answer.json)")
        return answer
    }

    /// Stores documents in as few batches as possible.
    func load(_ documents: [JSONValue]) throws {
        for start in stride(from: 0, to: documents.count, by: 10_000) {
            let batch = Array(documents[start...].prefix(10_000))
            #expect(try send("POST", "/db/_bulk_docs", ["docs": .array(batch)]).status == 201)
        }
    }
}
