import Foundation
import Settle
import SettleHTTP
import Testing

@testable import SettleServer

/// `POST /{db}/_local_changes`, at a router without a socket.
@Suite struct LocalChangesTests {
    private let client: RouterClient
    private let envelope = "17bb2c1c-313d-41a6-ae31-c90785155687"

    init() throws {
        client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/_attribute_clocks", true).status == 200)
    }

    private func change(_ attribute: String, _ value: JSONValue?, _ timestamp: JSONValue) -> JSONValue {
        var change: JSONValue = ["attribute": .string(attribute), "timestamp": timestamp]
        change["value"] = value
        return change
    }

    private func post(_ changes: JSONValue..., type: String = "envelopes", id: String? = nil) throws -> JSONValue {
        let object: JSONValue = ["id": .string(id ?? envelope), "changes": .array(changes)]
        let answer = try client.send("POST", "/db/_local_changes", .object([type: .array([object])]))
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.json[type]?[0])
    }

    private func outcomes(_ object: JSONValue) -> [String] {
        object["changes"]?.array?.map { $0["outcome"]?.string ?? "" } ?? []
    }

    // SEMANTICS 149, 150, 168
    @Test func `types, objects and changes in the form of reference 003 become one revision per object`() throws {
        let answer = try client.send(
            "POST", "/db/_local_changes",
            [
                "envelopes": [
                    [
                        "id": .string(envelope),
                        "changes": [
                            change("name", "A New Name", 1_423_083_473), change("budget", "50.00", 1_423_083_525),
                        ],
                    ], ["id": "0cfd5804", "changes": [change("budget", "1.00", 1_423_083_525.25)]],
                ], "transfers": [["id": "23590686", "changes": [change("to", ["a", "b"], 1_423_083_526)]]],
            ])
        #expect(answer.status == 200 && answer.json.object?.names == ["envelopes", "transfers"])
        #expect(answer.json["envelopes"]?.array?.count == 2)
        let document = try client.send("GET", "/db/\(envelope)").json
        #expect(document["name"] == "A New Name" && document["budget"] == "50.00" && document["type"] == "envelopes")
        #expect(document["_rev"] == answer.json["envelopes"]?[0]?["rev"])
        #expect(document["_rev"]?.string?.hasPrefix("1-") == true)
        #expect(try client.send("GET", "/db/23590686").json["to"] == ["a", "b"])
        #expect(try client.send("GET", "/db").json["update_seq"]?.string?.hasPrefix("3") == true)
    }

    // SEMANTICS 157
    @Test func `each attribute is resolved separately, and the answer names a superseding change`() throws {
        _ = try post(change("name", "Holiday 2015", 1_423_083_480), change("budget", 40, 1_423_083_400))
        let answer = try post(change("name", "Holidays", 1_423_083_473), change("budget", 50, 1_423_083_473))
        #expect(
            answer["changes"] == [
                [
                    "attribute": "name", "outcome": "superseded",
                    "by": ["value": "Holiday 2015", "timestamp": 1_423_083_480],
                ], ["attribute": "budget", "outcome": "applied"],
            ])
        let document = try client.send("GET", "/db/\(envelope)").json
        #expect(document["name"] == "Holiday 2015" && document["budget"] == 50)
    }

    @Test func `the same changes again write nothing and get the same answer`() throws {
        let changes = [change("name", "A", 1_423_083_473.5), change("o", ["x": 1, "y": [:]], 1_423_083_474)]
        let first = try post(changes[0], changes[1])
        let again = try post(changes[0], changes[1])
        #expect(first == again && outcomes(first) == ["applied", "applied"])
        _ = try post(change("name", "B", 1_423_083_500))
        #expect(outcomes(try post(changes[0], changes[1])) == ["superseded", "applied"])
        #expect(try client.send("GET", "/db/\(envelope)").json["_rev"]?.string?.hasPrefix("2-") == true)
    }

    // SEMANTICS 158
    @Test func `of equal timestamps the same value is kept, in any order`() throws {
        for (id, values) in [("x", ["A", "B"]), ("y", ["B", "A"])] {
            for value in values { _ = try post(change("name", .string(value), 1_423_083_473), id: id) }
            #expect(try client.send("GET", "/db/\(id)").json["name"] == "B")
        }
    }

    @Test func `an attribute without a value is removed, and stays removed against an older change`() throws {
        _ = try post(change("name", "A", 1_423_083_473), change("note", nil, 1_423_083_480))
        _ = try post(change("name", nil, 1_423_083_475))
        let answer = try post(change("name", "old", 1_423_083_474), change("note", "old", 1_423_083_474))
        #expect(answer["changes"]?[0]?["by"] == ["timestamp": 1_423_083_475])
        #expect(outcomes(answer) == ["superseded", "superseded"])
        #expect(try client.send("GET", "/db/\(envelope)").json["name"] == nil)
    }

    @Test func `edits by ordinary clients are resolved by their time`() throws {
        let now = Date().timeIntervalSince1970
        _ = try post(change("name", "A", .number(JSONNumber(Int(now) - 100))), change("budget", 1, 1000))
        var document = try client.send("GET", "/db/\(envelope)").json
        document["name"] = "by PUT"
        let put = try client.send("PUT", "/db/\(envelope)", document)
        #expect(put.status == 201)
        let answer = try post(
            change("name", "before the PUT", .number(JSONNumber(Int(now) - 50))), change("budget", 2, 2000))
        #expect(outcomes(answer) == ["superseded", "applied"])
        #expect(answer["changes"]?[0]?["by"]?["value"] == "by PUT")
        let later = try post(change("name", "after it", .number(JSONNumber(Int(now) + 30))))
        #expect(outcomes(later) == ["applied"])
    }

    @Test func `a change overrides an edit of unknown time`() throws {
        _ = try post(change("name", "A", 1_423_083_473), change("budget", 1, 1_423_083_473))
        var document = try client.send("GET", "/db/\(envelope)?revs=true").json
        let first = try #require(document["_revisions"]?["ids"]?[0])
        document["name"] = "foreign"
        document["_rev"] = "2-abc"
        document["_revisions"] = ["start": 2, "ids": ["abc", first]]
        let stored = try client.send("POST", "/db/_bulk_docs", ["docs": [document], "new_edits": false])
        #expect(stored.status == 201)
        let answer = try post(change("name", "B", 1_423_083_400), change("budget", 2, 1_423_083_400))
        #expect(outcomes(answer) == ["applied", "superseded"])
    }

    // SEMANTICS 166
    @Test func `a deleted object stays deleted against an older change, and a later one revives it`() throws {
        let now = Int(Date().timeIntervalSince1970)
        let created = try post(change("name", "A", 1_423_083_473), change("budget", 1, 1_423_083_473))
        let revision = try #require(created["rev"]?.string)
        #expect(try client.send("DELETE", "/db/\(envelope)?rev=\(revision)").status == 200)
        let older = try post(change("name", "B", .number(JSONNumber(now - 100))))
        #expect(outcomes(older) == ["superseded"] && older["changes"]?[0]?["by"]?["deleted"] == true)
        #expect(try client.send("GET", "/db/\(envelope)").status == 404)
        let newer = try post(change("name", "C", .number(JSONNumber(now + 50))))
        #expect(outcomes(newer) == ["applied"])
        let document = try client.send("GET", "/db/\(envelope)").json
        #expect(document["name"] == "C" && document["budget"] == 1 && document["type"] == "envelopes")
    }

    // SEMANTICS 159
    @Test func `a timestamp ahead of the server's clock is refused, and its object is not written`() throws {
        let ahead = JSONValue.number(JSONNumber(Int(Date().timeIntervalSince1970) + 3600))
        let answer = try post(change("name", "A", 1_423_083_473), change("budget", 1, ahead))
        #expect(answer["error"] == "forbidden" && answer["changes"] == nil)
        #expect(answer["reason"]?.string?.contains("budget") == true)
        #expect(try client.send("GET", "/db/\(envelope)").status == 404)
    }

    @Test func `a refused object does not stop the others`() throws {
        #expect(try client.send("PUT", "/db/other", ["type": "accounts"]).status == 201)
        let changes: JSONValue = [change("name", "A", 1_423_083_473)]
        let answer = try client.send(
            "POST", "/db/_local_changes",
            [
                "envelopes": [
                    ["id": "other", "changes": changes], ["id": "_design/x", "changes": changes],
                    ["id": "", "changes": changes], ["id": "none", "changes": []],
                    ["id": "type", "changes": [change("type", "x", 1)]],
                    ["id": "id", "changes": [change("_id", "x", 1)]],
                    ["id": "clocks", "changes": [change("$clocks", [:], 1)]], ["id": "good", "changes": changes],
                ], "nothing": [],
            ])
        let errors = answer.json["envelopes"]?.array?.map { $0["error"]?.string ?? "" }
        #expect(
            errors == [
                "bad_request", "illegal_docid", "illegal_docid", "doc_validation", "doc_validation", "doc_validation",
                "doc_validation", "",
            ])
        #expect(answer.json["nothing"] == [])
        #expect(try client.send("GET", "/db/good").status == 200)
        #expect(try client.send("GET", "/db/_all_docs").json["total_rows"] == 2)
    }

    // SEMANTICS 167
    @Test func `references to a new object that is refused wait for it, in any order`() throws {
        let ahead = JSONValue.number(JSONNumber(Int(Date().timeIntervalSince1970) + 3600))
        let body: JSONValue = [
            "transfers": [
                ["id": "t2", "changes": [change("follows", ["t1"], 1)]],
                ["id": "t1", "changes": [change("to", .string(envelope), 1)]],
                ["id": "t3", "changes": [change("to", "other", 1)]],
                ["id": "t4", "changes": [change("to", "t5", 1)]], ["id": "t5", "changes": [change("to", "t4", 1)]],
            ],
            "envelopes": [
                ["id": .string(envelope), "changes": [change("name", "A", ahead)]],
                ["id": "other", "changes": [change("name", "B", 1)]],
            ],
        ]
        let answer = try client.send("POST", "/db/_local_changes", body).json
        #expect(answer["transfers"]?.array?.map { $0["error"]?.string ?? "" } == ["waiting", "waiting", "", "", ""])
        #expect(answer["envelopes"]?.array?.map { $0["error"]?.string ?? "" } == ["forbidden", ""])
        #expect(try client.send("GET", "/db/t1").status == 404)
        // Once the new object is there, references to it no longer wait, even if a change of it is refused.
        _ = try post(change("name", "A", 1))
        let again = try client.send("POST", "/db/_local_changes", body).json
        #expect(again["transfers"]?.array?.allSatisfy { $0["error"] == nil } == true)
        #expect(try client.send("GET", "/db/t2").json["follows"] == ["t1"])
    }

    // SEMANTICS 159
    @Test func `a stored clock far ahead does not win against later changes permanently`() throws {
        _ = try post(change("name", "A", 1_423_083_473))
        var document = try client.send("GET", "/db/\(envelope)?revs=true").json
        let first = try #require(document["_revisions"]?["ids"]?[0])
        let entry = try #require(document["$clocks"]?["/name"]?.string)
        let far = "\(AttributeClock.latest)-\(AttributeClock.maximumCounter)-zzz"
        document["$clocks"] = ["/name": .string(entry.replacing("1423083473000-0-0", with: far))]
        document["_rev"] = "2-abc"
        document["_revisions"] = ["start": 2, "ids": ["abc", first]]
        #expect(try client.send("POST", "/db/_bulk_docs", ["docs": [document], "new_edits": false]).status == 201)
        #expect(outcomes(try post(change("name", "B", 1_423_083_480))) == ["applied"])
        #expect(outcomes(try post(change("name", "A", 1_423_083_473))) == ["superseded"])
    }

    @Test(arguments: [
        "[]", "1", #"{"a":1}"#, #"{"a":[1]}"#, #"{"a":[{"id":"x"}]}"#, #"{"a":[{"id":1,"changes":[]}]}"#,
        #"{"a":[{"id":"x","changes":[1]}]}"#, #"{"a":[{"id":"x","changes":[{"attribute":1,"timestamp":1}]}]}"#,
        #"{"a":[{"id":"x","changes":[{"attribute":"n"}]}]}"#, "{",
        #"{"a":[{"id":"x","changes":[{"attribute":"n","timestamp":"1"}]}]}"#,
        #"{"a":[{"id":"x","changes":[{"attribute":"n","timestamp":-1}]}]}"#,
        #"{"a":[{"id":"x","changes":[{"attribute":"n","timestamp":1e300}]}]}"#,
        #"{"a":[{"id":"x","changes":[{"attribute":"n","timestamp":99999999999999999999}]}]}"#,
    ])
    func `a malformed request is refused as a whole`(body: String) throws {
        let answer = try client.send("POST", "/db/_local_changes", bytes: Array(body.utf8))
        #expect(answer.status == 400 && answer.json["error"] == "bad_request", "\(answer.text)")
        #expect(try client.send("GET", "/db/_all_docs").json["total_rows"] == 0)
    }

    @Test func `clocks must be on, methods and types are checked, and system databases are excluded`() throws {
        #expect(try client.send("GET", "/db/_attribute_clocks").json == true)
        #expect(try client.send("PUT", "/db/_attribute_clocks", 1).status == 400)
        #expect(try client.send("GET", "/db/_local_changes").status == 405)
        let text: HTTPHeaders = ["Content-Type": "text/plain"]
        #expect(try client.send("POST", "/db/_local_changes", [:], headers: text).status == 415)
        #expect(try client.send("POST", "/none/_local_changes", [:]).status == 404)
        #expect(try client.send("PUT", "/db/_attribute_clocks", false).status == 200)
        let off = try client.send("POST", "/db/_local_changes", [:])
        #expect(off.status == 412 && off.json["error"] == "precondition_failed")
        #expect(try client.send("PUT", "/_users").status == 201)
        #expect(try client.send("PUT", "/_users/_attribute_clocks", true).status == 403)
        #expect(try client.send("POST", "/_users/_local_changes", [:]).status == 403)
    }

    @Test func `only members may change objects, and only administrators the setting`() throws {
        let basic: (String) -> HTTPHeaders = { ["Authorization": "Basic " + Data($0.utf8).base64EncodedString()] }
        #expect(try client.send("PUT", "/_users").status == 201)
        for name in ["anna", "ben"] {
            let user: JSONValue = ["name": .string(name), "password": "pw", "roles": [], "type": "user"]
            #expect(try client.send("PUT", "/_users/org.couchdb.user:\(name)", user).status == 201)
        }
        let security: JSONValue = ["members": ["names": ["anna"], "roles": []], "admins": ["names": [], "roles": []]]
        #expect(try client.send("PUT", "/db/_security", security).status == 200)
        let body: JSONValue = ["e": [["id": "x", "changes": [change("n", 1, 1)]]]]
        #expect(try client.send("POST", "/db/_local_changes", body, headers: basic("anna:pw")).status == 200)
        #expect(try client.send("POST", "/db/_local_changes", body, headers: basic("ben:pw")).status == 403)
        #expect(try client.send("PUT", "/db/_attribute_clocks", false, headers: basic("anna:pw")).status >= 401)
        #expect(try client.send("GET", "/db/_attribute_clocks", headers: basic("anna:pw")).json == true)
    }
}
