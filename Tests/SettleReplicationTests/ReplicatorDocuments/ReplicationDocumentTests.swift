import SettleCore
import SettleHTTP
import Testing

@testable import SettleReplication

@Suite struct ReplicationDocumentTests {
    private func read(_ json: JSONValue) throws -> ReplicationDocument {
        try ReplicationDocument(try #require(json.object))
    }

    @Test func `all members of CouchDB's format are read`() throws {
        let document = try read([
            "source": [
                "url": "http://x.example/a/", "headers": ["X-A": "1", "Authorization": "Basic YW5uYTpzZWNyZXQ="],
            ],
            "target": "https://bert:pw@y.example:6984/b", "continuous": true, "create_target": true,
            "create_target_params": ["q": 2], "filter": "d/f", "query_params": ["k": "v"], "since_seq": "5-x",
            "use_checkpoints": false, "checkpoint_interval": 2500, "worker_batch_size": "30", "owner": "x",
        ])
        #expect(document.source.shown == "http://x.example/a/" && document.target.shown == "https://y.example:6984/b/")
        #expect(document.source.credentials?.user == "anna" && document.target.credentials?.user == "bert")
        #expect(document.source.headers["X-A"] == "1" && document.source.headers["Authorization"] == nil)
        #expect(document.isContinuous && document.createsTarget && !document.usesCheckpoints)
        #expect(document.targetParameters.first?.value == "2" && document.since == PeerSequence("5-x"))
        #expect(document.checkpointInterval == .milliseconds(2500) && document.revisionsAtOnce == 30)
        guard case .named(let name, let parameters) = document.filter else {
            Issue.record("the filter is another one")
            return
        }
        #expect(name == "d/f" && parameters == ["k": "v"])
    }

    @Test func `a WebSocket's address has a collection and channels`() throws {
        let document = try read([
            "source": ["url": "wss://anna:hush@x.example/a", "collection": "inventory.food"],
            "target": "ws://y.example:4984/b", "filter": "sync_gateway/bychannel", "query_params": ["channels": "a,b"],
        ])
        #expect(document.source.shown == "wss://x.example/a#inventory.food")
        #expect(document.target.shown == "ws://y.example:4984/b/")
        #expect(document.source.collection == "inventory.food" && document.source.credentials?.user == "anna")
        guard case .channels(["a", "b"]) = document.filter else {
            Issue.record("the filter is another one")
            return
        }
        let shown = ReplicationDocument.shownAddress("wss://anna:hush@x.example/a")
        #expect(shown == "wss://x.example/a/")
        let members: JSONObject = ["source": ["url": "wss://anna:hush@x.example/a?k=hush", "collection": "hush"]]
        #expect(ReplicationDocument.withoutCredentials(members)["source"] == ["url": "wss://x.example/a"])
    }

    @Test func `of several credentials those in auth count, then those in the URL`() throws {
        let auth: JSONValue = ["basic": ["username": "first", "password": "x"]]
        let headers: JSONValue = ["Authorization": "Basic YW5uYTpzZWNyZXQ="]
        let url: JSONValue = "http://second:x@h/a"
        let all = try read(["source": ["url": url, "auth": auth, "headers": headers], "target": "here"])
        #expect(all.source.credentials?.user == "first" && all.source.headers["Authorization"] == nil)
        let two = try read(["source": ["url": url, "headers": headers], "target": "here"])
        #expect(two.source.credentials?.user == "second" && two.target.url == nil && two.target.name == "here")
        let token = try read([
            "source": ["url": "http://h/a", "headers": ["Authorization": "Negotiate x"]], "target": "b",
        ])
        #expect(token.source.credentials == nil && token.source.headers["Authorization"] == "Negotiate x")
    }

    // SEMANTICS 207
    @Test func `a replication of winners only has an id of its own`() throws {
        var members: JSONValue = ["source": "a", "target": "b", "winning_revs_only": true]
        #expect(try read(members).replicatesOnlyWinners)
        members["winning_revs_only"] = false
        #expect(try !read(members).replicatesOnlyWinners)
        func id(_ replicatesOnlyWinners: Bool) -> ReplicationID {
            ReplicationID(
                source: "a", target: "b", filter: .all, branching: .allowed,
                replicatesOnlyWinners: replicatesOnlyWinners)
        }
        #expect(id(true) != id(false))
        #expect(id(false) == ReplicationID(source: "a", target: "b", filter: .all, branching: .allowed))
    }

    @Test func `an invalid document is refused, without a password in the reason`() throws {
        let wrong: [JSONValue] = [
            [:], ["source": "http://u:hush@h/a"], ["source": "http://u:hush@h", "target": "b"],
            ["source": "http://u:hush@h:x/a", "target": "b"], ["source": ["url": 1], "target": "b"],
            ["source": ["url": "http://h/a", "auth": ["basic": "hush"]], "target": "b"],
            ["source": ["url": "http://h/a", "headers": ["A": 1]], "target": "b"],
            ["source": "a", "target": "b", "proxy": "http://u:hush@p"],
            ["source": "a", "target": "b", "winning_revs_only": "hush"],
            ["source": "a", "target": "b", "selector": ["$hush": 1]], ["source": "a", "target": "b", "doc_ids": [1]],
            ["source": "a", "target": "b", "query_params": 1, "filter": "a/b"],
            ["source": "a", "target": "b", "create_target_params": 1],
            ["source": ["url": "http://u:hush@h/a", "collection": "x.y"], "target": "b"],
            ["source": "ws://u:hush@h", "target": "b"], ["source": "wsx://u:hush@h/a", "target": "b"],
        ]
        for json in wrong {
            let error = #expect(throws: ReplicationDocumentError.self) { try read(json) }
            #expect(error?.message.contains("u:hush") == false, "\(json)")
        }
    }

    @Test func `the public form has no credentials`() throws {
        let shown = ReplicationDocument.withoutCredentials(
            try #require(
                ([
                    "source": "http://u:hush@h:1/a?x=1", "proxy": "http://u:hush@p", "owner": "u",
                    "target": [
                        "url": "https://u:hu@sh@h/b", "headers": ["Cookie": "hush"], "auth": ["basic": "hush"],
                        "note": 1,
                    ],
                ] as JSONValue).object))
        #expect(
            !JSONValue.object(shown).description.contains("hush")
                && !JSONValue.object(shown).description.contains("sh@"))
        #expect(shown["source"] == "http://h:1/a" && shown["owner"] == "u")
        #expect(shown["target"] == ["url": "https://h/b"])
        for text in ["http://u:hu/sh@h/a", "http://u:hush?x@h/a", "u:hush@h/a", "a?k=hush"] {
            let broken = ReplicationDocument.withoutCredentials([
                "source": .string(text), "target": ["url": .string(text)],
            ])
            #expect(broken["source"]?.isNull == true && broken["target"] == ["url": .null], "\(text)")
            #expect(ReplicationDocument.shownAddress(.string(text)).isNull)
        }
        #expect(ReplicationDocument.withoutCredentials(["source": "http://h/a#hush"])["source"] == "http://h/a")
        #expect(ReplicationDocument.withoutCredentials(["source": "a"])["source"] == "a")
        #expect(ReplicationDocument.shownAddress("http://u:hush@h/a") == "http://h/a/")
        #expect(
            ReplicationDocument.shownAddress(["url": 1]).isNull && ReplicationDocument.shownAddress("http://").isNull)
    }
}
