import Foundation
import Measuring
import Settle

extension ReplicationRoom {
    /// Documents of about 500 bytes: stored here, pushed, and pulled by another database.
    func documents(_ count: Int) async throws {
        print("\(count) documents of about 500 bytes, medians of \(runs) runs")
        var inserts: [(Double, Double)] = []
        var pushes: [(Double, Double)] = []
        var pulls: [(Double, Double)] = []
        for _ in 0..<runs {
            let source = try database("source")
            let before = Self.processorSeconds()
            let seconds = try Measuring(runs: 1).seconds { try Self.fill(source, 0..<count) }
            inserts.append((seconds, Self.processorSeconds() - before))
            let hub = try peer("documents")
            var push = ReplicationConfiguration.push(source, to: hub)
            push.createsTarget = true
            let pushed = try await time(push)
            precondition(pushed.result.counts.revisionsWritten == count)
            pushes.append((pushed.seconds, pushed.processor))
            let target = try database("target")
            let pulled = try await time(.pull(target, from: hub))
            precondition(pulled.result.counts.revisionsWritten == count)
            pulls.append((pulled.seconds, pulled.processor))
            discard(source, "source")
            discard(target, "target")
            try await remove("documents")
        }
        report("stored here, 1,000 at a time", count: count, inserts)
        report("push", count: count, pushes)
        report("pull", count: count, pulls)
        let insert = Measuring.median(inserts.map(\.0))
        let ratios = [pushes, pulls].map { Measuring.fixed(insert / Measuring.median($0.map(\.0)), 2) }
        print("push \(ratios[0]) and pull \(ratios[1]) of storing (goal 0.30, or 30,000/s)\n")
    }

    static func fill(_ database: Database, _ numbers: Range<Int>) throws {
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1000) {
            let batch = try (first..<min(first + 1000, numbers.upperBound)).map { number in
                try Document(id: ReplicationSample.documentID(number), body: ReplicationSample.body(number))
            }
            for outcome in try database.saveAll(batch, onConflict: .fail) { _ = try outcome.get() }
        }
    }

    /// Small documents of which one in twenty has two branches, pulled and settled by merging.
    func conflicts(_ count: Int) async throws {
        print("\(count) small documents, 5 % of them in conflict, medians of \(runs) runs")
        let hub = try peer("conflicts")
        _ = try? await hub.create()
        let source = try database("conflicts")
        try Self.fill(source, 0..<count)
        let other = try database("other")
        _ = try await OneWayReplicator(.push(source, to: hub)).run()
        _ = try await OneWayReplicator(.pull(other, from: hub)).run()
        for number in stride(from: 0, to: count, by: 20) {
            for (side, database) in [source, other].enumerated() {
                guard var document = try database.document(ReplicationSample.documentID(number)) else { continue }
                document["side\(side)"] = true
                try database.save(document, onConflict: .fail)
            }
        }
        _ = try await OneWayReplicator(.push(source, to: hub)).run()
        _ = try await OneWayReplicator(.push(other, to: hub)).run()
        var kept: [(Double, Double)] = []
        var settled: [(Double, Double)] = []
        for _ in 0..<runs {
            for policy in [ConflictPolicy.keepAll, .threeWayMerge()] {
                let target = try database("target")
                var pull = ReplicationConfiguration.pull(target, from: hub)
                pull.conflictPolicy = policy
                let pulled = try await time(pull)
                precondition(pulled.result.counts.revisionsWritten == count + count / 20)
                let settledCount = pulled.result.counts.conflictsSettled
                if settledCount == 0 {
                    kept.append((pulled.seconds, pulled.processor))
                } else {
                    precondition(settledCount == count / 20)
                    settled.append((pulled.seconds, pulled.processor))
                }
                discard(target, "target")
            }
        }
        report("pull, conflicts kept", count: count, kept)
        report("pull, conflicts merged on the way", count: count, settled)
        discard(source, "conflicts")
        discard(other, "other")
        try await remove("conflicts")
        print("")
    }

    /// Documents with an attachment each.
    func attachments(_ count: Int, of size: Int) async throws {
        print("\(count) attachments of \(size >> 10) KiB, medians of \(runs) runs")
        let source = try database("attached")
        for number in 0..<count {
            var generator = SystemRandomNumberGenerator()
            let bytes = (0..<size / 8).flatMap { _ in withUnsafeBytes(of: generator.next(), Array.init) }
            var document = Document(id: try ReplicationSample.documentID(number))
            document.attachments = [
                try source.makeAttachment("file", contentType: "application/octet-stream", content: bytes)
            ]
            try source.save(document, onConflict: .fail)
        }
        var pushes: [(Double, Double)] = []
        var pulls: [(Double, Double)] = []
        for _ in 0..<runs {
            let hub = try peer("attachments")
            var push = ReplicationConfiguration.push(source, to: hub)
            push.createsTarget = true
            push.usesCheckpoints = false
            let pushed = try await time(push)
            precondition(pushed.result.counts.revisionsWritten == count)
            pushes.append((pushed.seconds, pushed.processor))
            let target = try database("target")
            let pulled = try await time(.pull(target, from: hub))
            precondition(pulled.result.counts.revisionsWritten == count)
            pulls.append((pulled.seconds, pulled.processor))
            discard(target, "target")
            try await remove("attachments")
        }
        report("push", count: count, pushes, unit: "attachments")
        report("pull", count: count, pulls, unit: "attachments")
        discard(source, "attached")
        print("")
    }
}
