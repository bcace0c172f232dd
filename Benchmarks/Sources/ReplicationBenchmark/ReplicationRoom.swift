import Foundation
import Measuring
import Settle
import SettleHTTP
import SettleReplication

/// A server, and databases here that are replicated with it.
struct ReplicationRoom {
    let server: String
    let folder: String
    let runs: Int

    /// A newly created database of the server, to be removed with ``remove(_:)``.
    func peer(_ name: String) throws -> CouchDBPeer {
        try CouchDBPeer(HTTPURL("\(server)/bench-\(getpid())-\(name)"))
    }

    func remove(_ name: String) async throws {
        let url = try HTTPURL("\(server)/bench-\(getpid())-\(name)")
        var request = HTTPRequest("DELETE", url)
        let login = Data("\(url.user ?? ""):\(url.password ?? "")".utf8).base64EncodedString()
        request.headers["Authorization"] = "Basic \(login)"
        _ = try await DefaultTransport().send(request)
    }

    func database(_ name: String) throws -> Database { try Database.create("\(folder)/\(name).settle") }

    func discard(_ database: Database, _ name: String) {
        database.close()
        try? FileManager.default.removeItem(atPath: "\(folder)/\(name).settle")
    }

    /// Runs a replication, and measures its duration and the processor time of this process.
    func time(
        _ configuration: ReplicationConfiguration
    ) async throws -> (
        result: ReplicationResult, seconds: Double, processor: Double
    ) {
        let start = ContinuousClock.now
        let before = Self.processorSeconds()
        let result = try await OneWayReplicator(configuration).run()
        let duration = ContinuousClock.now - start
        return (result, Self.seconds(duration), Self.processorSeconds() - before)
    }

    static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    static func processorSeconds() -> Double {
        let usage = usage
        let parts = [usage.ru_utime, usage.ru_stime]
        return parts.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6 }
    }

    /// The peak memory of this process, in MiB.
    static func peakMemory() -> Int {
        #if canImport(Darwin)
        usage.ru_maxrss >> 20
        #else
        usage.ru_maxrss >> 10
        #endif
    }

    private static var usage: rusage {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #endif
        return usage
    }

    /// Prints a median rate, and the share of processor time.
    func report(_ name: String, count: Int, _ times: [(seconds: Double, processor: Double)], unit: String = "documents")
    {
        let seconds = Measuring.median(times.map(\.seconds))
        let share = Measuring.median(times.map { $0.processor / $0.seconds })
        let rates = times.map { Double(count) / $0.seconds }
        print(
            Measuring.pad(name, 44), Measuring.pad(Measuring.short(Double(count) / seconds), 8), unit + "/s",
            "(\(Measuring.short(rates.min() ?? 0)) to \(Measuring.short(rates.max() ?? 0)))",
            "this process computed \(Measuring.fixed(share * 100, 0)) % of the time")
    }
}
