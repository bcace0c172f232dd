import Foundation

/// The command `openssl`, for keys, signatures and certificates of tests.
struct OpenSSL {
    /// Where files are made.
    let folder: String

    /// Runs it and returns what it writes.
    @discardableResult
    func run(_ arguments: String..., input: [UInt8] = []) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = URL(filePath: folder)
        let (given, made) = (Pipe(), Pipe())
        process.standardInput = given
        process.standardOutput = made
        process.standardError = FileHandle.nullDevice
        try process.run()
        given.fileHandleForWriting.write(Data(input))
        try given.fileHandleForWriting.close()
        let output = Array(made.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return output
    }

    /// The text of a file it made.
    func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }
}
