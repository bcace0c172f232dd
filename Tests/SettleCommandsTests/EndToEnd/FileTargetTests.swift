import Foundation
import Settle
import SettlePlatform
import Testing

/// The tool writes files to paths that already exist.
@Suite struct FileTargetTests {
    let room: Room

    init() throws {
        room = try Room()
        try room.run("create", "a")
        try room.run("put", "a", "note", #"{"v":1}"#)
        try room.write("all is well", to: "content.bin")
        try room.run("attach", "a", "note", "content.bin")
    }

    /// The commands that write a file, without its path.
    private static let commands = [
        ["export", "a"], ["export", "a", "--csv"], ["get", "a", "note", "--attachment", "content.bin", "--output"],
        ["get", "a", "note", "--output"],
    ]

    @Test(arguments: commands) func `a pipe is written into and stays a pipe`(words: [String]) throws {
        #expect(mkfifo(room.path("pipe"), 0o600) == 0)
        let reader = open(room.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let outcome = try room.run(all: words + ["pipe"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        var bytes = [UInt8](repeating: 0, count: 4096)
        #expect(read(reader, &bytes, bytes.count) > 0)
        var status = stat()
        #expect(lstat(room.path("pipe"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test(arguments: commands) func `a symbolic link is followed, also to a file that is not there yet`(
        words: [String]
    ) throws {
        try FileManager.default.createDirectory(atPath: room.path("there"), withIntermediateDirectories: true)
        for target in ["there/out", room.path("there/other")] {
            try FileManager.default.createSymbolicLink(atPath: room.path("link"), withDestinationPath: target)
            for _ in 0..<2 { #expect(try room.run(all: words + ["link"]).status == 0) }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: room.path("link")) == target)
            #expect(try !Data(contentsOf: URL(filePath: room.path("link"))).isEmpty)
            try FileManager.default.removeItem(atPath: room.path("link"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: room.path("there")).sorted() == ["other", "out"])
    }

    @Test(arguments: commands) func `a link to a device stays a link, and the device a device`(words: [String]) throws {
        try FileManager.default.createSymbolicLink(atPath: room.path("null"), withDestinationPath: "/dev/null")
        #expect(try room.run(all: words + ["null"]).status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: room.path("null")) == "/dev/null")
        #expect(FileStatus(path: "/dev/null")?.isRegular == false)
    }
}
