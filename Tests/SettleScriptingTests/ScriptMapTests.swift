import SettleDatabase
import SettlePlatform
import SettleScripting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ScriptMapTests {
    @Test func `a map function emits rows`() throws {
        let workers = Workers()
        let rows = try workers.map(
            "function (doc) { emit(doc.n, {a: doc._id}); emit([doc.n]); }", #"{"_id":"x","n":1}"#, #"{"_id":"y"}"#)
        #expect(rows == [#"[[[1,{"a":"x"}],[[1],null]]]"#, #"[[[null,{"a":"y"}],[[null],null]]]"#])
    }

    @Test func `a map function that throws loses its document only, and is logged`() throws {
        let workers = Workers()
        let rows = try workers.map(
            "function (doc) { emit(1, 1); if (doc.bad) throw new Error('no'); }", #"{"_id":"a"}"#,
            #"{"_id":"b","bad":1}"#,
            #"{"_id":"c"}"#)
        #expect(rows == ["[[[1,1]]]", "[[]]", "[[[1,1]]]"])
        #expect(workers.lines.withLock { $0 } == ["function raised exception Error: no with doc._id b"])
    }

    @Test func `a map function's changes to a document are not seen by others`() throws {
        let workers = Workers()
        let source = ScriptSource(
            owner: "db", key: "two",
            maps: ["function (doc) { doc.n = 2; emit(doc.n); }", "function (doc) { emit(doc.n); }"], library: nil)
        let rows = try workers.pool.run(.map([Array(#"{"n":1}"#.utf8)], by: source))
        #expect(rows == [Array("[[[1,null]],[[1,null]]]".utf8)])
    }

    @Test(arguments: [
        "(doc) => emit(doc.n)", "function map(doc) { emit(doc.n) };",
        "// first\nfunction (doc) { emit(doc.n) } // last",
    ])
    func `functions may be written in several syntaxes`(source: String) throws {
        #expect(try Workers().map(source, #"{"n":3}"#) == ["[[[3,null]]]"])
    }

    @Test(arguments: ["function (doc {", "5", "function (doc) {} }"])
    func `source that is not a function is a compilation error`(source: String) throws {
        let error = #expect(throws: ScriptError.self) { try Workers().map(source, "{}") }
        #expect(error?.name == "compilation_error")
    }

    @Test func `modules of the design document are found by their paths`() throws {
        let workers = Workers()
        let library =
            #"{"a":{"one":"exports.n = require('./two').n + 1","two":"exports.n = require('../base').n"},"base":"exports.n = 40"}"#
        let source = ScriptSource(
            owner: "db", key: "lib", maps: ["function (doc) { emit(require('views/lib/a/one').n) }"],
            library: Array(library.utf8))
        #expect(try workers.pool.run(.map([Array("{}".utf8)], by: source)) == [Array("[[[41,null]]]".utf8)])
    }

    @Test func `CouchDB's functions are defined, and no access to the outside`() throws {
        let workers = Workers()
        let there = try workers.map(
            "function () { emit([sum([1, 2]), isArray([]), isArray({}), toJSON({a: 1}), typeof require, typeof log]) }",
            "{}")
        #expect(there == [#"[[[[3,true,false,"{\"a\":1}","function","function"],null]]]"#])
        let outside = [
            "process", "Deno", "fetch", "XMLHttpRequest", "WebSocket", "read", "load", "print", "quit", "setTimeout",
            "WebAssembly", "SharedArrayBuffer", "Atomics", "console", "importScripts", "$vm", "globalThis.document",
        ]
        let list = outside.map { "typeof \($0)" }.joined(separator: ",")
        let kinds = try workers.map(
            "function () { emit([\(list)].filter(function (k) { return k !== 'undefined' })) }", "{}")
        #expect(kinds == ["[[[[],null]]]"])
        #expect(try workers.map("async function () { await import('/etc/passwd'); emit(1) }", "{}") == ["[[]]"])
    }

    @Test func `databases share no state, not even through built-in objects`() throws {
        let workers = Workers(workers: 1)
        let spoil = """
            function () { globalThis.seen = 1; Array.prototype.seen = 1; JSON.stringify = function () { return "1" }; emit(1) }
            """
        _ = try workers.map(spoil, "{}", owner: "one")
        let look = "function () { emit([typeof seen, typeof [].seen, JSON.stringify({})]) }"
        #expect(try workers.map(look, "{}", owner: "two") == [#"[[[["undefined","undefined","{}"],null]]]"#])
    }

    @Test func `reduce functions get keys with ids, and in rereduce only values`() throws {
        let workers = Workers()
        let source = ScriptSource(owner: "db", key: "r", maps: [], library: nil)
        let reduce = "function (keys, values, again) { return again ? sum(values) : [keys, values.length] }"
        let first = try workers.pool.run(
            .reduce([Array(#"[[["k","a"],1],[["k","b"],2]]"#.utf8)], by: [reduce], again: false, in: source))
        #expect(first == [Array(#"[[[["k","a"],["k","b"]],2]]"#.utf8)])
        let again = try workers.pool.run(.reduce([Array("[1,2,3]".utf8)], by: [reduce], again: true, in: source))
        #expect(again == [Array("[6]".utf8)])
    }

    @Test func `a reduction that does not shrink is reported as such`() throws {
        let workers = Workers()
        let source = ScriptSource(owner: "db", key: "r", maps: [], library: nil)
        let values = "[" + (0..<3000).map(String.init).joined(separator: ",") + "]"
        let result = try workers.pool.run(
            .reduce([Array(values.utf8)], by: ["function (k, v) { return v }"], again: true, in: source))
        #expect(String(decoding: result[0], as: UTF8.self).hasPrefix(#"[{"reduce_overflow_error":"#))
    }
}
