import Foundation
import Settle
import SettleHTTP
import Testing

@testable import SettleServer

/// The files of the console over HTTP: headers, forms, and who gets them.
@Suite struct ConsoleTests {
    private static let files = ConsoleFiles()

    @Test func `the page leads to files of one hash, and is asked for anew each time`() throws {
        let client = try RouterClient()
        let page = try client.send("GET", "/_utils/")
        #expect(page.status == 200 && page.text.contains("a/\(Self.files.hash)/app/main.js"))
        #expect(page.headers["Content-Type"] == "text/html; charset=utf-8")
        #expect(page.headers["Cache-Control"] == "no-cache")
        let tag = try #require(page.headers["ETag"])
        #expect(try client.send("GET", "/_utils/", headers: ["If-None-Match": tag]).status == 304)
    }

    @Test func `without the slash it leads to the page, relatively, as behind a proxy with a prefix`() throws {
        let answer = try RouterClient().send("GET", "/_utils")
        #expect(answer.status == 301 && answer.headers["Location"] == "_utils/")
    }

    @Test func `every file comes with the strict headers, and may be kept for ever`() throws {
        let client = try RouterClient()
        #expect(Self.files.names.contains("app/main.js"))
        for name in Self.files.names {
            let answer = try client.send(as: "", "GET", "/_utils/a/\(Self.files.hash)/\(name)")
            #expect(answer.status == 200, "\(name)")
            #expect(answer.body == Self.files[name]?.bytes)
            #expect(answer.headers["Content-Security-Policy"] == ConsoleEndpoints.policy)
            #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
            #expect(answer.headers["X-Frame-Options"] == "DENY")
            #expect(answer.headers["Referrer-Policy"] == "no-referrer")
            #expect(answer.headers["Cross-Origin-Opener-Policy"] == "same-origin")
            #expect(answer.headers["Cross-Origin-Resource-Policy"] == "same-origin")
            #expect(answer.headers["Cache-Control"]?.contains("immutable") == true)
            #expect(answer.headers["Content-Type"] != "application/octet-stream", "\(name)")
        }
    }

    @Test func `the server compresses a file for a client that accepts gzip`() throws {
        let client = try RouterClient()
        let path = "/_utils/a/\(Self.files.hash)/components.css"
        let packed = try client.send("GET", path, headers: ["Accept-Encoding": "br, gzip;q=0.8"])
        #expect(packed.headers["Content-Encoding"] == "gzip" && packed.headers["Vary"] == "Accept-Encoding")
        let expanded = try Compression.expand(packed.body, limit: 1 << 20)
        #expect(expanded == Self.files["components.css"]?.bytes && packed.body.count < expanded.count)
        for refusing in ["identity", "gzip;q=0", ""] {
            let plain = try client.send("GET", path, headers: ["Accept-Encoding": refusing])
            #expect(plain.headers["Content-Encoding"] == nil && plain.body == expanded)
        }
    }

    @Test(arguments: [
        "a/other/app/main.js", "app/main.js", "a", "index.html", "a/HASH/none.js", "a/HASH/../index.html",
    ])
    func `another path has no file`(path: String) throws {
        let name = path.replacing("HASH", with: Self.files.hash)
        #expect(try RouterClient().send("GET", "/_utils/\(name)").status == 404)
    }

    @Test func `the files are for anyone where nothing else is, and options take them away`() throws {
        let strict = try RouterClient { $0.security.anonymousAccess = .nowhere }
        #expect(try strict.send(as: "", "GET", "/_utils/").status == 200)
        #expect(try strict.send(as: "", "GET", "/").status == 401)
        #expect(try strict.send(as: "", "DELETE", "/_utils/").status == 401)
        let off = try RouterClient { $0.hasConsole = false }
        for path in ["/_utils", "/_utils/", "/_utils/a/\(Self.files.hash)/components.css"] {
            #expect(try off.send("GET", path).status == 404)
        }
    }

