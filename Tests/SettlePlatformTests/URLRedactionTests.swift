import SettlePlatform
import Testing

/// Credentials in URLs don't reach messages.
struct URLRedactionTests {
    @Test(arguments: [
        ("http://anna:secret@host:5984/db", "http://*@host:5984/db"),
        ("at \"https://anna:se@cret@host/db\" and http://b:x@c", "at \"https://*@host/db\" and http://*@c"),
        ("http:%2F%2Fanna:secret%40host/x", "http:%2F%2F*%40host/x"),
        // A slash inside a password.
        ("http://anna:se/cret@host/db", "http://*@host/db"), ("http://anna:/secret@host", "http://*@host"),
        ("http://anna:123456/secret@host/db", "http://*@host/db"),
        ("http:%2F%2Fanna:se%2Fcret@host%2Fdb x", "http:%2F%2F*@host%2Fdb x"),
        ("http%3A%2F%2Fanna%3Ase%2Fcret%40host%2Fdb", "http%3A%2F%2F*%40host%2Fdb"),
        ("http://anna:a/b/c@d@host/db next@word", "http://*@host/db next@word"),
    ])
    func `credentials are removed`(text: String, redacted: String) { #expect(URLRedaction.text(text) == redacted) }

    @Test(arguments: [
        "http://host/db/anna@example.com", "http://127.0.0.1:5984/db/anna@example.com", "http://[::1]:5984/db/a@b",
        "http://[fe80::1]/db/a@b", "http://host%3A5984/db/a@b", "http://", "http:///a:b@c",
        "no URL: anna@example.com", "a://b", "http://anna:secret/without-at", "",
    ])
    func `other text stays`(text: String) { #expect(URLRedaction.text(text) == text) }
}
