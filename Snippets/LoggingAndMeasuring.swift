import Settle
import Synchronization

let entries = Mutex<[String]>([])
let times = Mutex<[String: [Duration]]>([:])

// snippet.closure
var options = DatabaseOptions()
options.log = SettleLog(from: .info) { entry in
    entries.withLock { $0.append("\(entry.level) \(entry.subsystem.rawValue): \(entry.message)") }
}
// snippet.end

// snippet.measuring
let measuring = SettleLog(
    measuring: { interval in
        let start = ContinuousClock.now
        return { _ in
            let time = ContinuousClock.now - start
            times.withLock { $0[interval.rawValue, default: []].append(time) }
        }
    },
    { _ in })
options.log = options.log.and(measuring)
// snippet.end

#if canImport(os)
// snippet.system
options.log = .system("com.example.groceries")
// snippet.end
#endif

let database = try Database.inMemory(options: options)
try database.saveAll((1...100).map { Document(body: ["number": .number(JSONNumber($0))]) })
let found = try database.find(DocumentQuery<JSONValue>(MangoSelector(["number": ["$gt": 90]])))
#if !canImport(os)
guard found.rows.count == 10, entries.withLock({ $0 }) == ["info database: the database is open"],
    times.withLock({ $0["query"]?.count == 1 && $0["write"]?.isEmpty == false })
else { throw DatabaseError(.storage, "the log or the times are not as they should be") }
#endif
print("the query took", times.withLock { $0["query"]?.first ?? .zero })
