import Foundation
import SettleTesting
import Testing

@testable import SettlePostgres

/// The folders of nodes for long bodies of requests, of which a killed node leaves its own.
@Suite struct UploadFolderTests {
    private let base = FileManager.default.temporaryDirectory.appending(path: "bases-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true) }

    private var names: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: base.path)) }
    }

    /// Makes a folder as a node does, with half of an import in it.
    private func makeFolder(_ name: String) throws -> URL {
        let folder = base.appending(path: name)
        let upload = folder.appending(path: "import.abcdef")
        try FileManager.default.createDirectory(at: upload, withIntermediateDirectories: true)
        try Data("half".utf8).write(to: upload.appending(path: "dump.json"))
        return folder
    }

    @Test func `what a killed node has left is removed by the next, and what a running one has stays`() throws {
        defer { try? FileManager.default.removeItem(at: base) }
        let left = try makeFolder("settle-uploads-1-aaaaaaaa")
        let lock = left.appending(path: "lock").path
        let node = Process()
        node.executableURL = URL(filePath: "/usr/bin/env")
        node.arguments = [
            "python3", "-c", "import fcntl; f = open('\(lock)', 'w'); fcntl.flock(f, 2); print(flush=True); input()",
        ]
        let (input, output) = (Pipe(), Pipe())
        (node.standardInput, node.standardOutput) = (input, output)
        try node.run()
        _ = try output.fileHandleForReading.read(upToCount: 1)

        let first = UploadFolder(in: base.path)
        let path = URL(filePath: try first.path())
        #expect(try names == [left.lastPathComponent, path.lastPathComponent])
        #expect(try first.path() == path.path)

        kill(node.processIdentifier, SIGKILL)
        node.waitForEnd()
        let second = UploadFolder(in: base.path)
        let other = URL(filePath: try second.path())
        #expect(try names == [path.lastPathComponent, other.lastPathComponent])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a node that ends removes its folder, and nothing that is called otherwise`() throws {
        defer { try? FileManager.default.removeItem(at: base) }
        _ = try makeFolder("uploads-of-another-program")
        let elsewhere = try makeFolder("elsewhere")
        try FileManager.default.createSymbolicLink(
            at: base.appending(path: "settle-uploads-link"), withDestinationURL: elsewhere)
        do {
            let folder = UploadFolder(in: base.path)
            #expect(try names.count == 3)
            _ = try folder.path()
            #expect(try names.count == 4)
        }
        #expect(try names == ["uploads-of-another-program", "elsewhere", "settle-uploads-link"])
        #expect(FileManager.default.fileExists(atPath: elsewhere.path + "/import.abcdef/dump.json"))
    }

    @Test func `a folder that can't be made is an error that names it`() {
        let folder = UploadFolder(in: base.path + "/missing")
        #expect { _ = try folder.path() } throws: { "\($0)".contains("bases-") }
        try? FileManager.default.removeItem(at: base)
    }
}
