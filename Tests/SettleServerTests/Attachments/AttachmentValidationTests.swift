import Settle
import SettleDatabase
import SettleHTTP
import Testing

@testable import SettleServer

/// Attachment metadata and bytes of a request are validated before anything is stored.
@Suite struct AttachmentValidationTests {
    /// Sends one document with one attachment as multipart.
    private func send(
        _ client: RouterClient, _ id: String, _ members: JSONObject, _ content: [UInt8], query: String = ""
    ) throws -> Answer {
        var attachment = members
        attachment["follows"] = true
        let json: JSONValue = ["_attachments": ["f": .object(attachment)], "_rev": query.isEmpty ? nil : "1-a"]
        let document = JSONValue.object(
            JSONObject(json.object?.filter { !$0.value.isNull }.map { ($0.name, $0.value) } ?? []))
        let body =
            Array("--b\r\nContent-Type: application/json\r\n\r\n\(document)\r\n--b\r\n\r\n".utf8) + content
            + Array("\r\n--b--".utf8)
        return try client.send(
            "PUT", "/db/\(id)\(query)", bytes: body, headers: ["Content-Type": "multipart/related; boundary=b"])
    }

    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        var packed: [UInt8] = []
        let stream = try Gzip(.compress)
        try bytes.withUnsafeBytes { try stream.process($0, isLast: true) { packed += Array($0) } }
        return packed
    }

    @Test(arguments: ["-5", "-9223372036854775808", "1.5", "\"5\"", "1e300", "true"], ["length", "encoded_length"])
    func `a length that is not a natural number is refused, wherever it appears`(number: String, name: String) throws {
        let client = try RouterClient.withDatabase()
        let value = try JSONValue(parsing: number)
        let packed = try Self.gzip([1, 2, 3])
        let count = JSONValue.number(JSONNumber(packed.count))
        var lengths: JSONObject = ["encoding": "gzip", "length": 3, "encoded_length": count]
        lengths[name] = value
        for query in ["", "?new_edits=false"] {
            let answer = try send(client, "a", lengths, packed, query: query)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.error == "bad_request: Invalid attachment \(name) for f")
        }
        for members in [["data": "AAEC"], ["stub": true]] as [JSONObject] {
            var attachment = members
            attachment[name] = value
            let answer = try client.send("PUT", "/db/a", ["_attachments": ["f": .object(attachment)]])
            #expect(answer.status == 400, "\(answer.text)")
            let bulk = try client.send(
                "POST", "/db/_bulk_docs", ["docs": [["_id": "a", "_attachments": ["f": .object(attachment)]]]])
            #expect(bulk.status == 400, "\(bulk.text)")
        }
        #expect(try client.send("GET", "/db/a").status == 404)
    }

    @Test func `a negative revpos is refused`() throws {
        let client = try RouterClient.withDatabase()
        let answer = try client.send("PUT", "/db/a", ["_attachments": ["f": ["data": "AAEC", "revpos": -1]]])
        #expect(answer.error == "bad_request: Invalid attachment revpos for f")
    }

    @Test func `the length of a compressed attachment must be its expanded length`() throws {
        let client = try RouterClient.withDatabase()
        let packed = try Self.gzip(Array(repeating: 7, count: 5000))
        let count = JSONValue.number(JSONNumber(packed.count))
        for length in [4999, 5001, 0] {
            let wrong: JSONObject = [
                "encoding": "gzip", "length": .number(JSONNumber(length)), "encoded_length": count,
            ]
            let answer = try send(client, "a", wrong, packed)
            #expect(answer.status == 400 && answer.json["reason"]?.string?.contains("5000") == true, "\(answer.text)")
        }
        #expect(try client.send("GET", "/db/a").status == 404)
        #expect(
            try send(client, "a", ["encoding": "gzip", "length": 5000, "encoded_length": count], packed).status == 201)
        // CouchDB's answer where it does not know the length.
        #expect(
            try send(client, "b", ["encoding": "gzip", "length": count, "encoded_length": count], packed).status == 201)
        for id in ["a", "b"] {
            #expect(try client.send("GET", "/db/\(id)/f").body == Array(repeating: 7, count: 5000))
        }
    }

    @Test func `content declared as gzip that is not gzip is refused`() throws {
        let client = try RouterClient.withDatabase()
        let whole = try Self.gzip(Array(repeating: 7, count: 200_000))
        let bad = [Array("no gzip at all".utf8), Array(whole.dropLast(4)), [], whole + [1, 2, 3], [0x1F, 0x8B]]
        for content in bad {
            let put = try client.send(
                "PUT", "/db/a/f", bytes: content, headers: ["Content-Encoding": "gzip", "Content-Type": "text/plain"])
            #expect(put.status == 400 && put.text.contains("gzip"), "\(put.text)")
            let count = JSONValue.number(JSONNumber(content.count))
            let answer = try send(
                client, "a", ["encoding": "gzip", "length": count, "encoded_length": count], content)
            #expect(answer.status == 400 && answer.text.contains("gzip"), "\(answer.text)")
        }
        #expect(try client.send("GET", "/db/a").status == 404)
    }

    @Test func `gzip of several members is read whole`() throws {
        let client = try RouterClient.withDatabase()
        let packed = try Self.gzip(Array("one ".utf8)) + Self.gzip(Array("two".utf8))
        let put = try client.send(
            "PUT", "/db/a/f", bytes: packed, headers: ["Content-Encoding": "gzip", "Content-Type": "text/plain"])
        #expect(put.status == 201, "\(put.text)")
        #expect(try client.send("GET", "/db/a/f").text == "one two")
    }

    @Test(arguments: [
        "notBase64Encoded=", "abc==", "AAEC=", "AAE", "A", "AAEC====", "AA=C", "=AAE", "AAEC!AAE", "AB==",
    ])
    func `malformed base64 is refused in CouchDB's words`(data: String) throws {
        let client = try RouterClient.withDatabase()
        let answer = try client.send("PUT", "/db/a", ["_attachments": ["f": ["data": .string(data)]]])
        if data == "AB==" {
            // Left-over bits are ignored, as in CouchDB.
            #expect(answer.status == 201)
            return
        }
        #expect(answer.status == 400 && answer.error == "bad_request: Invalid attachment data for f", "\(answer.text)")
    }
}
