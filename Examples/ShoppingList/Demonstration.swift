import Foundation
import Settle
import SettleServer

/// Anna and Ben share a list, and edit it offline at the same time; each step checks what it shows.
struct Demonstration {
    struct Surprise: Error {
        let message: String
    }

    func run() async throws {
        let room = FileManager.default.temporaryDirectory.appending(path: "shopping-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: room, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: room) }
        var options = ServerOptions()
        options.port = 0
        options.security.admins = ["anna": "secret"]
        let server = Server(store: try DocumentStore(path: room + "/server"), options: options)
        try server.start()
        defer { server.stop() }
        let url = try HTTPURL("http://anna:secret@127.0.0.1:\(server.port)/groceries")
        let anna = try await Device(folder: room + "/anna.settle", server: url, name: "Anna")
        let ben = try await Device(folder: room + "/ben.settle", server: url, name: "Ben ")
        try await share(anna, ben)
        try await quarrel(anna, ben)
        try await undo(anna)
        print("\nThat was all, without a network for most of the time.")
    }

    private func share(_ anna: Device, _ ben: Device) async throws {
        print("Anna writes the list and sends it; Ben fetches it.")
        try anna.want("milk", 1)
        try anna.want("bread", 1)
        try await anna.session.goOnline()
        try await ben.session.goOnline()
        try show(anna, ben)
        try expect(try ben.list() == "bread 1, milk 1", "Ben has Anna's list")
    }

    private func quarrel(_ anna: Device, _ ben: Device) async throws {
        print("\nBoth are underground. Anna wants 2 milk and adds eggs; Ben wants 3 milk.")
        await anna.session.goOffline()
        await ben.session.goOffline()
        try anna.want("milk", 2)
        try anna.want("eggs", 6)
        try ben.want("milk", 3)
        try show(anna, ben)

        print("\nAnna is back first. Ben's change of the milk is refused then, and he decides: all of it, 5.")
        try await anna.session.goOnline()
        let status = try await ben.session.goOnline()
        guard let conflict = status.conflict else { throw Surprise(message: "there is no conflict") }
        print(
            "  \(conflict.operation.rawValue) \(conflict.documentID):",
            "was \(conflict.old?.body.description ?? "-"), mine \(conflict.new?.body.description ?? "-"),",
            "theirs \(conflict.server?.description ?? "-")")
        try await ben.session.replace(with: ["count": 5])
        try await ben.session.goOnline()
        try await anna.session.goOnline()
        try show(anna, ben)
        try expect(try anna.list() == "bread 1, eggs 6, milk 5", "Anna has what Ben decided")
        try expect(try ben.list() == anna.list(), "both have the same list")
    }

    private func undo(_ anna: Device) async throws {
        print("\nAnna deletes the bread by mistake, offline, and takes it back.")
        await anna.session.goOffline()
        try anna.remove("bread")
        try anna.show()
        try await anna.session.revert()
        try anna.show()
        try expect(anna.database.journal?.isEmpty == true, "nothing is to be sent")
        try expect(try anna.list() == "bread 1, eggs 6, milk 5", "the bread is back")
    }

    private func show(_ devices: Device...) throws {
        for device in devices { try device.show() }
    }

    private func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw Surprise(message: "not so: \(what)") }
    }
}
