import Settle
import Testing

@testable import SettleServer

/// Feeds whose database is deleted, or whose server is stopped, while they wait.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClosedFeedTests {
    /// A waiting feed, and the sequence of the only document.
    private func waiting(_ query: String, on live: LiveServer) throws -> (feed: RawConnection, sequence: String) {
        _ = try live.send("PUT", "/db")
        _ = try live.send("PUT", "/db/a", "{}")
        let info = try JSONValue(utf8: try live.send("GET", "/db").body)
        let sequence = try #require(info["update_seq"]?.string)
        let feed = try live.connect()
        try feed.write(LiveServer.request("GET", "/db/_changes?since=now&\(query)"))
        _ = try feed.read(through: "\r\n\r\n")
        return (feed, sequence)
    }

    @Test func `long polling on a deleted database answers with complete JSONValue`() throws {
        let live = try LiveServer()
        let (feed, sequence) = try waiting("feed=longpoll", on: live)
        _ = try feed.read(through: "\"results\":[")
        _ = try live.send("DELETE", "/db")
        let rest = try feed.read(through: "0\r\n\r\n")
        #expect(rest.contains("],\n\"last_seq\":\"\(sequence)\",\"pending\":0}\n"))
    }

    @Test func `a continuous feed of a deleted database ends with its position`() throws {
        let live = try LiveServer()
        let (feed, sequence) = try waiting("feed=continuous", on: live)
        _ = try live.send("DELETE", "/db")
        let rest = try feed.read(through: "0\r\n\r\n")
        #expect(rest.contains("{\"last_seq\":\"\(sequence)\",\"pending\":0}\n"))
    }

    @Test func `an event source of a deleted database ends without a last event`() throws {
        let live = try LiveServer()
        let (feed, _) = try waiting("feed=eventsource", on: live)
        _ = try live.send("DELETE", "/db")
        #expect(try feed.read(through: "0\r\n\r\n") == "0\r\n\r\n")
    }

    @Test func `long polling on a stopping server answers with complete JSONValue`() throws {
        let live = try LiveServer { $0.stopTimeout = .seconds(300) }
        let (feed, sequence) = try waiting("feed=longpoll", on: live)
        _ = try feed.read(through: "\"results\":[")
        live.server.stop()
        let rest = try feed.read(through: "0\r\n\r\n")
        #expect(rest.contains("],\n\"last_seq\":\"\(sequence)\",\"pending\":0}\n"))
    }
}
