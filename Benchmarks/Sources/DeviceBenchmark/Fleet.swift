/// All devices, and how many of them sync.
@Loop
final class Fleet {
    let options: DeviceOptions
    let server: Server
    private(set) var groups: [Group] = []
    private(set) var devices: [Device] = []
    /// What is counted now; replaced when another part of the measurement begins.
    private(set) var statistics = Statistics()
    /// Whether devices work now: they take their time, and lose connections.
    var isWorking = false
    /// Whether devices come back when they have lost a connection.
    private(set) var isConnected = true
    private var syncing = 0
    /// Devices that sync, times seconds, since counting began.
    private var syncSeconds = 0.0
    private var changedAt = Moment.now

    init(_ options: DeviceOptions, _ server: Server) {
        (self.options, self.server) = (options, server)
        groups = (0..<options.databases).map {
            Group(path: "/device-benchmark-\($0)", documents: options.documents)
        }
        for number in 0..<options.devices {
            let device = Device(number, in: groups[number % groups.count], of: self)
            devices.append(device)
            device.group.add(device)
        }
    }

    /// Runs a part of a device's life in which it syncs.
    func whileSyncing<Failure>(_ body: @Loop () async throws(Failure) -> Void) async throws(Failure) {
        change(by: 1)
        defer { change(by: -1) }
        try await body()
    }

    private func change(by count: Int) {
        let now = Moment.now
        syncSeconds += Double(syncing) * (now - changedAt)
        (changedAt, syncing) = (now, syncing + count)
    }

    /// How many devices were syncing at a time since counting began, on average.
    var average: Double {
        change(by: 0)
        return syncSeconds / max(1e-9, changedAt - statistics.began)
    }

    /// Whether all devices wait for changes, and nobody has anything to push.
    var isQuiet: Bool { devices.allSatisfy { $0.isWaiting && !$0.isEditing } }

    /// Forgets what was counted, and has connections fail from now on.
    func beginCounting() {
        change(by: 0)
        (syncSeconds, statistics, isWorking) = (0, Statistics(), true)
    }

    /// Connects all devices, as many at a time as may sync, and ends when all of them wait for changes.
    func connect() async {
        for device in devices {
            while syncing >= options.active { await Poller.shared.sleep(0.001) }
            Loop.begin { await device.follow() }
        }
        while !isQuiet { await Poller.shared.sleep(0.1) }
    }

    /// Ends what devices wait for.
    func disconnect() {
        isConnected = false
        for device in devices { device.connection.cancel() }
    }

    /// Has devices edit and push for a while: some of a database one after the other, as those who work together do.
    ///
    /// The rate of edits follows from how many devices are wanted to sync, and how long each edit has made devices sync
    /// until now. So a slow server gets fewer edits.
    func work(seconds: Double) async {
        var random = RandomSource(seed: UInt64(options.seed))
        let end = Moment.now + seconds
        var group = groups[0]
        var begun = 10.0
        // The first guess: an edit makes all devices of its database sync for two pauses.
        let guess = begun * 2 * (options.think + 0.02) * Double(options.devices) / Double(groups.count)
        while Moment.now < end {
            change(by: 0)
            let caused = (syncSeconds + guess) / begun
            await Poller.shared.sleep(
                min(random.duration(mean: caused / Double(options.active)), end - Moment.now))
            if random.fraction() < 1 / Double(options.together) {
                group = groups[Int.random(in: 0..<groups.count, using: &random)]
            }
            let device = group.devices[Int.random(in: 0..<group.devices.count, using: &random)]
            guard !device.isEditing, !device.replica.isEmpty else { continue }
            begun += 1
            device.isEditing = true
            Loop.begin {
                await self.whileSyncing { await device.editAndPush() }
                device.isEditing = false
            }
        }
    }
}
