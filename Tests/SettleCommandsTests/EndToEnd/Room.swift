import Foundation
import Settle
import SettleTesting
import Testing

/// A temporary folder in which the real tool runs.
final class Room {
    /// The status and output of a run.
    struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        /// Standard output without the final line end.
        var line: String { output.hasSuffix("\n") ? String(output.dropLast()) : output }

        var lines: [String] { output.split(separator: "\n").map(String.init) }

        /// Standard output as JSON.
        var json: JSONValue { (try? JSONValue(parsing: output)) ?? .null }

        /// Standard error as JSON.
        var error: JSONValue { (try? JSONValue(parsing: errors)) ?? .null }
    }

    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// Writes a file, and the folders it is in.
    func write(_ text: String, into path: String) throws {
        let place = folder.appending(path: path)
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: place)
    }

    func contents(of name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    /// Runs the tool and waits for its end.
    @discardableResult
    func run(_ words: String..., input: String = "", environment: [String: String] = [:]) throws -> Outcome {
        try run(all: words, input: input, environment: environment)
    }

    /// Runs the tool and waits for its end, limited to `memory` kilobytes if given.
    func run(
        all words: [String], input: String = "", environment: [String: String] = [:], memory: Int? = nil,
        program: String = "settle"
    ) throws -> Outcome {
        let number = UUID().uuidString
        try write(input, to: "in-\(number)")
        let process = try start(words, number, environment, memory: memory, program: program)
        return try outcome(process, number)
    }

    #if os(Linux)
    /// Compiles a C library with functions that the tool calls instead of those of its other libraries.
    ///
    /// - Returns: The variable with which the tool loads it.
    func preload(_ source: String) throws -> [String: String] {
        try write(source, to: "before.c")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "sh", "-c", "$(command -v clang || command -v cc) -shared -fPIC -o before.so before.c -ldl",
        ]
        compiler.currentDirectoryURL = folder
        try compiler.run()
        try #require(compiler.waitForEnd() == 0)
        return ["LD_PRELOAD": path("before.so")]
    }
    #endif

    /// Starts the tool, with a file as its input and files for its output.
    func start(
        _ words: [String], _ number: String, _ environment: [String: String] = [:], input pipe: Pipe? = nil,
        memory: Int? = nil, program: String = "settle"
    ) throws -> Process {
        let process = Process()
        process.executableURL = try Self.tool(program)
        process.arguments = words
        if let memory {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments =
                ["-c", "ulimit -s 1024 && ulimit -d \(memory) && exec \"$0\" \"$@\"", try Self.tool(program).path]
                + words
        }
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        for name in ["out", "err"] { try write("", to: "\(name)-\(number)") }
        let input = folder.appending(path: "in-\(number)")
        if !FileManager.default.fileExists(atPath: input.path) { try write("", to: "in-\(number)") }
        let files = try [
            FileHandle(forReadingFrom: input), FileHandle(forWritingTo: folder.appending(path: "out-\(number)")),
            FileHandle(forWritingTo: folder.appending(path: "err-\(number)")),
        ]
        // The tool has its own. `Process` may keep these for ever, and fails in a process with a thousand open files.
        defer { for file in files { try? file.close() } }
        process.standardInput = pipe ?? files[0]
        (process.standardOutput, process.standardError) = (files[1], files[2])
        try process.run()
        return process
    }

    /// What a started tool, such as a server, prints first as JSON: `null` if it ends without that.
    func firstOutput(
        of process: Process, _ number: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
        waitUntil("there is a line of output", sourceLocation: sourceLocation) {
            try contents(of: "out-\(number)").contains(UInt8(ascii: "\n")) || !process.isRunning
        }
        let line = try contents(of: "out-\(number)").prefix { $0 != UInt8(ascii: "\n") }
        return (try? JSONValue(utf8: Array(line))) ?? .null
    }

    func outcome(_ process: Process, _ number: String) throws -> Outcome {
        Outcome(
            status: process.waitForEnd(),
            output: String(decoding: try contents(of: "out-\(number)"), as: UTF8.self),
            errors: String(decoding: try contents(of: "err-\(number)"), as: UTF8.self))
    }

    /// The tool that was built with these tests, which is in the folder of the test program.
    static func tool(_ name: String = "settle") throws -> URL {
        var places = [Bundle.main.bundleURL, Bundle.main.executableURL?.deletingLastPathComponent()].compactMap(\.self)
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            places.append(URL(filePath: argument).deletingLastPathComponent())
        }
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        places.append(root.appending(path: ".build/debug"))
        for place in places {
            for folder in [place, place.deletingLastPathComponent()] {
                let tool = folder.appending(path: name)
                var isFolder: ObjCBool = false
                let exists = FileManager.default.fileExists(atPath: tool.path, isDirectory: &isFolder)
                if exists, !isFolder.boolValue { return tool }
            }
        }
        Issue.record("the tool `\(name)` is not built")
        throw CocoaError(.fileNoSuchFile)
    }
}
