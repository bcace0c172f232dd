import Foundation
import SettleTesting
import Testing

/// What happens when a program such as `head` closes the pipe that the tool writes to.
struct ClosedOutputTests {
    let room: Room

    init() throws {
        room = try Room()
        let text = String(repeating: "x", count: 60)
        let lines = (0..<4000).map { "{\"_id\":\"document-number-\($0)\",\"text\":\"\(text)\"}\n" }
        try room.run("import", "a", "-", input: lines.joined())
        try room.run("put", "a", "_design/d", #"{"views":{"v":{"map":"function (doc) { emit(doc._id) }"}}}"#)
    }

    @Test(arguments: ["export a", "docs a --bodies", "changes a --follow", "find a '{}' --json --quiet", "query a d/v"])
    func `head ends a command that prints a lot, without a word`(command: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        // The status and the errors of the tool, not of the program that reads its output.
        let tool = try Room.tool().path
        shell.arguments = ["-c", "{ '\(tool)' \(command) 2>err; echo $? >status; } | head -n 1 >out"]
        shell.currentDirectoryURL = room.folder
        try shell.run()
        shell.waitForEnd()
        #expect(try String(decoding: room.contents(of: "status"), as: UTF8.self) == "141\n")
        #expect(try String(decoding: room.contents(of: "err"), as: UTF8.self) == "")
        #expect(try room.contents(of: "out").last == UInt8(ascii: "\n"))
    }

    @Test(arguments: [
        ["help"], ["help", "--markdown"], ["version"], ["info", "a"], ["docs", "a", "--json"], ["changes", "a"],
        ["get", "a", "document-number-1"], ["tree", "a", "document-number-1"], ["find", "a", "{}"],
        ["export", "a", "--json"],
        ["design", "list", "a"], ["index", "list", "a"], ["put", "a", "new", "{}"],
    ])
    func `a command whose output nobody reads ends with the status of SIGPIPE`(words: [String]) throws {
        let process = Process()
        process.executableURL = try Room.tool()
        process.arguments = words
        process.currentDirectoryURL = room.folder
        let (output, errors) = (Pipe(), Pipe())
        try output.fileHandleForReading.close()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
        let status = process.waitForEnd()
        #expect(status == 141)
        #expect(String(decoding: complaint, as: UTF8.self) == "")
    }
}
