import Foundation
import SettleScripting
import SettleTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ScriptFunctionTests {
    #if os(Linux)
    /// Files with text stand where the worker looks first, as on a machine without JavaScriptCore.
    @Test func `without JavaScriptCore a call says what is missing, and the next finds it`() throws {
        let folder = try TemporaryFolder()
        let names = ["4.1.so.0", "6.0.so.1", "4.0.so.18"].map { "libjavascriptcoregtk-" + $0 }
        for name in names { try Data("text".utf8).write(to: URL(filePath: folder(name))) }
        let workers = Workers(start: "export LD_LIBRARY_PATH='\(folder.path)'")
        let error = #expect(throws: ScriptError.self) { try workers.map("function () { emit(1) }", "{}") }
        #expect(error?.name == "os_process_error")
        #expect(error?.reason.contains("libjavascriptcoregtk-4.1-0") == true)
        for name in names { try FileManager.default.removeItem(atPath: folder(name)) }
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
    }
    #endif

    @Test(arguments: [.min, 0, .max] as [Int])
    func `a script runs with any number of workers and the highest limits`(count: Int) throws {
        let workers = Workers(timeLimit: .max, workers: count, memory: .max)
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
    }

    @Test func `the call after an idle worker was killed runs in a new worker`() throws {
        let folder = try TemporaryFolder()
        let file = folder("workers")
        let workers = Workers(workers: 1, start: "echo $$ >>'\(file)'")
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let worker = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
        kill(worker, SIGKILL)
        // The process has ended after this loop. The pool still has to collect it.
        var information = siginfo_t()
        while waitid(P_PID, id_t(worker), &information, WEXITED | WNOWAIT) != 0 { try #require(errno == EINTR) }
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
        #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count == 2)
    }

    @Test(arguments: [
        ("throw({forbidden: 'no'})", #"{"forbidden":"no"}"#), ("throw({unauthorized: doc.n})", #"{"unauthorized":1}"#),
        ("throw 'text'", #""text""#), ("throw null", "null"), ("throw undefined", "undefined"), ("return false", "1"),
    ])
    func `a validation function refuses by throwing`(body: String, answer: String) throws {
        #expect(try Workers().validate("function (doc) { \(body) }", #"[{"n":1},null,{},{}]"#) == answer)
    }

    @Test func `an uncaught JavaScript error in a validation function is an error of the script`() throws {
        let error = #expect(throws: ScriptError.self) {
            try Workers().validate("function () { missing() }", "[{},null,{},{}]")
        }
        #expect(error?.name == "ReferenceError")
    }

    @Test func `filters answer for each document, and get the request`() throws {
        let workers = Workers()
        let source = ScriptSource(
            owner: "db", key: "f",
            document: Array(
                #"{"filters":{"f":"function (doc, req) { return doc.n > req.query.n }"},"views":{"v":{"map":"function (doc) { if (doc.n) emit(1) }"}}}"#
                    .utf8))
        let documents = [#"{"n":1}"#, #"{"n":5}"#, "{}"].map { Array($0.utf8) }
        let kept = try workers.pool.run(
            .filter(documents, by: "f", request: Array(#"{"query":{"n":3}}"#.utf8), of: source))
        #expect(kept == [[48], [49], [48]])
        #expect(try workers.pool.run(.filter(documents, byView: "v", of: source)) == [[49], [49], [48]])
        let error = #expect(throws: ScriptError.self) {
            try workers.pool.run(.filter(documents, by: "g", request: Array("{}".utf8), of: source))
        }
        #expect(error == ScriptError("not_found", "missing filters function g"))
    }

    @Test func `an update function returns a document and a response`() throws {
        let source = ScriptSource(
            owner: "db", key: "u",
            document: Array(
                #"{"updates":{"u":"function (doc, req) { return [{_id: req.id, old: doc}, 'made'] }"}}"#.utf8))
        let answer = try Workers().pool.run(.update(nil, by: "u", request: Array(#"{"id":"x"}"#.utf8), of: source))
        #expect(answer == [Array(#"[{"_id":"x","old":null},{"body":"made"}]"#.utf8)])
    }

    @Test func `syntax errors are found with their lines, and modules are not run`() throws {
        let source = ScriptSource(owner: "db", key: "syntax", document: Array("{}".utf8))
        let answers = try Workers().pool.run(
            .syntax(
                [
                    (false, "// first\nfunction (doc) {\n  emit(1);\n};\n"),
                    (false, "function (doc) {\n\n  var x = ;\n}"),
                    (false, "5"), (true, "while (true) {}"), (true, "exports.a = 1;\nexports.b = (\n"),
                ], in: source)
        ).map { String(decoding: $0, as: UTF8.self) }
        #expect(answers[0] == "1" && answers[3] == "1")
        #expect(answers[1].hasSuffix(",3]") && answers[1].contains("SyntaxError"))
        #expect(answers[2] == #"["this is no function",1]"#)
        #expect(answers[4].hasSuffix(",3]"), "\(answers[4])")
    }

    @Test func `functions are compiled before they are stored`() throws {
        let source = ScriptSource(owner: "db", key: "check", document: Array("{}".utf8))
        let workers = Workers()
        _ = try workers.pool.run(.check([("map", "v", "function (doc) {}")], in: source))
        let error = #expect(throws: ScriptError.self) {
            try workers.pool.run(.check([("map", "v", "function (doc) {}"), ("reduce", "w", "5")], in: source))
        }
        #expect(
            error
                == ScriptError(
                    "compilation_error",
                    "Compilation of the reduce function in the 'w' view failed: Expression does not eval to a function. (5)"
                ))
    }
}
