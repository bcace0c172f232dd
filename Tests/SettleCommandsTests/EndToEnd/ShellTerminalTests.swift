import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleCommands

/// `settle shell` at a terminal.
@Suite(.timeLimit(.minutes(5))) struct ShellTerminalTests {
    let room: Room

    init() throws {
        room = try Room()
        try room.run("create", "db")
        try room.run("put", "db", "oat milk", #"{"count":1}"#)
        try room.run("put", "db", "bread", #"{"count":2}"#)
        try room.run("put", "db", "brew", #"{"count":3}"#)
    }

    private var history: [String] {
        get throws {
            String(decoding: try room.contents(of: ".local/state/settle/history"), as: UTF8.self)
                .split(separator: "\n").map(String.init)
        }
    }

    @Test func `Tab completes commands, ids with blanks, options and values`() throws {
        let outcome = try room.atTerminal(
            ["shell", "db"],
            .wait("db> "), .type("ge\toa\t\n"), .wait(#""_id": "oat milk""#), .wait("db> "),
            .type("get br\t\t"), .wait("bread  brew"), .wait("db> "), .type("a\t--r\t\n"), .wait("needs a value"),
            .wait("db> "), .type("resolve bread --policy thr\t\n"), .wait("not in conflict"), .wait("db> "),
            .type("get 'oa\t\n"), .wait(#""_id": "oat milk""#), .wait("db> "), .type("exit\n"))
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(try history.first == #"get oat\ milk "#)
        #expect(try history.last == "exit")
    }

    @Test func `Tab stops before characters that are typed with a backslash`() throws {
        for id in ["it is", "it's"] { try room.run("put", "db", id, "{}") }
        let outcome = try room.atTerminal(
            ["shell", "db"], .wait("db> "), .type("get i\t\\ \t\n"), .wait(#""_id": "it is""#), .wait("db> "),
            .type("exit\n"))
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func `Tab asks for no password`() throws {
        let outcome = try room.atTerminal(
            ["shell", "db"], .wait("db> "), .type("sync http://anna@127.0.0.1:1/x\t\u{1}\u{B}info\n"),
            .wait("Documents"), .wait("db> "), .type("exit\n"), environment: ["SETTLE_PASSWORD": ""])
        #expect(outcome.status == 0 && !outcome.output.contains("Password"), "\(outcome.output)")
    }

    @Test func `the arrow keys bring lines of an earlier shell back, without passwords`() throws {
        let first = try room.atTerminal(
            ["shell", "db"], .wait("db> "), .type("get bread\n"), .wait(#""count""#), .wait("db> "),
            .type("push http://anna:hidden-word@127.0.0.1:1/x\n"), .wait("settle:"), .wait("db> "),
            .type(" docs\n"), .wait("brew"), .wait("db> "), .type("\u{4}"))
        #expect(first.status == 0, "\(first.output)")
        #expect(try history == ["get bread"])
        let status = try FileManager.default.attributesOfItem(atPath: room.path(".local/state/settle/history"))
        #expect((status[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let second = try room.atTerminal(
            ["shell", "db"], .wait("db> "), .type("\u{1B}[A\n"), .wait(#""_id": "bread""#), .wait("db> "),
            .type("info\n"), .wait("Documents"), .wait("db> "), .type("\u{12}bre\n"), .wait(#""_id": "bread""#),
            .wait("db> "), .type("put brew\u{1}\u{B}info\n"), .wait("Documents"), .wait("db> "), .type("\u{4}"))
        #expect(second.status == 0, "\(second.output)")
    }

    @Test func `Control-C drops the line, and letters of other scripts are edited as letters`() throws {
        // The editor moves the cursor to the beginning of the line once it has read all of it.
        let outcome = try room.atTerminal(
            ["shell", "db"], .wait("db> "), .type("put never '{}'\u{1}"), .wait("\u{1B}["), .type("\u{3}"),
            .wait("db> "),
            .type("put čaj\u{7F}\u{7F}á '{}'\n"), .wait("1-"), .wait("db> "), .type("exit\n"))
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(try room.run("docs", "db", "--json").output.contains(#""čá""#))
        #expect(try room.run("get", "db", "never").status == 3)
    }

    #if os(Linux)
    @Test func `Control-C ends what is typed also when it comes just before a read`() throws {
        // Stands before the C library's read, so that each key is read 0.3 s later.
        let late = try room.preload(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <poll.h>
            #include <unistd.h>
            ssize_t read(int file, void *bytes, size_t count) {
                ssize_t (*real)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
                if (isatty(file)) poll(NULL, 0, 300);
                return real(file, bytes, count);
            }
            """)
        let outcome = try room.atTerminal(
            ["shell", "db"], .wait("db> "), .type("x"), .wait("x"), .type("\u{3}"), .wait("db> "), .type("exit\n"),
            environment: late)
        #expect(outcome.status == 0, "\(outcome.output)")
        let asked = try room.atTerminal(
            ["info", "http://anna@127.0.0.1:1/x"], .wait("Password"), .type("\u{3}"),
            environment: late.merging(["SETTLE_PASSWORD": ""]) { $1 })
        #expect(asked.status == 130 && !asked.output.contains("nothing more"), "\(asked.status) \(asked.output)")
    }
    #endif

    @Test func `lines from a pipe are read as before, without a prompt or history`() throws {
        let outcome = try room.run("shell", "db", input: "get bread\n", environment: ["HOME": room.folder.path])
        #expect(outcome.status == 0 && !outcome.output.contains("db>"))
        #expect(!FileManager.default.fileExists(atPath: room.path(".local")))
    }

    @Test(arguments: [
        ("get milk", true), (" get milk", false), ("", false), ("sync http://a:b@host/x", false),
        ("sync http://a:b/c@host/x", false), ("sync http://a@host/x", true), ("sync http://host/x?y=a:b@c", true),
    ])
    func `a line is remembered unless it may have a password`(line: String, isKept: Bool) {
        #expect(HistoryFile.isKept(line) == isKept)
    }
}
