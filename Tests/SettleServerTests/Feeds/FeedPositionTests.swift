import Settle
import Testing

@testable import SettleServer

/// Positions past the database's newest: from before a backup was restored, or invented.
@Suite struct FeedPositionTests {
    @Test(arguments: ["normal", "longpoll", "continuous", "eventsource"])
    func `a position past the newest change starts again and misses nothing`(feed: String) throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let newest = try #require(try client.send("GET", "/db").json["update_seq"]?.string)
        // The same database, restored to before the client's position.
        let ahead = newest.replacing(#/^2-/#, with: "999-")
        for since in ["999", ahead] {
            let answer = try client.send("GET", "/db/_changes?feed=\(feed)&timeout=50&since=\(since)")
            #expect(answer.text.contains(#""id":"a""#) && answer.text.contains(#""id":"b""#))
            #expect(!answer.text.contains("999-"))
        }
    }

    @Test func `changes after a position past the newest change are shown`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", [:])
        let first = try client.send("GET", "/db/_changes?since=999").json
        let since = try #require(first["last_seq"]?.string)
        _ = try client.send("PUT", "/db/b", [:])
        let next = try client.send("GET", "/db/_changes?since=\(since)").json
        #expect(next["results"]?.array?.map { $0["id"] } == ["b"])
    }
}
