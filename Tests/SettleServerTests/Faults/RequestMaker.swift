import SettleTesting

/// Makes random requests from a seed: most of them malformed, others valid and senseless.
struct RequestMaker {
    private var choices: SeededRandom

    init(seed: UInt64) { choices = SeededRandom(seed: seed) }

    /// One request, or several pipelined ones.
    mutating func next() -> [UInt8] {
        var bytes = request()
        if choices.below(8) == 0 { bytes += request() }
        for _ in 0..<[0, 0, 0, 1, 2, 4][choices.below(6)] { mutate(&bytes) }
        return bytes
    }

    private mutating func request() -> [UInt8] {
        let body = choices.element(of: Self.bodies)
        let version = choices.below(16) == 0 ? choices.element(of: Self.oddVersions) : "HTTP/1.1"
        let query = choices.below(2) == 0 ? choices.element(of: Self.queries) : ""
        var text =
            "\(choices.element(of: Self.methods)) \(choices.element(of: Self.targets))\(query) \(version)\r\nHost: x\r\n"
        if choices.below(10) > 0 { text += "Authorization: Basic YWRtaW46YWRtaW4=\r\n" }
        if choices.below(4) > 0 { text += "Content-Type: \(choices.element(of: Self.types))\r\n" }
        for _ in 0..<choices.below(3) { text += choices.element(of: Self.fields) + "\r\n" }
        if choices.below(12) == 0 { text += choices.element(of: Self.oddFields) + "\r\n" }
        switch choices.below(8) {
        case 0: return Array((text + "\r\n").utf8)
        case 1:
            let size = String(body.utf8.count, radix: 16)
            return Array((text + "Transfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n").utf8)
        case 2: return Array((text + "Content-Length: \(choices.below(100))\r\n\r\n\(body)").utf8)
        default: return Array((text + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
        }
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let position = choices.below(bytes.count)
        let end = min(position + 1 + choices.below(16), bytes.count)
        switch choices.below(7) {
        case 0: bytes[position] ^= 1 << UInt8(choices.below(8))
        case 1: bytes[position] = [0, 9, 10, 13, 32, 0x22, 0x25, 0x2F, 0x3A, 0x7F, 0x80, 0xFF][choices.below(12)]
        case 2: bytes.removeSubrange(position..<end)
        case 3: bytes.insert(contentsOf: bytes[position..<end], at: position)
        case 4:
            bytes.insert(
                contentsOf: Array(choices.element(of: Self.oddFields + Self.queries + Self.bodies).utf8), at: position)
        case 5: bytes.removeLast(bytes.count - position)
        default: bytes.insert(UInt8(choices.below(256)), at: position)
        }
    }

    private static let methods = [
        "GET", "GET", "PUT", "PUT", "POST", "POST", "DELETE", "HEAD", "COPY", "OPTIONS", "PATCH", "TRACE", "get",
        "\u{1}",
    ]
    private static let oddVersions = ["HTTP/1.0", "HTTP/9.9", "HTTP/1.", ""]
    private static let types = [
        "application/json", "application/json", "application/json", "multipart/related; boundary=b", "text/plain",
        "multipart/related;boundary=\"\"", "multipart/mixed", "image/x", ";;;",
    ]
    private static let targets = [
        "/", "/db", "/db/a", "/db/b", "/db/a/x.png", "/db/a/x%2Fy", "/db/_design/d", "/db/_local/l", "/db/_local/%00",
        "/db/_bulk_docs", "/db/_bulk_get", "/db/_all_docs", "/db/_changes", "/db/_revs_diff", "/db/_missing_revs",
        "/db/_purge", "/db/_compact", "/db/_security", "/db/_revs_limit", "/db/_design_docs", "/db/_local_docs",
        "/db/_ensure_full_commit", "/db/_all_docs/queries", "/db/_find", "/db/_index", "/db/_view_cleanup", "/_all_dbs",
        "/_session", "/_up", "/_uuids", "/_dbs_info", "/_users/org.couchdb.user:u", "/_active_tasks", "/_utils",
        "/_node/_local/_config", "/_node/_local/_stats", "/_replicate", "/_scheduler/docs", "/%ff%fe", "//db//a//",
        "/db/%2e%2e", "/../../etc/passwd", "/db/\u{E9}", "/e", "*", "http://x/db", "/_membership", "/db/_shards",
    ]
    private static let queries = [
        "", "", "", "?rev=1-x", "?rev=1-967a00dff5e02add41819138abb3284d", "?new_edits=false", "?batch=ok",
        "?include_docs=true&limit=2", "?keys=[1]", "?startkey=%22a%22&endkey={", "?limit=-1",
        "?limit=99999999999999999999",
        "?since=now&timeout=1", "?since=999999999999999999999-x", "?feed=normal&since=-5", "?revs=true&open_revs=all",
        "?open_revs=[\"1-a\"]&latest=true", "?attachments=true", "?atts_since=[]", "?skip=1&descending=true",
        "?count=5",
        "?count=-9", "?key=%ff", "?&&==;;", "?style=all_docs&filter=_doc_ids", "?filter=_selector", "?filter=a/b",
    ]
    private static let fields = [
        "Accept: application/json", "Accept: multipart/mixed", "Accept-Encoding: gzip", "If-Match: 1-x",
        "If-None-Match: \"x\"",
        "Range: bytes=0-", "Range: bytes=9-1,,-", "Destination: c", "Destination: ../x?rev=1-a",
        "Content-Encoding: gzip",
        "Expect: 100-continue", "Cookie: AuthSession=YWRtaW46NjU6eA", "Authorization: Basic eDp5",
        "Authorization: Bearer a.b.c",
        "X-HTTP-Method-Override: DELETE", "X-Couch-Full-Commit: false", "Connection: close", "Connection: upgrade",
        "Content-MD5: x",
        "Last-Event-ID: 1",
        "Origin: null", "Host: y",
    ]
    private static let oddFields = [
        "Content-Length: 5", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked", ": x", "X", " folded", "A : b",
        "Content-Length: -1",
    ]
    private static let bodies = [
        "", "{}", "[]", "null", "{\"a\":1}", "{\"_id\":\"a\",\"n\":1}", "{\"_rev\":\"1-x\"}", "{\"_deleted\":true}",
        "{\"docs\":[{\"_id\":\"a\"},{\"_id\":\"b\",\"_attachments\":{\"x\":{\"data\":\"eA==\"}}}]}",
        "{\"docs\":[{\"id\":\"a\"}]}",
        "{\"docs\":[{\"_id\":\"c\",\"_rev\":\"2-b\",\"_revisions\":{\"start\":2,\"ids\":[\"b\",\"a\"]}}],\"new_edits\":false}",
        "{\"docs\":[1,null,\"x\"]}", "{\"keys\":[\"a\",\"b\",1,null]}", "{\"a\":[\"1-x\",\"2-y\"]}",
        "{\"doc_ids\":[\"a\"]}",
        "{\"selector\":{\"a\":{\"$gt\":1}}}", "{\"queries\":[{\"limit\":1},{\"keys\":[]}]}",
        "{\"name\":\"a\",\"password\":\"b\"}",
        "{\"views\":{\"v\":{\"map\":\"function(d){emit(1)}\"}}}", "{\"admins\":{\"names\":[1]},\"members\":null}", "5",
        "-1e999",
        "{\"_attachments\":{\"x\":{\"follows\":true,\"length\":3}}}", "{\"a\":\"\\ud800\"}",
        "{\"_revisions\":{\"start\":-1,\"ids\":[]}}",
        "{\"name\":\"u\",\"type\":\"user\",\"roles\":[],\"password\":\"p\"}", "[[[[[[[[[[[[[[[[[[[[", "{\"_zzz\":1}",
        "\u{0}\u{1}",
        "--b\r\nContent-Type: application/json\r\n\r\n{\"_attachments\":{\"x\":{\"follows\":true,\"length\":1}}}\r\n--b\r\n\r\nx\r\n--b--",
    ]
}
