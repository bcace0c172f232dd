import Foundation
import Settle
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Each published vulnerability of CouchDB, with a test that Settle does not have it.
@Suite struct PublishedHolesTests {
    @Test func `CVE-2010-0009: secrets are compared in constant time`() throws {
        // Secrets are compared by CRYPTO_memcmp; its constant time is libcrypto's to prove.
        var nearly = SecureRandom.bytes(32)
        let secret = nearly
        #expect(Secrets.areEqual(secret, nearly))
        nearly[31] ^= 1
        #expect(!Secrets.areEqual(secret, nearly))
    }

    @Test func `CVE-2010-2234: a page of another site can't make a browser write`() throws {
        // Requests that a form of another site can send without a preflight: GET, and POST with three content types.
        let client = try RouterClient.withDatabase()
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            for path in ["/db", "/db/_bulk_docs", "/db/_compact", "/db/_purge", "/db/_ensure_full_commit", "/db/a"] {
                let answer = try client.send("POST", path, ["docs": [[:]]], headers: ["Content-Type": type])
                #expect([400, 415].contains(answer.status), "\(path) as \(type)")
            }
        }
        #expect(try client.send("GET", "/db").json["doc_count"] == 0)
        #expect(try client.send("GET", "/db/_compact").status == 405)
        let strict = SessionCookie(options: SecurityOptions(), isSecure: true).header("a", salt: "", secret: [1])
        #expect(strict.contains("HttpOnly") && strict.contains("Secure"))
    }

    @Test(arguments: ["<script>alert(1)</script>", "\"><img src=x>"])
    func `CVE-2010-3854, CVE-2012-5650: text of a request never comes back as a page`(text: String) throws {
        let client = try RouterClient.withDatabase()
        let escaped = PercentCoding.encode(text)
        for path in ["/\(escaped)", "/db/\(escaped)", "/db/_changes?filter=\(escaped)", "/db/_all_docs?key=\(escaped)"]
        {
            for method in ["GET", "PUT", "DELETE", "POST"] {
                let answer = try client.send(method, path, headers: ["Accept": "text/html"])
                #expect(answer.headers["Content-Type"]?.hasPrefix("text/html") != true)
            }
        }
        #expect(try client.send("GET", "/_utils/?\(escaped)").body == client.send("GET", "/_utils/").body)
        #expect(try client.send("GET", "/_utils/couch_tests.html?script/\(escaped)").status == 404)
    }

    @Test func `CVE-2012-5641: no path leads to a file`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        try "secret".write(toFile: client.folder("secret.settle"), atomically: true, encoding: .utf8)
        for path in [
            "/../secret", "/..%2Fsecret", "/..%5Csecret", "/%2e%2e/secret", "/%2e%2e%2fserver.json",
            "/_utils/..%5Csecret",
            "/db%2F..%2F..%2Fsecret", "/db.settle", "/server.json", "/db/a/..%2F..%2Fsecret", "/db/..%2Fsecret",
            "/db%00.settle", "/_users.settle%2Fdata",
        ] {
            for method in ["GET", "DELETE"] {
                let answer = try client.send(method, path)
                #expect(answer.status >= 400 && !answer.text.contains("secret\n"), "\(path)")
            }
        }
        for name in ["..", "../x", "/etc/passwd", "a/../../x", "x\0y"] {
            #expect(try client.send("PUT", "/" + PercentCoding.encode(name)).status == 400)
        }
    }

    @Test func `CVE-2012-5649: there are no callbacks in answers`() throws {
        let client = try RouterClient.withDatabase()
        for path in ["/?callback=f", "/db?callback=f", "/db/_all_docs?callback=f", "/_session?callback=f"] {
            let answer = try client.send("GET", path)
            #expect(answer.text.hasPrefix("{") && answer.headers["Content-Type"] == "application/json")
        }
    }

    @Test func `CVE-2014-2668: the number of uuids is limited`() throws {
        let client = try RouterClient()
        #expect(try client.send("GET", "/_uuids?count=1000").json["uuids"]?.array?.count == 1000)
        for count in ["1001", "99999999", "99999999999999999999999", "-1", "1e9"] {
            #expect(try client.send("GET", "/_uuids?count=\(count)").status == 400)
        }
    }

    @Test func `CVE-2017-12635: of duplicate members the one that is checked is the one that counts`() throws {
        let client = try RouterClient.with(users: [:]) { $0.security.isUsersSecurityEditable = true }
        #expect(try client.send("PUT", "/_users/_security", [:]).status == 200)
        let id = "/_users/org.couchdb.user:mal"
        for roles in [#""roles":["_admin"],"roles":[]"#, #""roles":[],"roles":["_admin"]"#] {
            let text = #"{"type":"user","name":"mal",\#(roles),"password":"pw"}"#
            let answer = try client.send("PUT", id, bytes: Array(text.utf8), headers: ["Authorization": ""])
            guard answer.status == 201 else {
                #expect(answer.status == 403)
                continue
            }
            #expect(try client.send(as: "mal:pw", "GET", "/_session").json["userCtx"]?["roles"] == [])
            #expect(try client.send("GET", id).json["roles"] == [])
            let rev = try client.send("GET", id).json["_rev"]?.string ?? ""
            #expect(try client.send("DELETE", id + "?rev=\(rev)").status == 200)
        }
        let escaped = #"{"type":"user","name":"mal","\u0072oles":["_admin"],"roles":[],"password":"pw"}"#
        let answer = try client.send("PUT", id, bytes: Array(escaped.utf8), headers: ["Authorization": ""])
        #expect(answer.status == 403 || answer.status == 201)
        #expect(try client.send("GET", id).json["roles"] == [])
        let bulk =
            #"{"docs":[{"_id":"org.couchdb.user:mia","type":"user","name":"mia","roles":["_admin"],"roles":[]}]}"#
        _ = try client.send("POST", "/_users/_bulk_docs", bytes: Array(bulk.utf8), headers: ["Authorization": ""])
        #expect(try !client.send("GET", "/_users/_all_docs?include_docs=true").text.contains("_admin"))
    }

    @Test(arguments: [
        "query_servers/cmd", "native_query_servers/query", "os_daemons/evil", "admins/mal", "daemons/x",
        "httpd/bind_address",
        "chttpd/bind_address", "couchdb/os_process_timeout", "update_notification/x", "chttpd_auth/secret",
        "couch_httpd_auth/authentication_db", "external/x", "httpd_global_handlers/x", "vendor/x",
        "couchdb/database_dir",
    ])
    func `CVE-2017-12636, CVE-2018-8007, CVE-2018-11769, CVE-2018-17188: no program is configured over HTTP`(
        key: String
    ) throws {
        let client = try RouterClient.withDatabase()
        for node in ["_local", "nonode@nohost", "other"] {
            let answer = try client.send("PUT", "/_node/\(node)/_config/\(key)", "/bin/sh")
            #expect(answer.status == 403)
            let shown = try client.send("GET", "/_node/\(node)/_config/\(key)")
            #expect(shown.status == (key == "chttpd/bind_address" && node != "other" ? 200 : 404))
        }
        #expect(try client.send("GET", "/_config/\(key)").status == 404)
        #expect(try client.send("PUT", "/_config/\(key)", "/bin/sh").status >= 400)
        #expect(try client.send("GET", "/_node/_local/_config").json["admins"] == nil)
        #expect(try client.send(as: "", "PUT", "/_node/_local/_config/\(key)", "/bin/sh").status == 401)
    }

    @Test func `CVE-2020-1955: requiring authentication covers everything but the one page`() throws {
        let client = try RouterClient { $0.security.anonymousAccess = .upOnly }
        #expect(try client.send("PUT", "/db").status == 201)
        #expect(try client.send("PUT", "/db/_security", [:]).status == 200)
        #expect(try client.send(as: "", "GET", "/_up").status == 200)
        for path in ["/", "/db", "/db/_all_docs", "/_all_dbs", "/_uuids", "/_session", "/_up/x", "/db/_up", "/_upx"] {
            for method in ["GET", "HEAD", "PUT", "DELETE"] {
                let status = try client.send(as: "", method, path, [:]).status
                #expect(status == 401, "\(method) \(path)")
            }
        }
    }

    @Test func `CVE-2021-38295: a script in an attachment runs in a sandbox`() throws {
        let client = try RouterClient.withDatabase()
        let page = Array("<script>fetch('/_session')</script>".utf8)
        for type in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml"] {
            let name = "/db/" + PercentCoding.encode(type)
            #expect(try client.send("PUT", name + "/x", bytes: page, headers: ["Content-Type": type]).status == 201)
            for headers: HTTPHeaders in [
                [:], ["Range": "bytes=0-5"], ["Range": "bytes=0-2,4-6"], ["Accept-Encoding": "gzip"],
            ] {
                let answer = try client.send("GET", name + "/x", headers: headers)
                #expect([200, 206].contains(answer.status))
                #expect(answer.headers["Content-Security-Policy"] == "sandbox", "\(type)")
                #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
            }
        }
        #expect(try client.send("GET", "/db/_design/x/_show/y").status == 501)
        #expect(try client.send("GET", "/db/_design/x/_list/y/z").status == 501)
    }

    @Test func `CVE-2022-24706: there is no second port, and no default secret`() throws {
        #expect(ServerOptions().host == "127.0.0.1")
        #expect(ServerOptions().security.admins.isEmpty)
        #expect(ServerSettings().secret != ServerSettings().secret)
        let (one, two) = (try RouterClient(), try RouterClient())
        #expect(one.server.state.administration.secret != two.server.state.administration.secret)
        let open = try RouterClient { $0.security.admins = [:] }
        #expect(try open.send(as: "", "GET", "/_all_dbs").status == 401)
        for credentials in ["admin:admin", "admin:", ":", "root:root", "admin:password"] {
            #expect(try open.send(as: credentials, "GET", "/_all_dbs").status == 401)
        }
    }

    /// Functions of design documents run, so this checks their arguments.
    @Test func `CVE-2023-26268, CVE-2023-45725: no design function sees credentials or another's secrets`() throws {
        let client = try RouterClient { options in
            options.scripts = .built
            options.security.proxy = ProxyOptions(secret: "proxy-secret")
            options.security.proxy?.nameHeader = "X-Our-Name"
            options.security.proxy?.rolesHeader = "X-Our-Roles"
            options.security.proxy?.tokenHeader = "X-Our-Word"
        }
        #expect(try client.send("PUT", "/db").status == 201)
        #expect(try client.send("PUT", "/db/_security", ["members": ["names": []]]).status == 200)
        let show = "function (doc, req) { return [null, toJSON([req, Object.keys(globalThis)])] }"
        let refuse = "throw({forbidden: toJSON([].slice.call(arguments))})"
        try client.design(
            "x",
            [
                "updates": ["f": .string(show)],
                "filters": ["f": .string("function (doc, req) { \(refuse) }")],
                "validate_doc_update": .string("function (doc, old, user, security) { if (doc.show) \(refuse) }"),
                "views": ["v": ["map": "function (doc) { emit(toJSON([doc, Object.keys(globalThis)])) }"]],
            ])
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        let word = Hexadecimal.encode(HashFunction.sha256.code(of: Array("anna".utf8), key: Array("proxy-secret".utf8)))
        let headers: HTTPHeaders = [
            "Authorization": "Basic c29tZTpzZWNyZXQx", "Cookie": "AuthSession=secret2", "X-Our-Name": "anna",
            "X-Our-Roles": "writer", "X-Our-Word": word, "Proxy-Authorization": "Basic secret3",
            "X-Auth-CouchDB-Token": "secret4", "X-Api-Key": "secret5", "X-Amz-Security-Token": "secret6",
            "X-Vault-Token": "secret7", "Forwarded": "for=secret8", "User-Agent": "tea/1", "Accept-Language": "cs",
            "Content-Type": "application/json",
        ]
        let answers = [
            try client.send("POST", "/db/_design/x/_update/f", headers: headers),
            try client.send("GET", "/db/_changes?filter=x/f", headers: headers),
            try client.send("PUT", "/db/b", ["show": 1], headers: headers),
            try client.send("GET", "/db/_design/x/_view/v", headers: headers),
        ]
        #expect(answers.map(\.status) == [200, 500, 403, 200])
        for answer in answers {
            for secret in ["c29tZTpzZWNyZXQx", "secret", word, "AuthSession", "uthorization", "proxy-secret", "X-Our"] {
                #expect(!answer.text.contains(secret), "\(secret) in \(answer.text)")
            }
        }
        #expect(answers[0].json[0]?["headers"]?["User-Agent"] == "tea/1")
        #expect(answers[0].json[0]?["headers"]?["Accept-Language"] == "cs")
        #expect(answers[0].json[0]?["headers"]?["Host"] == "test")
        #expect(answers[0].json[0]?["userCtx"]?["name"] == "anna")
        for path in ["_show/f", "_list/f/v", "_rewrite/f"] {
            #expect(try client.send("GET", "/db/_design/x/" + path, headers: headers).status == 501)
        }
    }

    @Test func `CVE-2023-26268, CVE-2023-45725: documents of a design document share nothing with another's`() throws {
        let client = try RouterClient.withScripts()
        let code = """
            function (doc, req) { var old = String(globalThis.left); globalThis.left = 'here'; return [null, old] }
            """
        for name in ["one", "two"] { try client.design(name, ["updates": ["f": .string(code)]]) }
        #expect(try client.send("POST", "/db/_design/one/_update/f").text == "undefined")
        #expect(try client.send("POST", "/db/_design/two/_update/f").text == "undefined")
    }

    @Test func `no error reveals a secret`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        let settings = client.server.state.administration
        let secret = String(decoding: settings.secret, as: UTF8.self)
        let hash = try #require(settings.hash(of: "admin")).hash
        for (method, path) in [
            ("GET", "/_session"), ("PUT", "/_users/org.couchdb.user:anna"),
            ("GET", "/_node/_local/_config/admins/admin"), ("GET", "/_node/_local/_config"),
            ("POST", "/_session"), ("GET", "/nope"), ("GET", "/"),
        ] {
            let body: JSONValue = ["name": "anna", "password": "sesame-open", "roles": 5, "type": "user"]
            for who in ["", "anna:sesame-open", "admin:admin"] {
                let answer = try client.send(as: who, method, path, body)
                #expect(!answer.text.contains("sesame-open") && !answer.text.contains(secret))
                #expect(!answer.text.contains(hash))
            }
        }
    }
}
