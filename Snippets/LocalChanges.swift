import Settle

var options = DatabaseOptions()
options.journal = true
let database = try Database.inMemory(options: options)
let journal = database.journal

try database.save(Document(id: "note", body: ["text": "Hello"]), onConflict: .fail)
print(try journal?.pending.count ?? 0)  // 1
try journal?.undo()
print(try database.document("note") == nil)  // true: there is no note

/// Shows how much is to be sent, each time that changes.
func watch(_ journal: Journal, show: (Int) -> Void) async throws {
    for try await changes in journal.observePending() {
        show(changes.count)
    }
}
