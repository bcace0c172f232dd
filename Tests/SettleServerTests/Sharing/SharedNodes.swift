import Settle

@testable import SettleServer

/// Two servers that listen, over one shared memory.
final class SharedNodes: Sendable {
    let memory = SharedMemory()
    let one: RouterClient
    let two: RouterClient

    init(_ change: (inout ServerOptions) -> Void = { _ in }) throws {
        one = try RouterClient(sharing: memory, change)
        two = try RouterClient(sharing: memory, change)
        for node in [one, two] { try node.server.start() }
    }

    deinit { for node in [one, two] { node.server.stop() } }
}

extension RouterClient {
    /// A client of a server that shares its databases with others.
    init(sharing memory: SharedMemory, _ change: (inout ServerOptions) -> Void = { _ in }) throws {
        let store = try SharedMemoryStore(memory)
        try self.init(
            store: { _ in store },
            { options in
                (options.port, options.stopTimeout) = (0, .seconds(2))
                change(&options)
            })
    }
}
