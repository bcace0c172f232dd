/// What the command line says.
struct DeviceOptions: Sendable {
    /// An argument that can't be understood.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    var url = "http://127.0.0.1:5984"
    var user = "admin"
    var password = "admin"
    var process: Int32?
    var devices = 10_000
    var databases = 0
    var documents = 20
    var size = 300
    var active = 100
    var together = 5
    var think = 0.5
    var seconds = 60.0
    var quiet = 120.0
    var cutRate = 0.01
    var heartbeat = 30.0
    var calibration = 60.0
    var seed = 1
    var writesJSON = false
    var keeps = false
    var wantsHelp = false

    /// - Throws: ``Mistake``.
    init(_ arguments: some Sequence<String>) throws {
        var rest = arguments.makeIterator()
        while let name = rest.next() {
            switch name {
            case "--help", "-h": wantsHelp = true
            case "--json": writesJSON = true
            case "--keep": keeps = true
            default:
                guard let value = rest.next() else { throw Mistake(description: "\(name) needs a value; see --help") }
                try set(name, value)
            }
        }
        if databases == 0 { databases = (devices + 99) / 100 }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "--url": url = value
        case "--user": user = value
        case "--password": password = value
        case "--pid": process = Int32(try Self.number(name, value, from: 1))
        case "--devices": devices = try Self.number(name, value, from: 1)
        case "--databases": databases = try Self.number(name, value, from: 1)
        case "--documents": documents = try Self.number(name, value, from: 1)
        case "--size": size = try Self.number(name, value, from: 0)
        case "--active": active = try Self.number(name, value, from: 1)
        case "--together": together = try Self.number(name, value, from: 1)
        case "--think": think = try Self.seconds(name, value)
        case "--seconds": seconds = try Self.seconds(name, value)
        case "--quiet": quiet = try Self.seconds(name, value)
        case "--cut-rate": cutRate = try Self.seconds(name, value)
        case "--heartbeat": heartbeat = try Self.seconds(name, value)
        case "--calibration": calibration = try Self.seconds(name, value)
        case "--seed": seed = try Self.number(name, value, from: 0)
        default: throw Mistake(description: "there is no option \(name); see --help")
        }
    }

    private static func number(_ name: String, _ value: String, from least: Int) throws -> Int {
        guard let number = Int(value), number >= least else {
            throw Mistake(description: "\(name) needs a number from \(least) on, not \(value)")
        }
        return number
    }

    private static func seconds(_ name: String, _ value: String) throws -> Double {
        guard let number = Double(value), number >= 0, number.isFinite else {
            throw Mistake(description: "\(name) needs a number, not \(value)")
        }
        return number
    }
}
