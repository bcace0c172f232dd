/// Requests with the least and greatest integers: each is valid except for one number in its query, a header or its body.
struct ExtremeRequests {
    let method: String
    let target: String
    var headers = ""
    var body: String?

    /// The numbers, as JSON.
    static let numbers = [
        "0", "-1", "1", "2147483647", "2147483648", "-2147483649", "4294967296", "4611686018427387904",
        "9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e18", "1e19", "1e308", "-1e308",
        "0.5", "99999999999999999999999999",
    ]

    private static let queries = [
        "/_uuids?count=#", "/_all_dbs?limit=#", "/_all_dbs?skip=#", "/_dbs_info?limit=#", "/_dbs_info?skip=#",
        "/_scheduler/jobs?limit=#", "/_scheduler/jobs?skip=#", "/_scheduler/docs?limit=#", "/_scheduler/docs?skip=#",
        "/_scheduler/docs/_replicator?limit=#&skip=#", "/db/_all_docs?limit=#", "/db/_all_docs?skip=#",
        "/db/_all_docs?limit=#&skip=#", "/db/_all_docs?key=#", "/db/_all_docs?keys=[#]",
        "/db/_all_docs?startkey=#&endkey=#", "/db/_all_docs?group_level=#", "/db/_local_docs?limit=#&skip=#",
        "/db/_design_docs?limit=#&skip=#", "/db/_changes?limit=#", "/db/_changes?since=#", "/db/_changes?since=#-x",
        "/db/_changes?last-event-id=#", "/db/_changes?seq_interval=#", "/db/_changes?timeout=#",
        "/db/_changes?heartbeat=#", "/db/_changes?limit=#&since=#&descending=true", "/db/_index?limit=#",
        "/db/_index?skip=#", "/db/a?rev=#-967a00dff5e02add41819138abb3284d", "/db/a?open_revs=[%22#-a%22]",
        "/db/a?atts_since=[%22#-a%22]&attachments=true", "/db/_design/d/_view/v?limit=#",
        "/db/_design/d/_view/v?skip=#", "/db/_design/d/_view/v?limit=#&skip=#&reduce=false",
        "/db/_design/d/_view/v?group_level=#", "/db/_design/d/_view/v?group_level=#&limit=#&skip=#",
        "/db/_design/d/_view/v?key=#", "/db/_design/d/_view/v?startkey=[#]&endkey=[#]&group=true",
        "/db/_design/d/_view/s?group_level=#",
    ]

    private static let headers: [(String, String)] = [
        ("/db/a/x", "Range: bytes=#-#"), ("/db/a/x", "Range: bytes=-#"), ("/db/a/x", "Range: bytes=#-"),
        ("/db/a/x", "Range: bytes=0-#,1-#"), ("/db/_changes?feed=eventsource&timeout=1", "Last-Event-ID: #"),
        ("/db/a", "If-None-Match: \"#-a\""), ("/", "Cookie: AuthSession=#"), ("/db/a", "X-Couch-Full-Commit: #"),
    ]

