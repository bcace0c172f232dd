import Settle
import Testing

@testable import SettleServer

/// Devices with version vectors, as LiteCore 4.1.0 behaves, over real sockets (`Tests/Mobile/vectors.py`).
@Suite(.timeLimit(.minutes(5))) struct MobileVectorTests {
    private func run(_ scenario: String) async throws {
        let live = try LiveServer()
        let (status, output) = try await MobileScript.run("vectors.py", live, [scenario])
        #expect(status == 0, "\(scenario): \(output)")
    }

    @Test(arguments: [
        "http_document", "after_reset", "push_only", "tree_document", "two_devices", "deletion", "deleted_by_http",
        "settled_branch", "settled_beside_id", "open_branch",
    ])
    func `each edit of a device arrives, whoever has touched the document before`(scenario: String) async throws {
        try await run(scenario)
    }

    @Test(arguments: ["returned", "returned_unsent", "returned_far_below"])
    func `a branch that is the state again after the winner was deleted arrives at devices that have seen it`(
        scenario: String
    ) async throws {
        try await run(scenario)
    }

    @Test func `an edit that has not seen the server's version is refused`() async throws { try await run("apart") }

    @Test(arguments: [
        "upgraded", "upgraded_deletion", "upgraded_beside_deletion", "upgraded_alone", "upgraded_meanwhile",
    ])
    func `an unsent edit of a tree arrives after the database was opened with vectors`(scenario: String) async throws {
        try await run(scenario)
    }

    @Test(arguments: ["stemmed", "stemmed_early", "stemmed_authors"])
    func `a device that has edited nothing takes the server's state, after however many edits`(
        scenario: String
    ) async throws {
        try await run(scenario)
    }

    @Test(arguments: ["unreadable", "unreadable_continuous"])
    func `a document that a device can't look up is left out, and all others arrive`(scenario: String) async throws {
        try await run(scenario)
    }
}
