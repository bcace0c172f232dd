// The code of the article "Background sync".
import Foundation
import Settle

/// Replicates once, for a task that the system grants for some seconds. When the system cancels the task, the replicator stops: what
/// was fetched is stored, and the next run goes on from there.
func refresh(_ database: Database, with peer: any Peer) async -> Bool {
    let replicator = Replicator(database, with: peer) { configuration in
        configuration.conflictPolicy = .threeWayMerge()
        configuration.retry.attempts = 1
    }
    do {
        try await replicator.run()
        return true
    } catch {
        return false
    }
}

let phone = try Database.inMemory()
let hub = try Database.inMemory()
try phone.save(Document(id: "note", body: ["text": "written offline"]))
print(await refresh(phone, with: LocalPeer(hub)), try hub.info().documents.live)

/// Replications that were made persistent start again with the app. Passwords are asked for, not stored.
func launch(_ database: Database, password: @escaping @Sendable (String) -> String) async throws {
    try await database.replications.resume { url in
        .basic(user: url.user ?? "", password: password(url.host))
    } configure: { configuration in
        configuration.conflictPolicy = .threeWayMerge()
    }
}

try await launch(phone) { _ in "" }
