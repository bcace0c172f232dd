import Settle
import SettleDatabase
import SettleTesting

let failures = StorageEngineSuite.run(readsWait: true) { try SQLiteStorage.inMemory() }
print(failures.isEmpty ? "passed" : failures.joined(separator: "\n"))

let temporary = try TemporaryDatabase(.file)
try temporary.database.save(Document(id: "a"), onConflict: .fail)
try temporary.reopen()
