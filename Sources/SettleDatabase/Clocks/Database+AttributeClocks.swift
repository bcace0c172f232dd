extension Database {
    /// Whether each save stamps the members it changes with the moment; off unless set.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `closed`.
    public func attributeClocks() throws -> Bool { try engine.read { try clocks.isOn($0) } }

    /// Sets whether each save stamps the members it changes with the moment, which ``ConflictPolicy/latestAttributeWins``
    /// goes by; the database remembers it.
    ///
    /// The moments stand in the document, in the member `$clocks`, and travel with it through any CouchDB. An edit made
    /// alike on two devices is two revisions then, for their moments differ. Switched on, it takes effect for what is saved
    /// from then on; switched off, documents keep the moments they have.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`, `diskFull` or `closed`.
    public func setAttributeClocks(_ areOn: Bool) throws { try engine.write { try clocks.set(areOn, $0) } }

    /// Tells the clock what time a server has, in milliseconds since 1970: a wall clock that is more than a minute from it
    /// is not believed from then on, until the database is closed.
    ///
    /// A replication over HTTP does so by itself; this is for apps that talk to their server in other ways.
    public func noteServerTime(_ milliseconds: Int64) { clocks.hear(server: milliseconds) }

    /// Gives the clock a device's name of one's own, for simulations that are to be the same again.
    package func nameClock(_ device: String) throws { try engine.write { try clocks.name(device, $0) } }

    /// The time by which changes are stamped, in milliseconds since 1970.
    package var clockTime: Int64 { clocks.time }
}
