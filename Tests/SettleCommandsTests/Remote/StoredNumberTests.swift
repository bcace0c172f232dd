import Settle
import SettleTesting
import Testing

/// Numbers that have more digits than a float, or another spelling than CouchDB's.
@Suite(.timeLimit(.minutes(5))) struct StoredNumberTests {
    private static let numbers = ["123456789.123456789123", "-0.0", "1e-400", "1e3"]
    private static let body = #"{"p":123456789.123456789123,"z":-0.0,"r":1e-400,"n":1e3}"#

    @Test func `all verbs print numbers as they are stored, in a folder and at a server`() throws {
        let remote = try RemoteRoom()
        for (place, database) in ["num", remote.url()].enumerated() {
            try remote.run("create", database)
            #expect(try remote.run("put", database, "d", Self.body).status == 0)
            for words in [
                ["get", database, "d"], ["docs", database, "--bodies"], ["find", database, "{}", "--json"],
                ["find", database, "{}", "--csv"], ["find", database, "{}", "--json", "--fields", "p,z,r,n"],
                ["changes", database, "--docs", "--json"], ["export", database, "-"],
                ["export", database, "-", "--csv"],
            ] {
                let outcome = try remote.run(all: words)
                #expect(outcome.status == 0, "\(words): \(outcome.errors)")
                for number in Self.numbers {
                    #expect(outcome.output.contains(number), "\(words): \(outcome.output)")
                }
            }
            let documents = try remote.run("docs", database, "--bodies").output
            let copy = "copy-\(place)"
            #expect(try remote.run("import", copy, "-", input: documents).status == 0)
            #expect(try remote.run("get", copy, "d").output == remote.run("get", database, "d").output)
        }
    }

    @Test func `a second device gets the body that the first one has`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", "first")
        try remote.run("put", "first", "d", Self.body)
        #expect(try remote.run("push", "first", remote.url(), "--create").status == 0)
        #expect(try remote.run("pull", "second", remote.url(), "--create").status == 0)
        #expect(try remote.run("get", "second", "d").output == remote.run("get", "first", "d").output)
        #expect(try remote.run("get", remote.url(), "d").output == remote.run("get", "first", "d").output)
    }
}
