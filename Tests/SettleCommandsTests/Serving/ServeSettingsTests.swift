import Settle
import Testing

@testable import SettleCommands
@testable import SettleServer

@Suite struct ServeSettingsTests {
    @Test func `an option overrides a variable, which overrides the file, which overrides the default`() throws {
        let file = #"{"port": 1, "host": "file", "data": "file", "idle_timeout": 5, "session_timeout": 60}"#
        let settings = try make(
            ["--config", "x", "--port", "3"], ["SETTLE_PORT": "2", "SETTLE_HOST": "variable", "SETTLE_DATA": ""], file)
        #expect(settings.options.port == 3 && settings.options.host == "variable" && settings.text("data") == "file")
        #expect(settings.options.idleTimeout == .seconds(5) && settings.security.sessionTimeout == .seconds(60))
        #expect(settings.options.openDatabases == 500)
        let origins = settings.json["settings"]
        #expect(origins?["port"]?["source"] == "--port" && origins?["host"]?["source"] == "SETTLE_HOST")
        #expect(origins?["data"]?["source"] == "file" && origins?["open_databases"]?["source"] == "default")
        #expect(origins?["session_timeout"] == ["value": 60, "source": "file"])
    }

    @Test func `the file may be named by a variable, and options have older spellings`() throws {
        let settings = try make(["--dir", "a", "--bind", "b"], ["SETTLE_CONFIG": "x"], #"{"port": 7}"#)
        #expect(settings.options.port == 7 && settings.text("data") == "a" && settings.options.host == "b")
        #expect(throws: CommandError.self) { try make(["--dir", "a", "--data", "b"]) }
    }

    @Test func `the printed defaults are those of the server`() throws {
        let (made, plain) = (try make().options, ServerOptions())
        #expect(made.host == plain.host && made.port == plain.port && made.connectionLimit == plain.connectionLimit)
        #expect(made.idleTimeout == plain.idleTimeout && made.stopTimeout == plain.stopTimeout)
        #expect(made.openDatabases == plain.openDatabases && made.largestDocument == plain.largestDocument)
        #expect(made.largestBody == plain.largestBody && made.largestUpload == plain.largestUpload)
        #expect(try make().count("open_indexes") == DatabaseOptions().openIndexes)
    }

    @Test func `a reload names each setting that it applies to a running server`() throws {
        func live(_ settings: ServeSettings) -> [String] {
            LiveSetting.all.map { $0.text(LiveSettings(settings.options)) }
        }
        let plain = try make()
        var applied: Set<String> = []
        for setting in ServeSetting.all where setting.isInFile {
            let value: String
            switch setting.kind {
            case .text: continue
            case .count(let range):
                value = "\(setting.standard == "\(range.lowerBound)" ? range.upperBound : range.lowerBound)"
            case .choice(let words): value = try #require(words.first { $0 != setting.standard })
            }
            // Settings of PostgreSQL are not accepted without it.
            guard let changed = try? make(["--config", "x"], [:], "{\"\(setting.name)\": \"\(value)\"}"),
                live(changed) != live(plain)
            else { continue }
            applied.insert(setting.name)
            #expect(!ServeSettings.reloadable.isDisjoint(with: changed.changes(from: plain)), "\(setting.name)")
        }
        #expect(applied.isSuperset(of: ["document_size", "upload_size", "bulk_docs", "text_indexes"]), "\(applied)")
    }

    @Test func `only lines that begin with two slashes are comments`() throws {
        let file = """
            // A file.
            {
              // "port": 1,
            \t//
              "data": "//a", "host": "b//c",
              "port": 2
            }
            """
        let settings = try make(["--config", "x"], [:], file)
        #expect(settings.options.port == 2 && settings.text("data") == "//a" && settings.options.host == "b//c")
        #expect(throws: CommandError.self) { try make(["--config", "x"], [:], "{\"port\": 2 // two\n}") }
        let lines = Array("a\n // b\r\n\n//".utf8)
        #expect(ServeSettings.CommentedJSON.plain(lines) == Array("a\n\n\n".utf8))
    }

    @Test(
        arguments: [
            (["--port", "65536"], [:], nil, 2), ([], ["SETTLE_PORT": "many"], nil, 2),
            ([], ["SETTLE_CONNECTIONS": "0"], nil, 2),
            (["--config", "x"], [:], #"{"port": -1}"#, 5), (["--config", "x"], [:], #"{"port": true}"#, 5),
            (["--config", "x"], [:], #"{"prot": 1}"#, 5),
            (["--config", "x"], [:], #"{"config": "y"}"#, 5),
            (["--config", "x"], [:], #"{"admin_password": "hush!"}"#, 5),
            (["--config", "x"], [:], "{\"admin\": \"anna:hush!\",\n oops}", 5), (["--config", "x"], [:], "[]", 5),
        ] as [([String], [String: String], String?, Int32)])
    func `an error is reported without any secret`(
        words: [String], environment: [String: String], file: String?, status: Int32
    ) {
        #expect {
            try make(words, environment, file)
        } throws: { error in
            let error = CommandError(error)
            return error.status.rawValue == status && !error.message.contains("hush!")
        }
    }

    @Test func `an error is reported with its line`() {
        #expect {
            try make(["--config", "x"], [:], "// one\n{\n  oops}")
        } throws: {
            CommandError($0).message.contains("line 3")
        }
    }

    @Test func `no secret is printed`() throws {
        let file = #"{"tokens": {"keys": [{"secret": "aHVzaCE="}]}, "proxy": {"secret": "hush!"}, "admin": "x:hush!"}"#
        for words in [["--config", "x"], ["--config", "x", "--admin", "anna:hush!"]] {
            let settings = try make(words, ["SETTLE_ADMIN_PASSWORD": "hush!"], file)
            for text in [settings.table, settings.json.description] {
                #expect(!text.contains("hush!") && !text.contains("aHVzaCE=") && text.contains("(set)"))
            }
            #expect(settings.holdsSecrets)
        }
    }

    @Test func `a password given for one name is used for that name only`() throws {
        func find(_ words: [String], _ environment: [String: String] = [:]) throws -> AdministratorSetting? {
            try AdministratorSetting(make(words, environment))
        }
        #expect(try find([]) == nil)
        let visible = try #require(try find(["--admin", "anna:a:b"], ["SETTLE_ADMIN_PASSWORD": "c"]))
        #expect(visible.name == "anna" && visible.place == .given("a:b") && visible.isVisible)
        let mixed = try #require(try find(["--admin", "anna"], ["SETTLE_ADMIN_PASSWORD": "c"]))
        #expect(mixed.place == .given("c") && !mixed.isVisible && mixed.origin == "SETTLE_ADMIN_PASSWORD")
        let file = try #require(try find(["--admin-password-file", "f"], ["SETTLE_ADMIN": "anna:a"]))
        #expect(file.name == "anna" && file.place == .file("f") && !file.isVisible)
        let whole = try #require(try find([], ["SETTLE_ADMIN": "anna:a"]))
        #expect(whole.place == .given("a") && whole.origin == "SETTLE_ADMIN")
        for (words, environment) in [
            (["--admin", "bert"], ["SETTLE_ADMIN": "anna:a"]), ([], ["SETTLE_ADMIN_PASSWORD": "a"]),
            (["--admin-password-file", "f"], [:]), (["--admin", "a:b", "--admin-password-file", "f"], [:]),
            ([], ["SETTLE_ADMIN": "a", "SETTLE_ADMIN_PASSWORD": "b", "SETTLE_ADMIN_PASSWORD_FILE": "f"]),
        ] as [([String], [String: String])] {
            #expect(throws: CommandError.self) { try find(words, environment) }
        }
    }

    @Test func `a preset replaces defaults, and what is configured counts`() throws {
        let plain = try make(["--preset", "obsidian"])
        #expect(plain.options.security.crossOrigin?.origins.contains("app://obsidian.md") == true)
        #expect(plain.options.security.anonymousAccess == .nowhere && plain.options.largestDocument == 50_000_000)
        #expect(plain.table.contains("preset"))
        let file = #"{"preset": "obsidian", "anonymous": "up", "document_size": 60000000}"#
        let configured = try make(["--config", "f"], [:], file)
        #expect(configured.options.security.anonymousAccess == .upOnly)
        #expect(configured.options.security.allowsLiveSettings && configured.options.largestDocument == 60_000_000)
        #expect(throws: CommandError.self) { try make(["--preset", "onyx"]) }
        #expect(try make().options.security.crossOrigin == nil)
    }

    @discardableResult
    private func make(
        _ words: [String] = [], _ environment: [String: String] = [:], _ file: String? = nil
    ) throws -> ServeSettings {
        let arguments = try ArgumentParser(spec: ServeCommand.spec).parse(words)
        return try ServeSettings(arguments, environment: environment) { _ in Array((file ?? "").utf8) }
    }
}
