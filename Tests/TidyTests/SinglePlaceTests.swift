import Testing

/// Ideas that are built once: what is called in one file and in no other.
struct SinglePlaceTests {
    /// The files of the sources that have some text in their code, apart from declarations, and which file it should be.
    @Test(arguments: [
        ("SettlementPlan(", "Sources/SettleDatabase/Conflicts/SettlementRun.swift"),
        ("conflictedDocumentIDs(", "Sources/SettleDatabase/Conflicts/ConflictSweep.swift"),
    ])
    func `a call is in one file`(call: String, place: String) {
        // Test doubles and simulated fleets use a database as an app does.
        let sources = Repository.shared.sources.filter { !["SettleTesting", "SettleFleet"].contains($0.target) }
        let places = sources.filter { file in
            file.code.contains { line in
                line.contains(call) && !line.contains("func \(call)") && !file.path.hasSuffix("Database+Read.swift")
            }
        }
        #expect(places.map(\.path) == [place])
    }

    /// Text in the code, and the maximum number of files that have it. Simulated fleets are models of other clients.
    @Test(arguments: [(#"{\"_id\":"#, 1), (#""_revisions""#, 1), (#""_attachments""#, 5)])
    func `few files spell the members of a document's JSON`(text: String, most: Int) {
        let places = Repository.shared.sources.filter { file in
            file.target != "SettleFleet" && file.path.hasSuffix(".swift")
                && file.lines.contains { $0.contains(text) && !$0.drop { $0 == " " }.hasPrefix("//") }
        }
        #expect(places.count <= most, "\(places.map(\.path))")
    }

    @Test func `the client of the tool knows no database`() {
        let tool = Repository.shared.sources.filter { $0.target == "SettleCommands" }
        let asking = tool.flatMap { file in
            file.code.filter { $0.contains("client.database") || $0.contains("isRemote") }
        }
        #expect(asking.count <= 1, "\(asking)")
        let client = tool.filter { $0.path.hasSuffix("Client/Client.swift") }
        #expect(client.count == 1 && !client.contains { $0.code.contains { $0.contains(/\bDatabase\b/) } })
    }

    /// The policies' own files, and the simulator's list, which has faulty resolvers beside them.
    private static let policyFiles = [
        "Sources/SettleDatabase/Conflicts/ConflictPolicy", "Sources/SettleDatabase/Conflicts/ReadyPolicy.swift",
        "Sources/SettleTesting/Simulation/",
    ]

    @Test func `only the list of policies names them`() throws {
        let repository = Repository.shared
        let list = try #require(repository.file("Sources/SettleDatabase/Conflicts/ReadyPolicy.swift"))
        let names = zip(list.lines, list.lines.dropFirst()).compactMap { line, next in
            line.hasSuffix("ReadyPolicy(") ? next.firstMatch(of: /^ *"(\w+)"/).map { String($0.1) } : nil
        }
        #expect(names.count >= 8)
        for file in repository.sources where !Self.policyFiles.contains(where: file.path.hasPrefix) {
            for name in names { #expect(!file.text.contains("\"\(name)\""), "\(file.path): \(name)") }
        }
        for file in repository.files where file.path.hasPrefix("Sources/CConsole/web/") {
            for name in names { #expect(!file.text.contains(name), "\(file.path): \(name)") }
        }
    }

    /// Types outside of SettleHTTP that are no second vocabulary, each with what it is.
    private static let apart = [
        "HTTPDate": "dates, which are also elsewhere", "HTTPError": "CouchDB's words for an error",
        "HTTPListener": "a transport of the server", "HTTPHandler": "what answers the requests of one",
    ]

    @Test func `HTTP has one vocabulary`() {
        let keywords = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        let complaints = Repository.shared.sources.filter { $0.target != "SettleHTTP" }.flatMap { file in
            declarations(in: file.code).compactMap { declaration -> Complaint? in
                let name = declaration.name
                guard keywords.contains(declaration.keyword), Self.apart[name] == nil,
                    name.hasPrefix("HTTP") || name.hasPrefix("Transport") || name.hasSuffix("Headers")
                        || (name.hasSuffix("Response") && name != "Response")
                        || ["RequestTarget", "QueryParameters"].contains(name)
                else { return nil }
                return file.complaint(declaration.line, "\(name): the types of HTTP are in SettleHTTP")
            }
        }
        expectNone(complaints)
    }
}
