import Foundation
import SettleTesting

/// A Python script of the repository.
struct PythonScript {
    /// Its path from the repository's root.
    let path: String

    /// Runs the script of a repository; returns its status, and what it prints and complains about.
    func run(in root: URL, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", root.appending(path: path).path] + arguments
        let output = Pipe()
        (python.standardOutput, python.standardError) = (output, output)
        python.standardInput = FileHandle.nullDevice
        try python.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        return (python.waitForEnd(), String(decoding: data, as: UTF8.self))
    }
}
