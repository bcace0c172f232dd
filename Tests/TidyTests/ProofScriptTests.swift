import Foundation
import Testing

/// The scripts of `make prove-…` report success only if they have tested something.
struct ProofScriptTests {
    private func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        try PythonScript(path: "Scripts/prove/\(name).py").run(in: Repository.shared.root, arguments)
    }

    @Test(arguments: [
        "kills --rounds 0", "kills --kills 0", "kills --writers 0", "kills --longest -1", "kills --only nonsense",
        "power --rounds 0", "power --each 0", "faults --calls 0", "faults --only nonsense", "load --minutes 0",
        "schedules --count 0", "schedules --each 0", "fleets --rounds 0", "kills --settle missing",
    ])
    func `arguments with which nothing can be tested are an error that names the script`(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let (status, output) = try run(words[0], Array(words.dropFirst()))
        #expect(status == 2 && output.contains("\(words[0]).py: "), "\(output)")
        #expect(!output.contains("Traceback"), "\(output)")
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"next": -1, "sums": {}, "builds": [], "options": {}}"#])
    func `a damaged state of a run is an error that names the file and the way out`(state: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "proof-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appending(path: "settle")
        try Data("#!/bin/sh\necho 'settle: a program'\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        try Data(state.utf8).write(to: folder.appending(path: "kills-1.json"))
        let (status, output) = try run("kills", ["--seed", "1", "--state", folder.path, "--settle", program.path])
        #expect(status == 2 && output.contains("kills-1.json") && output.contains("--fresh"), "\(output)")
    }
}
