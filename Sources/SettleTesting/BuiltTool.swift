package import Foundation

/// An executable of this package, which lies where the tests were built.
package struct BuiltTool {
    package let path: String

    package init(_ name: String) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        path = tests.deletingLastPathComponent().appending(path: name).path
    }

    /// Runs it to its end; returns its status and output.
    package func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (status: Int32, output: String) {
        let process = process(arguments)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let status = process.waitForEnd()
        return (status, String(decoding: data, as: UTF8.self))
    }

    /// Starts it without output.
    package func start(_ arguments: [String]) throws -> Process {
        let process = process(arguments)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        return process
    }
}
