import Settle

/// A list of one's own: a line is a command, and the session works by itself meanwhile.
struct Prompt {
    let device: Device

    func run() async throws {
        device.session.start()
        print("ITEM COUNT wants something, -ITEM takes it off, offline, online, mine, theirs, undo, quit")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            do { if try await !take(words) { break } } catch { print("  \(error)") }
            try device.show()
            if let conflict = device.session.status.conflict {
                print("  \(conflict.documentID) was changed by others: \(conflict.server?.description ?? "deleted")")
            }
        }
        await device.session.stop()
    }

    /// Takes a command; returns whether to go on.
    private func take(_ words: [String]) async throws -> Bool {
        let session = device.session
        switch words.first {
        case nil: break
        case "quit": return false
        case "offline": await session.goOffline()
        case "online": try await session.goOnline()
        case "undo": try await session.revert()
        case "mine":
            try await session.replace(with: session.status.conflict?.new?.body)
            try await session.goOnline()
        case "theirs":
            try await session.discard()
            try await session.goOnline()
        case let item? where item.hasPrefix("-"): try device.remove(String(item.dropFirst()))
        case let item?: try device.want(item, words.dropFirst().first.flatMap { Int($0) } ?? 1)
        }
        return true
    }
}
