import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleCommands

/// Messages that name the right thing, and exit codes that scripts rely on.
struct MessageTests {
    private let room: Room

    init() throws {
        room = try Room()
        _ = try room.run("create", "x")
        _ = try room.run("put", "x", "milk", "{}")
    }

    @Test func `a query of a missing view names the design document, not the database`() throws {
        let outcome = try room.run("query", "x", "nodd/k")
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("\"_design/nodd\"") && !outcome.errors.contains("not_found"))
        #expect(try room.run("query", "none", "nodd/k").errors.contains("there is no database"))
    }

    @Test(arguments: [
        ["replications", "URL"], ["replications", "pause", "x", "URL"], ["users", "list", "anna", "URL"],
        ["users", "remove", "URL", "anna", "URL"], ["URL", "info"], ["info", "x", "URL"], ["get", "x", "URL"],
        ["find", "x", "URL"], ["import", "x", "URL"], ["help", "URL"], ["diff", "x", "URL", "1-a"],
    ])
    func `a message that repeats a word of the command line has no password`(words: [String]) throws {
        let given = words.map { $0 == "URL" ? "http://anna:hidden-word@127.0.0.1:1/db" : $0 }
        for options in [[], ["--json"]] {
            let outcome = try room.run(all: given + options)
            #expect(outcome.status != 0 && !outcome.errors.isEmpty, "\(outcome)")
            #expect(!(outcome.output + outcome.errors).contains("hidden-word"), "\(outcome)")
        }
    }

    @Test func `a deletion without a revision says how to delete`() throws {
        let outcome = try room.run("delete", "x", "milk")
        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("--force to delete it") && !outcome.errors.contains("overwrite"))
        #expect(try room.run("put", "x", "milk", "{}").errors.contains("--force to overwrite it"))
    }

    @Test func `the advice about an old revision is that of the verb`() throws {
        let old = try room.run("put", "x", "bread", #"{"v":1}"#).line
        let current = try room.run("put", "x", "bread", #"{"v":2}"#, "--rev", old).line
        try room.write("a photo", to: "photo.txt")
        for words in [["attach", "photo.txt"], ["detach", "photo.txt"], ["edit"]] {
            let outcome = try room.run(all: [words[0], "x", "bread"] + words.dropFirst() + ["--rev", old])
            #expect(outcome.status == 4 && outcome.errors.contains("give --rev \(current)"), "\(outcome)")
            #expect(!outcome.errors.contains("--force"), "\(outcome.errors)")
        }
        let deleted = try room.run("delete", "x", "bread", "--rev", old)
        #expect(deleted.status == 4 && deleted.errors.contains("can't be deleted"), "\(deleted)")
        #expect(deleted.errors.contains("--force to delete it"), "\(deleted.errors)")
        #expect(try room.run("put", "x", "bread", "{}", "--rev", old).errors.contains("--force to overwrite it"))
    }

    @Test func `the advice to create an index can be pasted into a shell`() throws {
        _ = try room.run("create", "my böx")
        _ = try room.run("put", "my böx", "a", "{\"age\": 1}")
        let outcome = try room.run("find", "my böx", "age > 0")
        #expect(outcome.status == 0 && outcome.errors.contains("settle index create 'my böx' age"))
        #expect(try room.run("find", "./x", "age > 0").errors.contains("settle index create ./x age"))
    }

    @Test func `the message about a missing source does not offer to create it`() throws {
        let pulled = try room.run("pull", "x", "./missing")
        #expect(pulled.status == 3 && pulled.errors.contains("there is no database"))
        #expect(!pulled.errors.contains("--create"))
    }

    @Test func `a PostgreSQL that can't be reached ends with exit code 8`() throws {
        let address = "host=127.0.0.1 port=1 dbname=settle user=settle_app"
        #expect(try room.run("serve", "--postgres", address, "--port", "0").status == 8)
        #expect(try room.run("postgres", "migrate", "--postgres", address).status == 8)
    }

    @Test func `the examples of serve with an administrator have a password`() throws {
        let examples = ServeCommand.spec.examples.map(\.command).filter { $0.contains("--admin ") }
        #expect(examples.count > 1)
        for example in examples {
            let words = example.split(separator: " ").map(String.init)
            let program = try #require(words.firstIndex(of: "settle"))
            var environment: [String: String] = [:]
            for variable in words[..<program] {
                let parts = variable.split(separator: "=", maxSplits: 1).map(String.init)
                environment[parts[0]] = parts[1]
            }
            let given = words[(program + 1)...] + ["--show-settings"]
            let outcome = try room.run(all: Array(given), environment: environment)
            #expect(outcome.status == 0, "\(example): \(outcome.errors)")
        }
    }

    @Test func `a long value does not move the sources of all settings away`() throws {
        let long = String(repeating: "x", count: 200)
        let outcome = try room.run("serve", "--data", long, "--show-settings")
        let port = try #require(outcome.lines.first { $0.hasPrefix("port ") })
        #expect(outcome.status == 0 && port.count < 90 && port.hasSuffix("default"))
    }

    @Test func `a warning says its level once in a text log`() throws {
        let process = try room.start(
            ["serve", "--data", room.path("data"), "--port", "0", "--admin", "anna:sesame"], "warned")
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitForEnd()
        }
        var errors = ""
        waitUntil {
            errors = String(decoding: try room.contents(of: "err-warned"), as: UTF8.self)
            return errors.contains("notice start")
        }
        #expect(errors.contains(" warning message=") && !errors.contains("warning warning"))
    }
}
