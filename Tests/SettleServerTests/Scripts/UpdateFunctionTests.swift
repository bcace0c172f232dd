import Settle
import SettleHTTP
import Testing

@testable import SettleServer

@Suite(.timeLimit(.minutes(5))) struct UpdateFunctionTests {
    private func client(_ functions: [String: String]) throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.design(
            "u",
            ["updates": .object(JSONObject(functions.map { ($0.key, .string("function (doc, req) { \($0.value) }")) }))]
        )
        return client
    }

    @Test(arguments: ["100", "101", "199", "600", "0", "-1", "'200'", "1e9", "200.5"])
    func `an invalid status is an error, and nothing is written`(code: String) throws {
        let client = try client(["f": "return [{_id: 'a'}, {code: \(code), body: 'x'}]"])
        let answer = try client.send("POST", "/db/_design/u/_update/f")
        #expect(answer.status == 500 && answer.json["error"] == "render_error", "\(answer.status)")
        #expect(try client.send("GET", "/db/a").status == 404)
    }

    @Test func `design documents whose names look the same run functions of their own`() throws {
        let client = try RouterClient.withScripts()
        // The same letter as one character, and as two. The revisions have one name, too.
        let names = ["%C3%A9", "e%CC%81"]
        for name in names {
            let function = "function () { return [null, '\(name)'] }"
            let design: JSONValue = ["_rev": "1-aa", "updates": ["f": .string(function)]]
            #expect(try client.send("PUT", "/db/_design/\(name)?new_edits=false", design).status == 201)
        }
        for name in names { #expect(try client.send("POST", "/db/_design/\(name)/_update/f").text == name) }
    }

    @Test func `a response without a body has none`() throws {
        let client = try client([
            "f": "return [null, {code: 204, body: 'x'}]", "g": "return [null, {code: 304, body: 'x'}]",
        ])
        for (name, status) in [("f", 204), ("g", 304)] {
            let answer = try client.send("POST", "/db/_design/u/_update/\(name)")
            #expect(answer.status == status && answer.body.isEmpty)
        }
    }

    @Test func `headers that the server controls are ignored`() throws {
        let client = try client([
            "f": """
            return [{_id: 'a'}, {body: 'x', headers: {
              'Set-Cookie': 'AuthSession=x', 'set-cookie2': 'x', 'Content-Length': '5', 'Transfer-Encoding': 'chunked',
              'Connection': 'upgrade', 'Upgrade': 'x', 'Access-Control-Allow-Origin': '*',
              'Access-Control-Allow-Credentials': 'true', 'Content-Security-Policy': 'default-src *',
              'X-Content-Type-Options': 'x', 'Clear-Site-Data': '*', 'Strict-Transport-Security': 'max-age=0',
              'Service-Worker-Allowed': '/', 'WWW-Authenticate': 'Basic', 'X-Couch-Id': 'other', 'Refresh': '0',
              'Content-Type': 'text/plain', 'X-Tea': 'pot', 'Location': '/x', 'Cache-Control': 'no-store',
              'Content-Disposition': 'attachment'}}]
            """
        ])
        let answer = try client.send("POST", "/db/_design/u/_update/f")
        #expect(answer.status == 201 && answer.text == "x")
        for name in [
            "Set-Cookie", "Set-Cookie2", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade",
            "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Clear-Site-Data",
            "Strict-Transport-Security", "Service-Worker-Allowed", "WWW-Authenticate", "Refresh",
        ] { #expect(answer.headers[name] == nil, "\(name)") }
        #expect(answer.headers["Content-Security-Policy"] == "sandbox")
        #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
        #expect(answer.headers["X-Couch-Id"] == "a" && answer.headers["X-Tea"] == "pot")
        #expect(answer.headers["Content-Type"] == "text/plain" && answer.headers["Location"] == "/x")
        #expect(answer.headers["Cache-Control"] == "no-store")
        #expect(answer.headers["Content-Disposition"] == "attachment")
    }

    @Test func `a header with a line break is an error, and nothing is written`() throws {
        let client = try client(["f": "return [{_id: 'a'}, {headers: {'X-A': 'b\\r\\nX-C: d'}}]"])
        #expect(try client.send("POST", "/db/_design/u/_update/f").status == 500)
        #expect(try client.send("GET", "/db/a").status == 404)
    }

    @Test func `a document without an id is refused as by CouchDB`() throws {
        let client = try client([
            "f": "return [{}, 'x']", "g": "return [{_id: ''}, 'x']", "h": "return [{_id: 5}, 'x']",
        ])
        let answer = try client.send("POST", "/db/_design/u/_update/f")
        #expect(answer.status == 400)
        #expect(answer.json == ["error": "illegal_docid", "reason": "Document id must not be empty"])
        #expect(try client.send("POST", "/db/_design/u/_update/g").json["error"] == "illegal_docid")
        #expect(try client.send("POST", "/db/_design/u/_update/h").json["error"] == "illegal_docid")
        #expect(try client.send("GET", "/db").json["doc_count"] == 1)
    }

    @Test(arguments: ["POST", "PUT"])
    func `a path without a function is not found`(method: String) throws {
        let client = try client(["f": "return [null, 'x']"])
        for path in ["_update", "_update/"] {
            let answer = try client.send(method, "/db/_design/u/" + path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer.json == ["error": "update_error", "reason": "Invalid path."], "\(path)")
        }
        #expect(try client.send("GET", "/db/_design/u").json["_attachments"] == nil)
    }

    @Test func `a function's document is validated`() throws {
        let client = try client(["f": "return [{_id: 'a', bad: 1}, 'x']"])
        try client.design("v", ["validate_doc_update": "function (doc) { if (doc.bad) throw({forbidden: 'bad'}) }"])
        #expect(try client.send("POST", "/db/_design/u/_update/f").status == 403)
        #expect(try client.send("GET", "/db/a").status == 404)
    }
}
