import Settle
import SettleDatabase
import Testing

@testable import SettleServer

/// Settlements are validated as documents of `_bulk_docs` are.
@Suite(.timeLimit(.minutes(5))) struct SettleValidationTests {
    private func open(_ function: String) throws -> RouterClient {
        let client = try ConflictRoom.client(RouterClient.withScripts())
        try client.design("v", ["validate_doc_update": .string(function)])
        return client
    }

    @Test func `a function is asked with the user, the security object and the old revision`() throws {
        let client = try open(
            """
            function (doc, old, user, security) {
              if (user.name !== 'admin') throw({unauthorized: 'not ' + user.name});
              if (!security.members) throw({forbidden: 'no security'});
              if (!old || doc._revisions.start !== 2 && doc._revisions.start !== 3) throw({forbidden: 'no parent'});
              if (doc.$closed && doc._deleted !== true) throw({forbidden: 'closing'});
              if (doc.name === 'Evil') throw({forbidden: 'was ' + old.name});
            }
            """)
        let evil: JSONValue = ["doc": ["name": "Evil"], "leaves": ConflictRoom.leaves]
        #expect(try client.send("POST", "/db/_settle/milk", evil).json["reason"] == "was Oat milk")
        let nobody = try client.send(as: "", "POST", "/db/_settle/milk", ["policy": "threeWayMerge"])
        #expect(nobody.status == 401 && nobody.json["reason"] == "not null" && nobody.json["rev"] != nil)
        #expect(try client.send("POST", "/db/_settle/milk", ["policy": "threeWayMerge"]).status == 201)
    }

    @Test(arguments: ["bad", "who", "odd", "broken", "fine"])
    func `a validation function gives the same error as for a write of the same document`(member: String) throws {
        let client = try open(
            """
            function (doc) {
              if (doc.bad) throw({forbidden: 'bad'});
              if (doc.who) throw({unauthorized: 'who'});
              if (doc.odd) throw('odd');
              if (doc.broken) nothing.here();
            }
            """)
        let doc: JSONValue = [member: true]
        var request: JSONValue = ["doc": doc, "leaves": ConflictRoom.leaves, "dry_run": true]
        let planned = try client.send("POST", "/db/_settle/milk", request).json
        let single = try client.send("PUT", "/db/\(member)", doc)
        request["dry_run"] = nil
        let deed = try client.send("POST", "/db/_settle/milk", request)
        #expect(deed.status == single.status)
        let refusal = planned["refused"]?[0]
        if member == "fine" {
            #expect(refusal == nil)
        } else {
            #expect(refusal?["error"] == single.json["error"] && refusal?["reason"] == single.json["reason"])
            #expect(deed.json["error"] == single.json["error"] && deed.json["reason"] == single.json["reason"])
        }
    }

    @Test(arguments: [true, false])
    func `a server without workers settles nothing that it can't validate`(isDryRun: Bool) throws {
        let client = try ConflictRoom.client()
        try ConflictRoom.store(
            [ConflictRoom.document("_design/v", ["1"], ["validate_doc_update": "function () {}"])], client)
        let answer = try client.send(
            "POST", "/db/_settle/milk", ["policy": "mostRevisions", "dry_run": .bool(isDryRun)])
        #expect(answer.status == 501 && answer.json["error"] == "not_implemented")
        #expect(try client.send("POST", "/db/_settle", ["policy": "mostRevisions"]).status == 501)
    }

    @Test func `validations of the program are asked as well`() throws {
        let client = try ConflictRoom.client()
        let database = try client.server.state.databases.open("db")
        database.addValidation("no soy") { context in
            if context.newRevision["name"] == "Soy milk", context.currentRevision?["name"] == "Oat milk" {
                throw DocumentRejection(message: "no soy")
            }
        }
        let soy = JSONValue.string("2-" + ConflictRoom.revision("0"))
        #expect(
            try client.send("POST", "/db/_settle/milk", ["keep": soy, "leaves": ConflictRoom.leaves]).status == 403)
        #expect(try client.send("POST", "/db/_settle/milk", ["policy": "mostRevisions"]).status == 201)
    }

    @Test func `a result may not be larger than a document`() throws {
        let client = try RouterClient { $0.largestDocument = 1000 }
        #expect(try client.send("PUT", "/db").status == 201)
        let text = JSONValue.string(String(repeating: "x", count: 600))
        try ConflictRoom.store(
            [ConflictRoom.document("a", ["1"], ["one": text]), ConflictRoom.document("a", ["2"], ["two": text])],
            client)
        let answer = try client.send("POST", "/db/_settle/a", ["policy": "threeWayMerge"])
        #expect(answer.status == 413 && answer.json["error"] == "document_too_large")
        #expect(try client.send("POST", "/db/_settle/a", ["policy": "mostRevisions"]).status == 201)
    }
}
