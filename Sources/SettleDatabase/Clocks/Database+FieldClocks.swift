#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Database {
    /// Whether each save stamps the members that it changes with a clock; off by default.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `closed`.
    public func fieldClocks() throws -> Bool { try engine.read { try clocks.isOn($0) } }

    /// Sets whether each save stamps the members that it changes with a clock, by which
    /// ``ConflictPolicy/latestFieldWins`` decides; the setting is stored in the database.
    ///
    /// The clocks are in the document, in the member `$clocks`, and replicate through any CouchDB. The same edit made on two
    /// devices is then two revisions, because their clocks differ. Switching it on affects later saves; after it is switched off,
    /// documents keep their clocks.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`, `diskFull` or `closed`.
    public func setFieldClocks(_ areOn: Bool) throws { try engine.hold { try clocks.set(areOn, $0) } }

    /// Informs the clock of a server's time: a wall clock that differs from it by more than a
    /// minute is ignored from then on, until the database is closed.
    ///
    /// Replication over HTTP does this automatically; this is for apps that talk to their server in other ways.
    package func noteServerTime(_ time: Date) { clocks.hear(server: time.milliseconds) }

    /// Gives the clock a device's name of one's own, for simulations that are to be the same again.
    package func nameClock(_ device: String) throws { try engine.hold { try clocks.name(device, $0) } }

    /// The time by which changes are stamped, in milliseconds since 1970.
    package var clockTime: Int64 { clocks.time }
}