    private static let bodies: [(String, String, String)] =
        [
            ("PUT", "/db/_revs_limit", "#"), ("PUT", "/db/_purged_infos_limit", "#"),
            ("POST", "/db/_find", #"{"selector":{"n":{"$gt":#}},"limit":#,"skip":#}"#),
            ("POST", "/db/_find", #"{"selector":{"n":{"$mod":[#,1]}}}"#),
            ("POST", "/db/_find", #"{"selector":{"n":{"$mod":[3,#]}}}"#),
            ("POST", "/db/_find", #"{"selector":{"a":{"$size":#}},"r":#}"#),
            ("POST", "/db/_find", #"{"selector":{"n":{"$in":[#]}},"sort":["n"],"limit":#,"execution_stats":true}"#),
            ("POST", "/db/_explain", #"{"selector":{"n":#},"limit":#,"skip":#}"#),
            ("POST", "/db/_changes?filter=_doc_ids", #"{"doc_ids":["a"],"limit":#,"since":#}"#),
            ("POST", "/db/_all_docs", #"{"keys":["a"],"limit":#,"skip":#}"#),
            ("POST", "/db/_all_docs/queries", #"{"queries":[{"limit":#,"skip":#},{"startkey":#}]}"#),
            ("POST", "/db/_design/d/_view/v", #"{"keys":[#],"limit":#,"skip":#,"reduce":false}"#),
            ("POST", "/db/_design/d/_view/v/queries", #"{"queries":[{"group_level":#,"limit":#,"skip":#}]}"#),
            ("POST", "/db/_purge", ##"{"a":["#-967a00dff5e02add41819138abb3284d"]}"##),
            ("POST", "/db/_revs_diff", ##"{"a":["#-967a00dff5e02add41819138abb3284d"]}"##),
            ("POST", "/db/_missing_revs", ##"{"a":["#-967a00dff5e02add41819138abb3284d"]}"##),
            ("POST", "/db/_bulk_get", ##"{"docs":[{"id":"a","rev":"#-a","atts_since":["#-b"]}]}"##),
            (
                "POST", "/db/_bulk_docs",
                ##"{"new_edits":false,"docs":[{"_id":"r","_rev":"#-967a00dff5e02add41819138abb3284d","v":1}]}"##
            ),
            (
                "POST", "/db/_bulk_docs",
                ##"{"new_edits":false,"docs":[{"_id":"h","_revisions":{"start":#,"ids":["967a00dff5e02add41819138abb3284d","b"]}}]}"##
            ),
            ("PUT", "/db/r", ##"{"_rev":"#-967a00dff5e02add41819138abb3284d","v":2}"##),
            ("PUT", "/db/t?new_edits=false", #"{"_revisions":{"start":#,"ids":["a"]},"_local_seq":#}"#),
            (
                "PUT", "/db/s",
                #"{"_attachments":{"x":{"stub":true,"revpos":#,"length":#,"digest":"md5-AAAAAAAAAAAAAAAAAAAAAA=="}}}"#
            ),
            (
                "PUT", "/db/f",
                #"{"_attachments":{"x":{"data":"eA==","revpos":#,"length":#,"encoded_length":#,"encoding":"gzip"}}}"#
            ),
            ("PUT", "/db/g", #"{"_attachments":{"x":{"follows":true,"length":#,"encoded_length":#}}}"#),
            ("PUT", "/db/n#", #"{"n":#,"a":[#,#],"_id":"n#"}"#),
            ("PUT", "/db/_local/l", ##"{"_rev":"0-#","n":#}"##),
            (
                "PUT", "/db/_design/lib?new_edits=true",
                #"{"views":{"v":{"map":"function (d) { emit(#, #) }","reduce":"_sum"}},"options":{"n":#}}"#
            ),
            (
                "POST", "/db/_local_changes",
                #"{"notes":[{"id":"c","changes":[{"attribute":"a","value":#,"timestamp":#}]}]}"#
            ),
            (
                "PUT", "/_users/org.couchdb.user:u",
                #"{"name":"u","type":"user","roles":[],"iterations":#,"password_scheme":"pbkdf2","derived_key":"00","salt":"s","totp":{"key":"GEZDGNBV","length":#}}"#
            ),
            ("PUT", "/db/_security", #"{"members":{"names":[#],"roles":[]},"admins":#}"#),
            (
                "POST", "/db/_index",
                #"{"index":{"fields":["n"],"partial_filter_selector":{"n":{"$mod":[#,#]}}},"ddoc":"i"}"#
            ),
            (
                "POST", "/_replicate",
                #"{"source":"http://admin:admin@127.0.0.1:{port}/db","target":"http://admin:admin@127.0.0.1:{port}/two","since_seq":#,"worker_batch_size":#,"worker_processes":#,"http_connections":#,"retries_per_request":#,"connection_timeout":#,"checkpoint_interval":#}"#
            ),
        ]
        + ["worker_batch_size", "checkpoint_interval", "retries_per_request", "since_seq"].map { name in
            (
                "PUT", "/_replicator/\(name)-#",
                #"{"source":"http://admin:admin@127.0.0.1:{port}/db","target":"http://admin:admin@127.0.0.1:{port}/two","\#(name)":#}"#
            )
        }

    /// All such requests; `port` is the server's own.
    static func all(port: Int) -> [ExtremeRequests] {
        numbers.flatMap { number in
            let name = number.replacing("-", with: "m").replacing(".", with: "p")
            let gets = queries.map { ExtremeRequests(method: "GET", target: $0.replacing("#", with: number)) }
            let ranged = headers.map { target, header in
                ExtremeRequests(method: "GET", target: target, headers: header.replacing("#", with: number) + "\r\n")
            }
            let sent = bodies.map { method, target, body in
                ExtremeRequests(
                    method: method, target: target.replacing("#", with: name),
                    body: body.replacing("#", with: number).replacing("{port}", with: "\(port)"))
            }
            return gets + ranged + sent
        }
    }

    /// The request, as the administrator.
    var text: String {
        let request = LiveServer.request(method, target, body)
        return headers.isEmpty ? request : request.replacing("Accept: ", with: headers + "Accept: ", maxReplacements: 1)
    }
}
