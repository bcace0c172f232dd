import SettleScripting
import Testing

/// Scripts that exhaust resources or throw unusual values, on purpose or not.
@Suite(.timeLimit(.minutes(5)), .serialized) struct HostileScriptTests {
    private static let loop = "function () { while (true) {} }"

    @Test func `an endless loop is stopped, and the next script runs`() throws {
        let workers = Workers(timeLimit: 300)
        let error = #expect(throws: ScriptError.self) { try workers.map(Self.loop, "{}") }
        #expect(error == .timeout)
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
    }

    @Test(arguments: [
        "function () { var all = []; while (true) all.push(new Array(1000).fill(1.5)) }",
        "function () { var text = 'x'; while (true) text += text }",
        "function () { var all = []; while (true) all.push(new Uint8Array(1 << 20).fill(1)) }",
        "function () { while (true) log('x') }",
        "function () { /^(a+)+$/.test('a'.repeat(40) + 'b') }",
        "function () { Promise.resolve().then(function f() { return Promise.resolve().then(f) }) }",
    ])
    func `a script that exhausts its memory or stack is stopped or throws`(script: String) throws {
        let workers = Workers(timeLimit: 1500)
        do { #expect(try workers.map(script, "{}") == ["[[]]"]) } catch let error as ScriptError {
            #expect(error.name == "os_process_error")
        }
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
    }

    @Test(arguments: [
        "function () { var all = []; while (true) all.push(new Array(1000).fill(1.5)) }",
        "function () { var all = []; while (true) all.push(new Uint8Array(1 << 20).fill(1)) }",
    ])
    func `the memory limit is reached before the time limit`(script: String) throws {
        let workers = Workers(timeLimit: 60_000, memory: 32 << 20)
        do { #expect(try workers.map(script, "{}") == ["[[]]"]) } catch let error as ScriptError {
            #expect(error.name == "os_process_error" && error != .timeout)
        }
    }

    @Test(arguments: [
        "function () { while (true) emit('some text', 'more of it') }",
        "function () { try { while (true) emit(1) } catch (error) {} }",
        "function () { try { while (true) emit(new Array(1000).fill(1.5)) } catch (error) {} }",
        "function () { var a = new Array(1 << 20).fill('some text'); while (true) emit(a) }",
    ])
    func `endless rows are an error and not an empty list`(script: String) throws {
        let workers = Workers(timeLimit: 4000)
        let error = #expect(throws: ScriptError.self) { try workers.map(script, "{}") }
        #expect(error?.name == "os_process_error")
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
    }

    @Test(arguments: [
        "function f() { f() }", "function () { throw null }", "function () { throw undefined }",
        "function () { throw 5 }",
        "function () { throw Symbol('x') }", "function () { throw function () {} }",
        "function () { throw new Proxy({}, {}) }",
        "function () { throw { toString: function () { throw 1 }, get name() { throw 2 } } }",
        "function () { var a = []; a[0] = a; emit(a) }", "function () { emit(10n) }",
        "function () { emit({ toJSON: function () { throw 1 } }) }",
        "function () { emit(1); throw new RangeError('x') }",
    ])
    func `anything thrown loses only the rows of that document`(script: String) throws {
        #expect(try Workers().map(script, #"{"_id":"x"}"#) == ["[[]]"])
    }

    @Test(arguments: ["throw 'fatal_error'", "throw ['fatal', 'x', 'y']"])
    func `a script may throw CouchDB's fatal error`(body: String) throws {
        let error = #expect(throws: ScriptError.self) { try Workers().map("function () { \(body) }", "{}") }
        #expect(["map_runtime_error", "x"].contains(error?.name))
    }

    @Test func `a hundred endless loops do not keep a quick script waiting for long`() throws {
        let workers = Workers(timeLimit: 1000)
        let hostile = ScriptSource(owner: "bad", key: "loop", maps: [Self.loop], library: nil)
        let calls = (0..<100).map { _ in workers.pool.submit(.map([Array("{}".utf8)], by: hostile)) }
        for _ in 0..<20 { #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"]) }
        workers.pool.close()
        for call in calls { #expect(throws: ScriptError.self) { try call.wait() } }
    }

    @Test func `a closed pool answers with an error that says so`() throws {
        let workers = Workers()
        #expect(try workers.map("function () { emit(1) }", "{}") == ["[[[1,null]]]"])
        workers.pool.close()
        #expect(throws: ScriptError.self) { try workers.map("function () {}", "{}") }
    }
}
