import Foundation
import SettleCore

/// The parts of the measurement, in order.
@Loop
final class Course {
    private let options: DeviceOptions
    private let server: Server
    private let fleet: Fleet
    private let usage: ProcessUsage?
    private let connection: Connection
    private var report: Report

    init(_ options: DeviceOptions, _ server: Server) {
        (self.options, self.server) = (options, server)
        fleet = Fleet(options, server)
        usage = options.process.map(ProcessUsage.init)
        connection = Connection(server)
        report = Report(options: options)
    }

    /// - Throws: when the server can't be used at all.
    func run() async throws -> Report {
        let welcome = try JSONValue(utf8: try await connection.exchange(server.request("GET", "/")).body)
        let vendor = welcome["vendor"]?["name"]?.string
        report.product = vendor == "Settle" ? "Settle" : "CouchDB \(welcome["version"]?.string ?? "")"
        for (number, group) in fleet.groups.enumerated() {
            try await group.prepare(connection, server, options, number)
        }
        await connect()
        await work()
        try await verify()
        if let usage, options.calibration > 0 {
            tell("measuring each kind of request alone")
            (report.costs, report.idle) = try await Calibration(fleet, usage).run()
        }
        fleet.disconnect()
        if !options.keeps { for group in fleet.groups { try await group.remove(connection, server) } }
        return report
    }

    private func connect() async {
        report.memoryBefore = usage?.memory ?? 0
        tell("connecting \(options.devices) devices")
        let began = Moment.now
        await fleet.connect()
        report.connectSeconds = Moment.now - began
        report.connectTimes = Report.rows(fleet.statistics)
        report.wrongContents = fleet.statistics.wrongContents
        await Poller.shared.sleep(2)
        report.memoryConnected = usage?.memory ?? 0
    }

    private func work() async {
        tell("working")
        fleet.beginCounting()
        let (before, ownBefore, began) = (usage?.processor ?? 0, ProcessUsage(of: getpid()).processor, Moment.now)
        await fleet.work(seconds: options.seconds)
        report.workSeconds = Moment.now - began
        report.processor = (usage?.processor ?? 0) - before
        report.ownProcessor = ProcessUsage(of: getpid()).processor - ownBefore
        report.syncing = fleet.average
        report.take(fleet.statistics)
    }

    /// Waits until all is quiet, and compares.
    private func verify() async throws {
        tell("going quiet")
        fleet.isWorking = false
        let began = Moment.now
        repeat {
            await Poller.shared.sleep(0.5)
            report.verdict = Verdict()
            if fleet.isQuiet || Moment.now - began > options.quiet {
                for group in fleet.groups { report.verdict += try await group.verify(connection, server) }
            }
        } while !(report.verdict.devices > 0 && report.verdict.isGood) && Moment.now - began <= options.quiet
        report.quietSeconds = Moment.now - began
        report.wrongContents += fleet.statistics.wrongContents
        report.memoryPeak = usage?.peakMemory ?? 0
    }

    private func tell(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
