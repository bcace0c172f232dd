import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleHTTP
@testable import SettleReplication

/// Parsing, printing and composing addresses.
@Suite struct HTTPURLTests {
    @Test func `a URL is parsed into its parts`() throws {
        let url = try HTTPURL("HTTPS://an%40na:p%3Aw%2F@Couch.Example:443/db%2Fa/#x")
        #expect(url.scheme == .https && url.host == "couch.example" && url.port == 443)
        #expect(url.user == "an@na" && url.password == "p:w/")
        #expect(url.path == "/db%2Fa" && url.databaseName == "db/a")
        #expect(url.text == "https://couch.example/db%2Fa")
        #expect(try url.withoutCredentials == HTTPURL("https://couch.example/db%2Fa"))
        #expect(url.parent.text == "https://couch.example")
    }

    @Test(arguments: [
        ("http://h", "http://h:80/"), ("http://H/db", "http://h/db///"), ("https://h:443/a", "https://h/a"),
        ("http://[::1]:80/a", "http://[::1]/a"), ("http://h/%C3%A4", "http://h/ä"),
    ])
    func `two spellings of one URL are equal`(one: String, other: String) throws {
        #expect(try HTTPURL(one) == HTTPURL(other))
    }

    @Test(arguments: [
        "", "couch.example/db", "ftp://h/db", "http://", "http://:80/db", "http://h:0/db", "http://h:70000/",
        "http://h:x/",
        "http://h/a b", "http://h/a\r\nX: y", "http://a b@h/", "http://h/%zz", "http://us%er@h/", "http://[::1/db",
        "http://[::1]x/db", "http://h%2F/db", "http://h<>/db", "http://u:secret@/db", "http://[secret]/",
        "http://h/\u{7f}",
    ])
    func `a malformed URL is refused without repeating it`(text: String) {
        let error = #expect(throws: TransportError.self) { try HTTPURL(text) }
        #expect(error?.code == .badURL)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `no printed form contains the password`() throws {
        let url = try HTTPURL("http://anna:hunter2@h/db?key=hunter2")
        var text = "\(url) \(url.debugDescription) \(url.withoutCredentials.path) \([url])"
        dump(url, to: &text)
        dump(HTTPRequest("GET", url, headers: ["Authorization": "hunter2"]), to: &text)
        #expect(!text.contains("hunter2") && !text.contains("anna"))
    }

    @Test(arguments: [
        ("milk", "milk"), ("a/b", "a%2Fb"), ("_design/shop", "_design/shop"), ("_design/a/b", "_design/a%2Fb"),
        ("_local/x y", "_local/x%20y"), ("a+b", "a%2Bb"), ("ä", "%C3%A4"), ("..", "%2E%2E"), (".", "%2E"),
        ("?#%&=;:@", "%3F%23%25%26%3D%3B%3A%40"), ("~-._", "~-._"),
    ])
    func `ids are escaped for CouchDB`(id: String, path: String) throws {
        #expect(HTTPPath.document(try DocumentID(validating: id)).encoded == path)
    }

    @Test func `the slashes of attachments are escaped, and queries too`() throws {
        let url = try HTTPURL("http://h/db")
        let path = HTTPPath.attachment("a/b.txt", of: "_design/x")
        let text = url.appending(path, query: ["rev": "1-a", "a&b": "ü=+"]).text
        #expect(text == "http://h/db/_design/x/a%2Fb.txt?rev=1-a&a%26b=%C3%BC%3D%2B")
        #expect(url.appending("").text == "http://h/db")
        #expect(try HTTPURL("http://h").appending("_up").text == "http://h/_up")
    }

    @Test func `any text survives escaping, and any URL printing`() throws {
        var generator = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                Unicode.Scalar(UInt32.random(in: 1...0x2ff, using: &generator)).map(Character.init) ?? "x"
            }
            let text = String(bytes)
            #expect(PercentCoding.decode(PercentCoding.encode(text)).utf8.elementsEqual(text.utf8))
            let escaped = PercentCoding.encode(text)
            let url = try HTTPURL("http://\(escaped):\(escaped)@h:8080/\(escaped)/\(escaped)")
            #expect(url.user?.utf8.elementsEqual(text.utf8) == true)
            #expect(url.password?.utf8.elementsEqual(text.utf8) == true)
            #expect(url.databaseName?.utf8.elementsEqual(text.utf8) == true)
            #expect(try HTTPURL(url.text) == url.withoutCredentials)
        }
    }

    @Test(arguments: [
        ("/x", "http://h:1/x"), ("x", "http://h:1/a/x"), ("//o/x", "http://o/x"), ("https://o/", "https://o"),
        ("?q=1", "http://h:1/a/b?q=1"), ("/x/", "http://h:1/x/"),
    ])
    func `a location is resolved against the request's URL`(location: String, text: String) throws {
        #expect(try HTTPURL("http://h:1/a/b").resolving(location: location).text == text)
    }

    @Test(arguments: [
        ("/login?next=https://o/db", "http://h:1/login?next=https://o/db"), ("x?u=//o/y", "http://h:1/a/x?u=//o/y"),
        ("?u=https://o", "http://h:1/a/b?u=https://o"), ("HTTPS://o/x?u=http://p", "https://o/x?u=http://p"),
    ])
    func `an address in the query of a location is not the location`(location: String, text: String) throws {
        #expect(try HTTPURL("http://h:1/a/b").resolving(location: location).text == text)
    }

    @Test(arguments: [
        ("../db/_design/x", "http://h:1/db/_design/x"), ("./x", "http://h:1/db/x"), ("..", "http://h:1"),
        (".", "http://h:1/db/"), ("/a/../../x/./y/", "http://h:1/x/y/"), ("x/..", "http://h:1/db/"),
        ("http://o/a/../b?q=../c", "http://o/b?q=../c"), ("%2E%2E/x", "http://h:1/db/%2E%2E/x"),
    ])
    func `a location may lead to the folder above`(location: String, text: String) throws {
        #expect(try HTTPURL("http://h:1/db/_design%2Fx").resolving(location: location).text == text)
    }

    @Test(arguments: [
        ("localhost", true), ("127.0.0.1", true), ("127.9.9.9", true), ("[::1]", true), ("a.localhost", true),
        ("127.example", false), ("10.0.0.1", false), ("couch.example", false),
    ])
    func `loopback addresses are recognised`(host: String, isLoopback: Bool) throws {
        #expect(try HTTPURL("http://\(host)/").isLoopback == isLoopback)
    }
}
