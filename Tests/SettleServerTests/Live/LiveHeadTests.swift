import Foundation
import Settle
import Testing

@testable import SettleServer

/// `HEAD` sends the same as `GET` without the body, and the next answer on the connection is intact.
@Suite struct LiveHeadTests {
    private static let paths = [
        "/db/_all_docs", "/db/_all_docs?include_docs=true", "/db/_changes", "/db/_changes?style=all_docs",
        "/db/_design/d/_view/v?reduce=false", "/db/a?open_revs=all", "/db/a", "/db", "/db/a/x", "/_all_dbs", "/db/none",
        "/none", "/db/_changes?feed=continuous&timeout=50", "/db/_changes?feed=longpoll&since=now&timeout=50",
    ]

    @Test(arguments: paths) func `the next answer on a connection follows at once`(path: String) throws {
        let live = try LiveServer { $0.scripts = .built }
        _ = try live.send("PUT", "/db")
        _ = try live.send("PUT", "/db/a", #"{"_attachments":{"x":{"data":"eA=="}}}"#)
        _ = try live.send("PUT", "/db/_design/d", #"{"views":{"v":{"map":"function (d) { emit(1) }"}}}"#)
        let connection = try live.connect()
        for _ in 0..<3 {
            try connection.write(LiveServer.request("HEAD", path))
            let head = try connection.read(through: "\r\n\r\n")
            let status = head.dropFirst(9).prefix(3)
            #expect(path.contains("none") ? status == "404" : status == "200", "\(head)")
            if head.lowercased().contains("connection: close") {
                #expect(path.contains("feed="), "\(head)")
                #expect(try connection.readToEnd().isEmpty)
                return
            }
            try connection.write(LiveServer.request("GET", "/db/a"))
            let next = try connection.readAnswer()
            #expect(next.head.hasPrefix("HTTP/1.1 200"), "\(next.head)")
            #expect(String(decoding: next.body, as: UTF8.self).contains(#""_id":"a""#))
        }
    }

    @Test func `the length is the body's where it is known, and missing where it is not`() throws {
        let live = try LiveServer { $0.bulkDocuments = 20_000 }
        _ = try live.send("PUT", "/db")
        for path in ["/db/_all_docs", "/db/_changes"] {
            let connection = try live.connect()
            try connection.write(LiveServer.request("HEAD", path))
            let head = try connection.read(through: "\r\n\r\n")
            let count = try live.send("GET", path).body.count
            #expect(head.contains("Content-Length: \(count)\r\n"), "\(head)")
        }
        let documents = (0..<20_000).map { #"{"_id":"document-\#($0)-with-a-long-name"}"# }.joined(separator: ",")
        _ = try live.send("POST", "/db/_bulk_docs", #"{"docs":[\#(documents)]}"#)
        let connection = try live.connect()
        try connection.write(LiveServer.request("HEAD", "/db/_all_docs"))
        let head = try connection.read(through: "\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200") && head.lowercased().contains("connection: close"), "\(head)")
        #expect(!head.lowercased().contains("content-length"), "\(head)")
        #expect(try connection.readToEnd().isEmpty)
    }
}