    @Test func `a session is no help to a page of another site`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        let login = try client.send(as: "", "POST", "/_session", ["name": "anna", "password": "pw"])
        let cookie = try #require(login.headers["Set-Cookie"]?.split(separator: ";").first.map(String.init))
        #expect(try client.send("PUT", "/db/_security", ["members": ["names": ["anna"]]]).status == 200)
        func put(_ headers: HTTPHeaders) throws -> Int {
            var headers = headers
            headers["Cookie"] = cookie
            return try client.send("PUT", "/db/a\(Int.random(in: 0..<1 << 40))", ["x": 1], headers: headers).status
        }
        #expect(try put(["Sec-Fetch-Site": "same-origin"]) == 201)
        #expect(try put(["Origin": "http://test"]) == 201)
        #expect(try put([:]) == 201, "a program sends neither")
        #expect(try put(["Sec-Fetch-Site": "cross-site"]) == 403)
        #expect(try put(["Sec-Fetch-Site": "same-site"]) == 403)
        #expect(try put(["Origin": "http://evil.example"]) == 403)
        #expect(
            try client.send("GET", "/db", headers: ["Cookie": cookie, "Sec-Fetch-Site": "cross-site"]).status == 200)
    }

    @Test func `nobody is logged in as somebody else by a page of another site`() throws {
        let client = try RouterClient.with(users: ["eve": []])
        let answer = try client.send(
            as: "", "POST", "/_session", ["name": "eve", "password": "pw"], headers: ["Sec-Fetch-Site": "cross-site"])
        #expect(answer.status == 403 && answer.headers["Set-Cookie"] == nil)
    }

    @Test func `a condition becomes a selector, or says where it is wrong`() throws {
        let client = try RouterClient()
        let made = try client.send("POST", "/_condition", ["text": "age > 30"])
        #expect(made.json == ["selector": ["age": ["$gt": 30]]])
        let wrong = try client.send("POST", "/_condition", ["text": "age > thirty"])
        #expect(wrong.status == 400 && wrong.json["error"] == "bad_condition" && wrong.json["offset"]?.int == 6)
        #expect(try client.send("POST", "/_condition", [:]).status == 400)
    }

    /// Files and all modules that they import as they begin.
    private static func withImports(_ names: Set<String>) throws -> Set<String> {
        var found: Set<String> = []
        var left = Array(names)
        while let name = left.popLast() {
            guard found.insert(name).inserted, name.hasSuffix(".js") else { continue }
            let file = try #require(files[name], "\(name)")
            let text = String(decoding: file.bytes, as: UTF8.self)
            for match in text.matches(of: /(?:from|import)"(\.[^"]+)"/) {
                var path = name.split(separator: "/").dropLast()
                for part in match.1.split(separator: "/") where part != "." {
                    if part == ".." { path.removeLast() } else { path.append(part) }
                }
                left.append(path.joined(separator: "/"))
            }
        }
        return found
    }

    private static func size(_ name: String) throws -> Int {
        let file = try #require(files[name], "\(name)")
        return (file.compressed ?? file.bytes).count
    }

    @Test func `compressed, all files have at most 140 kB`() throws {
        let all = try Self.files.names.reduce(0) { try $0 + Self.size($1) }
        #expect(all <= 140_000, "\(all)")
    }

    @Test(arguments: ["en", "de"])
    func `compressed, a first visit has at most 40 kB in each language`(language: String) throws {
        let page = String(decoding: Self.files.index.bytes, as: UTF8.self)
        let named = Set(page.matches(of: /(?:href|src)="a\/[0-9a-f]+\/([^"]+)"/).map { String($0.1) })
        // The page, what it names, the drawings, the texts, and what these import. It shows the login and the list of databases.
        let needed = try Self.withImports(named.union(["index.html", "icons.svg", "app/\(language).js"]))
        #expect(needed.isSuperset(of: ["tokens.css", "components.css", "app/main.js", "app/common.js"]))
        let first = try needed.reduce(0) { try $0 + Self.size($1) }
        #expect(first <= 40_000, "\(first)")
    }
}
