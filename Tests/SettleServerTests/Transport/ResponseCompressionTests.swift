import Settle
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleServer

/// Answers that the server compresses for clients that accept it, and those that it never compresses.
@Suite struct ResponseCompressionTests {
    private static let gzip: HTTPHeaders = ["Accept-Encoding": "gzip"]

    private static func filled() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        let documents = (0..<300).map { ["_id": .string("d\($0)"), "name": "milk and bread"] as JSONValue }
        #expect(try client.send("POST", "/db/_bulk_docs", ["docs": .array(documents)]).status == 201)
        let long = JSONValue.string(String(repeating: "long ", count: 1000))
        #expect(try client.send("PUT", "/db/long", ["text": long]).status == 201)
        return client
    }

    @Test(
        arguments: [
            ("GET", "/db/_all_docs", nil), ("GET", "/db/_all_docs?include_docs=true", nil),
            ("GET", "/db/_changes", nil),
            ("GET", "/db/_changes?include_docs=true&descending=true", nil), ("GET", "/db/long", nil),
            ("POST", "/db/_find", ["selector": ["name": "milk and bread"], "limit": 300]),
            ("POST", "/db/_bulk_get", ["docs": [["id": "d1"], ["id": "long"]]]),
            ("POST", "/db/_all_docs/queries", ["queries": [["skip": 5], ["include_docs": true]]]),
        ] as [(String, String, JSONValue?)])
    func `a long answer is compressed for a client that accepts it, and has the same content`(
        method: String, path: String, body: JSONValue?
    ) throws {
        let client = try Self.filled()
        let plain = try client.send(method, path, body)
        #expect(plain.status == 200 && plain.headers["Content-Encoding"] == nil && plain.headers["Vary"] == nil)
        let packed = try client.send(method, path, body, headers: Self.gzip)
        #expect(packed.status == 200 && packed.headers["Content-Encoding"] == "gzip")
        #expect(packed.headers["Vary"] == "Accept-Encoding")
        #expect(packed.headers["ETag"] == plain.headers["ETag"])
        #expect(packed.body.count < plain.body.count / 2)
        #expect(try Compression.expand(packed.body, limit: 1 << 20) == plain.body)
        let refused = try client.send(method, path, body, headers: ["Accept-Encoding": "gzip;q=0, br"])
        #expect(refused.headers["Content-Encoding"] == nil && refused.body == plain.body)
        #expect(refused.headers["Vary"] == "Accept-Encoding")
    }

    @Test(arguments: [
        ("Cookie", "theme=dark"), ("Origin", "https://other.example"), ("Referer", "https://other.example/"),
        ("Sec-Fetch-Site", "cross-site"),
    ])
    func `a request that a page may have made gets an answer whose length tells nothing`(
        name: String, value: String
    ) throws {
        let client = try Self.filled()
        var headers = Self.gzip
        headers["Authorization"] = "Basic YWRtaW46YWRtaW4="
        headers[name] = value
        for path in ["/db/_all_docs", "/db/_changes", "/db/long"] {
            let answer = try client.send("GET", path, headers: headers)
            #expect(answer.status == 200 && answer.headers["Content-Encoding"] == nil, "\(path)")
        }
    }

    @Test func `a short answer, an error and a head are not compressed`() throws {
        let client = try Self.filled()
        for path in ["/db", "/db/d1", "/db/none", "/"] {
            #expect(try client.send("GET", path, headers: Self.gzip).headers["Content-Encoding"] == nil, "\(path)")
        }
        let head = try client.send("HEAD", "/db/long", headers: Self.gzip)
        #expect(head.status == 200 && head.headers["Content-Encoding"] == nil)
    }

    @Test(arguments: ["text/plain", "application/json", "image/png"])
    func `an attachment is sent as it is stored`(type: String) throws {
        let client = try RouterClient.withDatabase()
        let content = Array(String(repeating: "{\"a\":1}", count: 1000).utf8)
        let made = try client.send("PUT", "/db/a/f", bytes: content, headers: ["Content-Type": type])
        #expect(made.status == 201)
        let answer = try client.send("GET", "/db/a/f", headers: Self.gzip)
        let isStoredCompressed = type != "image/png"
        #expect(answer.headers["Content-Encoding"] == (isStoredCompressed ? "gzip" : nil))
        #expect(answer.headers["Vary"] == nil)
        #expect(
            try isStoredCompressed ? Compression.expand(answer.body, limit: 1 << 20) == content : answer.body == content
        )
    }

    @Test func `a compressed feed sends each change at once`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let feed = try live.connect()
        let request = LiveServer.request("GET", "/db/_changes?feed=continuous&heartbeat=60000")
        try feed.write(request.replacing("Host: test\r\n", with: "Accept-Encoding: gzip\r\nHost: test\r\n"))
        #expect(try feed.read(through: "\r\n\r\n").contains("Content-Encoding: gzip"))
        for id in ["first", "second", "third"] {
            _ = try live.send("PUT", "/db/\(id)", "{}")
            var shown = ""
            // The wait ends when nothing arrives for five minutes.
            while !shown.contains("\"id\":\"\(id)\"") {
                let (bytes, hasEnded) = feed.readWhatComes(first: 300_000, then: 50)
                shown = try Self.expanded(bytes)
                if hasEnded || bytes.isEmpty { break }
            }
            #expect(shown.contains("\"id\":\"\(id)\""))
        }
    }

    /// The text of chunks that a stream of gzip begins with.
    private static func expanded(_ chunks: [UInt8]) throws -> String {
        var (rest, compressed) = (chunks[...], [UInt8]())
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")),
            let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16),
            rest.count >= end - rest.startIndex + count + 4
        {
            compressed += rest[(end + 2)..<(end + 2 + count)]
            rest = rest[(end + 4 + count)...]
        }
        var text: [UInt8] = []
        try compressed.withUnsafeBytes { try Deflate(.expand, .gzip).process($0) { text.append(contentsOf: $0) } }
        return String(decoding: text, as: UTF8.self)
    }
}
