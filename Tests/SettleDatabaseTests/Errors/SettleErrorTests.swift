import Foundation
import PostgresTesting
import Settle
import Testing

/// What an app shows of an error: all of it, and each part once.
struct SettleErrorTests {
    struct Cause: Error, CustomStringConvertible { let description: String }

    @Test func `a cause that the message names is printed once, another one is added`() {
        let cause = Cause(description: "broken: no such letter")
        #expect(
            DatabaseError(.invalid, "can't store it: no such letter", cause: cause).description
                == "invalid: can't store it: no such letter")
        #expect(
            DatabaseError(.invalid, "can't store it", cause: cause).description
                == "invalid: can't store it (broken: no such letter)")
        #expect(
            PeerError(.badRequest, "refused: no such letter", cause: cause).description.components(
                separatedBy: "letter"
            ).count == 2)
    }

    @Test func `errors of each layer are shown as they are printed`() throws {
        let database = try Database.plain()
        let calls: [() throws -> Void] = [
            { _ = try DocumentID(validating: "_x") }, { _ = try JSONValue(parsing: "{") },
            { _ = try MangoSelector(["$none": 1]) },
            { _ = try database.find(DocumentQuery<JSONValue>().sorted(by: "n", withoutIndexUpTo: 0)) },
            { try database.delete("none") },
            { _ = try HTTPURL("none") },
        ]
        for call in calls {
            let error = #expect(throws: (any Error).self) { try call() }
            let shown = try #require(error as? any SettleError)
            #expect(error?.localizedDescription == shown.description && !shown.description.isEmpty)
        }
    }
}
