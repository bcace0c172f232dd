import Testing

@testable import SettleCommands

struct NetrcFileTests {
    private let file = NetrcFile(
        """
        # a comment
        machine couch.example login anna password "two words"
        machine couch.example
            login bert
            password b
        macdef init
          machine trap login x password y

        machine quoted login "a b" password c
        default login guest password g
        """)

    @Test func `the first entry that matches host and user counts`() {
        #expect(file.entry(for: "couch.example", user: nil)?.user == "anna")
        #expect(file.entry(for: "couch.example", user: nil)?.password == "two words")
        #expect(file.entry(for: "couch.example", user: "bert")?.password == "b")
        #expect(file.entry(for: "quoted", user: "a b")?.password == "c")
        #expect(file.entry(for: "other", user: nil)?.user == "guest")
        #expect(file.entry(for: "other", user: "bert") == nil)
    }

    @Test func `macros are skipped`() {
        #expect(file.entry(for: "trap", user: nil)?.user == "guest")
        #expect(file.entries.count == 4)
    }

    @Test func `a truncated file does not crash`() {
        #expect(NetrcFile("machine a login").entry(for: "a", user: nil) == NetrcFile.Entry(host: "a"))
        #expect(NetrcFile("login x password y").entries.isEmpty)
    }
}
