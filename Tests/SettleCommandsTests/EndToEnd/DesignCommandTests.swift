import Foundation
import Settle
import Testing

@Suite(.timeLimit(.minutes(5))) struct DesignCommandTests {
    /// A folder `shop` with functions of each kind.
    private static func fill(_ room: Room) throws {
        let files = [
            "shop/views/by-name/map.js": "function (doc) {\n  emit(require('views/lib/text').up(doc.name), 1);\n}\n",
            "shop/views/by-name/reduce.js": "_count\n",
            "shop/views/lib/text.js": "exports.up = function (text) { return text.toUpperCase(); };\n",
            "shop/filters/mine.js": "// mine\nfunction (doc, req) { return doc.owner === req.query.me; }\n",
            "shop/updates/bump.js": "function (doc, req) { doc.n++; return [doc, 'bumped']; }",
            "shop/validate_doc_update.js": "function (doc) { if (doc.bad) throw({forbidden: 'bad'}); }\n",
            "shop/lib/a/b.js": "module.exports = 1;\n", "shop/options.json": "{\"include_design\": false}\n",
            "shop/README.md": "# Shop\n", "shop/.hidden": "x",
        ]
        for (path, text) in files { try room.write(text, into: path) }
    }

    private func check(_ database: String, _ run: (String...) throws -> Room.Outcome, _ room: Room) throws {
        try Self.fill(room)
        let trial = try run("design", "push", database, "shop", "--dry-run", "--json")
        #expect(trial.status == 0 && trial.json["dry_run"] == true && trial.json["rev"] == nil)
        #expect(try run("get", database, "_design/shop").status == 3)
        let first = try run("design", "push", database, "shop", "--json")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.json["added"] == trial.json["added"])
        #expect(first.json["id"] == "_design/shop")
        let document = try run("get", database, "_design/shop", "--json").json
        #expect(document["filters"]?["mine"] == "// mine\nfunction (doc, req) { return doc.owner === req.query.me; }")
        #expect(document["lib"]?["a"]?["b"] == "module.exports = 1;")
        #expect(document["options"] == ["include_design": false])
        #expect(document["language"] == "javascript")
        #expect(document["README"] == nil && document["_rev"] == first.json["rev"])

        // Nothing is written when nothing has changed, whatever the folder is called.
        let again = try run("design", "push", database, "shop", "--json").json
        #expect(again["rev"] == first.json["rev"] && again["changed"] == [])
        let pulled = try run("design", "pull", database, "shop", "copy", "--json")
        #expect(pulled.json["files"]?.array?.count == 10)
        #expect(try room.contents(of: "copy/views/by-name/map.js") == room.contents(of: "shop/views/by-name/map.js"))
        #expect(try run("design", "push", database, "copy", "--json").json["rev"] == first.json["rev"])
        #expect(try run("design", "pull", database, "shop", "copy").status == 4)

        // A function is changed, one is added, one is removed.
        try room.write("function (doc) { return true; }", into: "copy/filters/mine.js")
        try room.write("function (doc) { return false; }", into: "copy/filters/none.js")
        try FileManager.default.removeItem(atPath: room.path("copy/updates"))
        let second = try run("design", "push", database, "copy", "--json").json
        #expect(second["added"] == ["filters/none"])
        #expect(second["changed"] == ["filters/mine"])
        #expect(second["removed"] == ["updates/bump"])
        try room.write("_design/shop\n", into: "shop/_id")
        let forced = try run("design", "pull", database, "shop", "shop", "--force", "--json").json
        #expect(forced["removed"] == ["updates/bump.js"])
        #expect(try room.contents(of: "shop/README.md") == Data("# Shop\n".utf8))
        #expect(try run("design", "push", database, "shop", "--json").json["rev"] == second["rev"])

        // The view that was pushed, its module and its index.
        #expect(try run("put", database, "m", #"{"name":"milk"}"#).status == 0)
        #expect(try run("query", database, "shop/by-name", "--no-reduce", "--json").json["key"] == "MILK")
        let info = try run("design", "info", database, "shop", "--json").json
        #expect(info["up_to_date"] == true && info["views"] == ["by-name"] && (info["size"]?.int ?? 0) > 0)
        #expect(try run("put", database, "t", #"{"name":"tea"}"#).status == 0)
        #expect(try run("design", "info", database, "shop", "--json").json["pending"] == 1)
        #expect(try run("design", "build", database, "shop", "--json").json["up_to_date"] == true)
        #expect(try run("design", "info", database, "none").status == 3)
    }

    @Test func `a folder becomes a design document and back, in a database on disk`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try check("db", { try room.run(all: $0) }, room)
    }

    @Test func `a folder becomes a design document and back, on a server`() throws {
        let remote = try RemoteRoom()
        #expect(try remote.run("create", remote.url()).status == 0)
        try check(remote.url(), { try remote.run(all: $0) }, remote.room)
    }

    @Test func `a forced pull removes stale members of its own folder, and nothing else`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try Self.fill(room)
        #expect(try room.run("design", "push", "db", "shop").status == 0)

        // A folder of something else, also if it is called like the design document.
        let project = ["Makefile": "all:\n", "LICENSE": "MIT\n", "package.json": "{}", "src/main.c": "int x;\n"]
        for (path, text) in project { try room.write(text, into: "project/shop/\(path)") }
        let refused = try room.run("design", "pull", "db", "shop", "project/shop", "--force")
        #expect(refused.status == 4, "\(refused.errors)")
        #expect(refused.errors.contains("as stale members: LICENSE, Makefile, package.json and 1 other file;"))
        #expect(refused.errors.contains("pull into an empty folder"), "\(refused.errors)")
        for (path, text) in project {
            #expect(try room.contents(of: "project/shop/\(path)") == Data(text.utf8))
        }
        #expect(!FileManager.default.fileExists(atPath: room.path("project/shop/_id")))

        // A folder of another design document.
        try room.write("_design/other\n", into: "other/_id")
        let other = try room.run("design", "pull", "db", "shop", "other", "--force")
        #expect(other.status == 4 && other.errors.contains("the folder of _design/other, not of _design/shop"))
        #expect(try room.contents(of: "other/_id") == Data("_design/other\n".utf8))

        // Its own folder: what a push ignores stays, and an invalid file is replaced.
        #expect(try room.run("design", "pull", "db", "shop", "copy").status == 0)
        try room.write("", into: "copy/images/logo.png")
        try Data([0xFF, 0xD8, 0xFF]).write(to: room.folder.appending(path: "copy/images/logo.png"))
        try room.write("{", into: "copy/options.json")
        for path in ["notes.txt", "_docs/a.json", "filters/old.js", "images/title"] {
            try room.write("old", into: "copy/\(path)")
        }
        let pulled = try room.run("design", "pull", "db", "shop", "copy", "--force", "--json")
        #expect(pulled.status == 0, "\(pulled.errors)")
        #expect(pulled.json["removed"] == ["filters/old.js", "images/title"])
        for path in ["notes.txt", "_docs/a.json", "images/logo.png"] {
            #expect(FileManager.default.fileExists(atPath: room.path("copy/\(path)")), "\(path)")
        }
        #expect(try room.run("design", "push", "db", "copy", "--json").json["changed"] == [])

        // Where nothing would be removed, the folder needs no `_id`.
        try room.write("# Read me\n", into: "new/README.md")
        #expect(try room.run("design", "pull", "db", "shop", "new", "--force").status == 0)
        #expect(FileManager.default.fileExists(atPath: room.path("new/README.md")))
    }

    @Test func `an option or a word that the action does not take is refused, and nothing is done`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try Self.fill(room)
        #expect(try room.run("design", "push", "db", "shop").status == 0)
        let revision = try room.run("get", "db", "_design/shop").json["_rev"]
        try room.write("function (doc) { return true; }", into: "shop/filters/mine.js")
        for (words, told) in [
            (["pull", "db", "shop", "copy", "--dry-run"], "--dry-run is for push, not for pull"),
            (["pull", "db", "shop", "copy", "--name", "x"], "--name is for push, not for pull"),
            (["push", "db", "shop", "--force"], "--force is for pull, not for push"),
            (["push", "db", "shop", "copy"], "\"copy\" is an unexpected argument"),
            (["list", "db", "shop"], "\"shop\" is an unexpected argument"),
            (["list", "db", "--dry-run"], "--dry-run is for push, not for list"),
            (["info", "db", "shop", "copy"], "\"copy\" is an unexpected argument"),
            (["build", "db", "shop", "--force"], "--force is for pull, not for build"),
        ] as [([String], String)] {
            let outcome = try room.run(all: ["design"] + words)
            #expect(outcome.status == 2 && outcome.errors.contains(told), "\(words): \(outcome)")
        }
        #expect(!FileManager.default.fileExists(atPath: room.path("copy")))
        #expect(try room.run("get", "db", "_design/shop").json["_rev"] == revision)
    }

    @Test func `an error is reported with its file and line, and nothing is stored`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try Self.fill(room)
        try room.write("function (doc) {\n  emit(1);\n  var x = ;\n}\n", into: "shop/views/by-name/map.js")
        try room.write("exports.a = 1;\n\nif (\n", into: "shop/lib/a/b.js")
        try room.write("5\n", into: "shop/filters/mine.js")
        let outcome = try room.run("design", "push", "db", "shop", "--json")
        #expect(outcome.status == 5)
        #expect(outcome.error["error"] == "compilation_error")
        let message = outcome.error["message"]?.string ?? ""
        #expect(message.contains("shop/views/by-name/map.js, line 3: SyntaxError"), "\(message)")
        #expect(message.contains("shop/lib/a/b.js, line 3: SyntaxError"), "\(message)")
        #expect(message.contains("shop/filters/mine.js, line 1: this is no function"), "\(message)")
        try Self.fill(room)
        try room.write("{\n  \"a\": 1,\n}\n", into: "shop/options.json")
        let json = try room.run("design", "push", "db", "shop")
        #expect(json.status == 5 && json.errors.contains("shop/options.json, line 3"), "\(json.errors)")
        try Self.fill(room)
        try room.write("{}", into: "shop/views.json")
        #expect(
            try room.run("design", "push", "db", "shop").errors.contains("shop/views.json is a second file for views"))
        try FileManager.default.removeItem(atPath: room.path("shop/views.json"))
        try room.write("5", into: "shop/updates.json")
        try FileManager.default.removeItem(atPath: room.path("shop/updates"))
        let form = try room.run("design", "push", "db", "shop")
        #expect(form.status == 5 && form.errors.contains("`updates` field must have object type"), "\(form.errors)")
        #expect(try room.run("design", "push", "db", "nowhere").status == 3)
        #expect(try room.run("design", "list", "db").line == "No design document")
    }

    @Test func `members and names without files survive a pull and a push`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        let body = #"""
            {"z":[1,2.50,{"b":1,"a":2}],"views":{"a/b":{"map":"function (doc) {}"}},"filters":{"ok":"function () { return 1 }\n"},\#
            "note":"text\n","language":"javascript"}
            """#
        let revision = try room.run("put", "db", "_design/odd", body).line
        #expect(try room.run("design", "pull", "db", "odd").status == 0)
        #expect(FileManager.default.fileExists(atPath: room.path("odd/views.json")))
        #expect(try room.run("design", "push", "db", "odd", "--json").json["rev"] == .string(revision))
        #expect(try room.run("put", "db", "_design/bad", #"{"a/b":1}"#).status == 0)
        #expect(try room.run("design", "pull", "db", "bad").status == 5)
    }

    @Test func `a view on disk is reduced, and an invalid query is refused`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try Self.fill(room)
        #expect(try room.run("design", "push", "db", "shop").status == 0)
        #expect(try room.run("put", "db", "m", #"{"name":"milk"}"#).status == 0)
        let rows = try room.run("query", "db", "shop/by-name", "--reduce")
        #expect(rows.lines == ["KEY   VALUE", "null  1"])
        let failing = try room.run("query", "db", "shop/by-name", "--no-reduce", "--group")
        #expect(failing.status == 2)
        #expect(try room.run("query", "db", "shop/none").status == 3)
        #expect(try room.run("query", "db", "shop/by-name", "--keys", #"["a","b"]"#).status == 5)
    }

    @Test func `functions and texts for other programs are stored as they are, and come back`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        let nameless = "function (doc) { index('text', 'x', doc.a); }"
        let files = [
            "app/nouveau/by-text/index.js": nameless, "app/nouveau/by-text/default_analyzer": "french",
            "app/indexes/old/index.js": nameless, "app/indexes/old/analyzer.json": "{\"name\": \"perfield\"}",
            "app/fulltext/lucene/index.js": nameless, "app/evently/items/click.js": "function (e) { return 1 }",
            "app/evently/items/row.html": "<li>{{name}}</li>\n", "app/templates/page.html": "<p>",
            "app/vendor/couchapp/loader.js": "if (", "app/shows/page.js": "function (doc, req) { % }",
            "app/lists/all.js": "function (head, req) { % }", "app/rewrites.js": "function (req) { % }",
            "app/_docs/first.json": "{}", "app/_id": "_design/app\n",
            "app/updates/bump.js": "function (doc) { return [doc, require('./helper/a').x] }",
            "app/updates/helper/a.js": "exports.x = require('mods/b').y;", "app/mods/b.js": "exports.y = 1;",
            "app/mods/unused.js": "if (", "app/README.md": "# App\n",
        ]
        for (path, text) in files { try room.write(text, into: path) }
        try Data([0xFF, 0xD8, 0xFF]).write(to: room.folder.appending(path: "app/evently/items/photo.jpg"))
        let pushed = try room.run("design", "push", "db", "app")
        #expect(pushed.status == 0, "\(pushed.errors)")
        for ignored in ["README.md", "_docs", "evently/items/photo.jpg"] {
            #expect(pushed.output.contains("\(ignored) is not part of the design document"), "\(pushed.output)")
        }
        let document = try room.run("get", "db", "_design/app").json
        #expect(document["nouveau"]?["by-text"] == ["default_analyzer": "french", "index": .string(nameless)])
        #expect(document["indexes"]?["old"]?["analyzer"] == ["name": "perfield"])
        #expect(document["fulltext"]?["lucene"]?["index"] == .string(nameless))
        #expect(document["evently"]?["items"] == ["click": "function (e) { return 1 }", "row": "<li>{{name}}</li>"])
        #expect(document["templates"]?["page"] == "<p>" && document["vendor"]?["couchapp"]?["loader"] == "if (")
        #expect(document["README"] == nil && document["_docs"] == nil)

        // A folder that was pulled is the same document, also over the first one.
        let revision = document["_rev"]
        #expect(try room.run("design", "pull", "db", "app", "copy").status == 0)
        #expect(try room.contents(of: "copy/nouveau/by-text/index.js") == Data((nameless + "\n").utf8))
        #expect(try room.run("design", "push", "db", "copy", "--json").json["rev"] == revision)
        #expect(try room.run("design", "pull", "db", "app", "app", "--force").status == 0)
        #expect(try room.contents(of: "app/README.md") == Data("# App\n".utf8))
        let again = try room.run("design", "push", "db", "app", "--json")
        #expect(again.json["rev"] == revision, "\(again)")

        // What a server runs is still compiled.
        try room.write("function (doc) { emit( }", into: "copy/views/v/map.js")
        let view = try room.run("design", "push", "db", "copy")
        #expect(view.status == 5 && view.errors.contains("copy/views/v/map.js, line 1"), "\(view.errors)")
        #expect(!view.errors.contains("shows") && !view.errors.contains("vendor"))
    }

    @Test func `a module is compiled where a function loads it, whatever its folder is called`() throws {
        let room = try Room()
        #expect(try room.run("create", "db").status == 0)
        try room.write("function (doc) { return require('mods/a').x }", into: "app/filters/f.js")
        try room.write("exports.x = require('../other/b').y;", into: "app/mods/a.js")
        try room.write("\nif (\n", into: "app/other/b.js")
        try room.write("if (", into: "app/other/unused.js")
        let outcome = try room.run("design", "push", "db", "app")
        #expect(outcome.status == 5 && outcome.errors.contains("app/other/b.js, line"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("unused"))
    }
}
