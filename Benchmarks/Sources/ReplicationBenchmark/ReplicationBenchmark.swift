import Foundation
import Measuring
import Settle

/// Replication with a server: `ReplicationBenchmark URL [documents] [runs] [part ...]`, with the URL of a server, including
/// user and password; the parts are `documents`, `conflicts`, `attachments` and `latency`, by default all.
@main
struct ReplicationBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let server = arguments.first else {
            print("usage: ReplicationBenchmark URL [documents] [runs] [documents|conflicts|attachments|latency ...]")
            exit(2)
        }
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        let parts = arguments.dropFirst().filter { Int($0) == nil }
        let wants = { (part: String) in parts.isEmpty || parts.contains(part) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("settle-bench-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let room = ReplicationRoom(server: server, folder: folder, runs: numbers.dropFirst().first ?? 5)
        if wants("documents") { try await room.documents(numbers.first ?? 50_000) }
        if wants("conflicts") { try await room.conflicts(18_000) }
        if wants("attachments") { try await room.attachments(1000, of: 100 * 1024) }
        if wants("latency") { try await room.latency(of: 300) }
        print("peak memory of this process: \(ReplicationRoom.peakMemory()) MiB")
    }
}
