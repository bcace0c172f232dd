import Dispatch
import Foundation
import Settle

/// Runs a closure while other threads hold all read connections of a database.
func withAllReaders<Result>(of database: Database, _ body: () throws -> Result) rethrows -> Result {
    let count = DatabaseOptions().readers
    let taken = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    let ended = DispatchGroup()
    for _ in 0..<count {
        ended.enter()
        Thread.detachNewThread {
            try? database.snapshot {
                taken.signal()
                done.wait()
            }
            ended.leave()
        }
    }
    for _ in 0..<count { taken.wait() }
    defer {
        for _ in 0..<count { done.signal() }
        ended.wait()
    }
    return try body()
}
