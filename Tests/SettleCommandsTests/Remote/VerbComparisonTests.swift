import Foundation
import Settle
import SettleTesting
import Testing

/// Commands on a database at a server and in a folder write the same output and end with the same status.
struct VerbComparisonTests {
    @Test(.timeLimit(.minutes(5)), arguments: VerbScript.all)
    func `a folder and a URL give the same answers`(script: VerbScript) throws {
        let remote = try RemoteRoom()
        try compare(script, remote, at: remote.url(), port: remote.port)
    }

    @Test(.timeLimit(.minutes(5)), arguments: VerbScript.all.filter { $0.testDescription.hasSuffix("conflicts") })
    func `conflicts at a CouchDB that is not Settle are settled with the same answers`(script: VerbScript) throws {
        let remote = try RemoteRoom()
        let proxy = try remote.disguise()
        try compare(script, remote, at: remote.url(behind: proxy), port: proxy.port)
        proxy.stop()
    }

    private func compare(_ script: VerbScript, _ remote: RemoteRoom, at url: String, port: Int) throws {
        var results = (local: [String](), remote: [String]())
        for call in script.calls {
            let local = try run(call, on: "local", results.local, remote)
            let far = try run(call, on: url, results.remote, remote)
            results.local.append(local.line)
            results.remote.append(far.line)
            #expect(far.status == local.status, "\(call.words): \(far.errors)")
            #expect(plain(far.output, remote, port) == plain(local.output, remote, port), "\(call.words)")
            #expect(plain(far.errors, remote, port) == plain(local.errors, remote, port), "\(call.words)")
            #expect(!(far.output + far.errors).contains("secret-word"))
        }
        #expect(results.local.count == script.calls.count)
    }

    private func run(
        _ call: VerbScript.Call, on database: String, _ results: [String], _ remote: RemoteRoom
    ) throws -> Room.Outcome {
        let words = call.words.map { word in
            if word == "DB" { return database }
            guard word.hasPrefix("@"), let place = Int(word.dropFirst()), place < results.count else { return word }
            return results[place]
        }
        return try remote.room.run(all: words, input: call.input, environment: ["HOME": remote.room.folder.path])
    }

    /// Removes permitted differences: names, times, sequences, and what CouchDB does not show: where a leaf came from, and which
    /// old tombstones were deletions.
    private func plain(_ text: String, _ remote: RemoteRoom, _ port: Int) -> String {
        var text = text.replacing(":\(port)/", with: ":\(remote.port)/")
        for name in [remote.url("db", ""), remote.room.path("local")] { text = text.replacing(name, with: "DB") }
        for verb in ["Created", "create"] { text = text.replacing("\(verb) local", with: "\(verb) DB") }
        let rules: [(String, String)] = [
            (#""seconds":[0-9.e-]+"#, ""), (#"in [0-9.]+ (ms|s)\b"#, ""), (#"[0-9,]+/s"#, ""),
            (#""seq":("[^"]*"|[0-9]+)"#, ""),
            (#"(?m)^[0-9]+(-[0-9a-zA-Z]+…?)?  "#, ""),
        ]
        let ofCouchDB: [(String, String)] = [
            (#","side":"[a-z]+""#, ""), (#","(remote|deletion)":true"#, ""), (#", (local|remote)"#, ""),
        ]
        for (pattern, replacement) in rules + (port == remote.port ? [] : ofCouchDB) {
            text = text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
        }
        return text
    }
}
