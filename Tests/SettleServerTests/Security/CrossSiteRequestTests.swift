import Settle
import SettleHTTP
import Testing

@testable import SettleServer

/// Requests that a browser sends for another site's page, with its user's cookie.
@Suite(.timeLimit(.minutes(5))) struct CrossSiteRequestTests {
    private static let forms = [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "TEXT/PLAIN; charset=x",
        "",
    ]

    private func client(_ change: @escaping (inout ServerOptions) -> Void = { _ in }) throws -> (RouterClient, String) {
        let client = try RouterClient { options in
            options.scripts = .built
            change(&options)
        }
        #expect(try client.send("PUT", "/db").status == 201)
        try client.design(
            "u",
            [
                "updates": [
                    "f": "function (doc, req) { return [{_id: req.uuid, body: req.body}, 'written'] }"
                ]
            ])
        let login = try client.send(as: "", "POST", "/_session", ["name": "admin", "password": "admin"])
        return (client, String(try #require(login.headers["Set-Cookie"]).prefix { $0 != ";" }))
    }

    private func post(_ client: RouterClient, _ cookie: String, _ headers: [String: String]) throws -> Int {
        var all: HTTPHeaders = ["Cookie": cookie]
        for (name, value) in headers where !value.isEmpty { all[name] = value }
        let answer = try client.send("POST", "/db/_design/u/_update/f", headers: all)
        if answer.status == 403 { #expect(answer.json["error"] == "forbidden") }
        return answer.status
    }

    @Test(arguments: forms)
    func `a form of another site can't use a cookie`(type: String) throws {
        let (client, cookie) = try client()
        for sign in [
            ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "https://evil.example"],
            ["Origin": "https://app.example", "X-Forwarded-Host": "app.example"],
            ["Origin": "null"], ["Origin": "https://test.evil.example"], ["Referer": "https://evil.example/page"],
            ["Origin": "http://test:8080"],
        ] {
            let headers = sign.merging(["Content-Type": type]) { $1 }
            #expect(try post(client, cookie, headers) == 403, "\(sign)")
            // The method override header makes no difference.
            let meant = headers.merging(["X-HTTP-Method-Override": "PUT"]) { $1 }
            #expect(try post(client, cookie, meant) == 403, "\(sign)")
        }
        #expect(try client.send("GET", "/db").json["doc_count"] == 1)
        #expect(
            try client.send(
                "POST", "/_session", bytes: Array("name=x&password=y".utf8),
                headers: [
                    "Cookie": cookie, "Origin": "https://evil.example",
                    "Content-Type": "application/x-www-form-urlencoded",
                ]
            ).status == 403)
    }

    @Test(arguments: forms)
    func `pages of the server itself, and clients other than browsers, may send forms`(type: String) throws {
        let (client, cookie) = try client()
        for sign in [
            ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], ["Origin": "http://test"],
            ["Origin": "https://test"], ["Referer": "http://test/db/page"],
            [:],
        ] {
            #expect(try post(client, cookie, sign.merging(["Content-Type": type]) { $1 }) == 201, "\(sign)")
        }
        // Browsers store passwords too, and send them for any page.
        let path = "/db/_design/u/_update/f"
        #expect(try client.send("POST", path, headers: ["Content-Type": type]).status == 201)
        let foreign: HTTPHeaders = ["Content-Type": type, "Origin": "https://evil.example"]
        #expect(try client.send("POST", path, headers: foreign).status == 403)
        // An anonymous request has no rights that a page could use.
        #expect(try client.send(as: "", "POST", path, headers: foreign).status != 403)
    }

    @Test func `a page of another origin may use a session only if CORS names its origin`() throws {
        let (client, cookie) = try client { options in
            options.security.crossOrigin = CrossOriginOptions(origins: ["https://app.example"])
            options.security.crossOrigin?.allowsCredentials = true
        }
        let json = ["Content-Type": "application/json", "Origin": "https://evil.example"]
        #expect(try post(client, cookie, json) == 403)
        let allowed = ["Content-Type": "text/plain", "Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"]
        #expect(try post(client, cookie, allowed) == 201)
        let other = ["Content-Type": "text/plain", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"]
        #expect(try post(client, cookie, other) == 403)
    }
}
