internal import SettleCore

/// Logins that wait in turns for the derivation of their keys.
///
///     accounts that exist:        by address in turn, those of one address by name in turn ──┐
///     names without an account:   likewise, and only while no login of an account waits    ──┴─→ next
///
/// The number of seats is bounded. When all are taken, the address with the most logins gives one up to an address
/// with fewer, so a client with many logins can't keep other clients out.
struct LoginQueue<Job> {
    /// The place of a waiting login.
    struct Seat: Sendable {
        /// The client's address.
        let address: String
        let name: String
        /// Whether there is an account of this name.
        let isKnown: Bool
    }

    /// The outcome of adding a login.
    enum Admission {
        case seated
        /// It has got the seat of another login, which is refused.
        case replaced(Job)
        case refused
    }

    private struct Entry {
        let seat: Seat
        let job: Job
    }

    /// Addresses or names that take turns, each with the number of its last turn. A new entry gets the current
    /// number, so leaving and coming back brings no advantage.
    private struct Turns {
        private var last: [ExactText: (turn: UInt64, count: Int)] = [:]
        private var clock: UInt64 = 0

        subscript(name: String) -> UInt64 { last[ExactText(name)]?.turn ?? 0 }

        mutating func enter(_ name: String) { last[ExactText(name), default: (clock, 0)].count += 1 }

        mutating func leave(_ name: String, isServed: Bool) {
            let name = ExactText(name)
            guard var entry = last[name] else { return }
            if isServed {
                clock += 1
                entry.turn = clock
            }
            entry.count -= 1
            last[name] = entry.count > 0 ? entry : nil
        }

        /// The address or name with the most entries.
        var largest: (name: String, count: Int)? {
            last.max { $0.value.count < $1.value.count }.map { ($0.key.string, $0.value.count) }
        }

        func count(of name: String) -> Int { last[ExactText(name)]?.count ?? 0 }
    }

    /// The logins of one kind, in order of arrival.
    private struct Line {
        var entries: [Entry] = []
        var addresses = Turns()
        var names = Turns()

        mutating func add(_ entry: Entry) {
            entries.append(entry)
            addresses.enter(entry.seat.address)
            names.enter(Self.name(entry.seat))
        }

        mutating func remove(at index: Int, isServed: Bool) -> Job {
            let entry = entries.remove(at: index)
            addresses.leave(entry.seat.address, isServed: isServed)
            names.leave(Self.name(entry.seat), isServed: isServed)
            return entry.job
        }

        mutating func next() -> Job? {
            func turn(_ index: Int) -> (UInt64, UInt64, Int) {
                let seat = entries[index].seat
                return (addresses[seat.address], names[Self.name(seat)], index)
            }
            return entries.indices.min { turn($0) < turn($1) }.map { remove(at: $0, isServed: true) }
        }

        private static func name(_ seat: Seat) -> String { seat.address + "\0" + seat.name }
    }

    private var known = Line()
    private var unknown = Line()

    /// The number of waiting logins.
    var count: Int { known.entries.count + unknown.entries.count }

    /// The number of waiting logins with or without an account.
    func count(isKnown: Bool) -> Int { isKnown ? known.entries.count : unknown.entries.count }

    /// Adds a login.
    ///
    /// - Parameters:
    ///   - job: The login.
    ///   - seat: The address and name of the login.
    ///   - limit: The maximum number of waiting logins of its kind.
    /// - Returns: Whether it has got a seat.
    mutating func add(_ job: Job, _ seat: Seat, limit: Int) -> Admission {
        seat.isKnown ? Self.add(job, seat, limit, to: &known) : Self.add(job, seat, limit, to: &unknown)
    }

    private static func add(_ job: Job, _ seat: Seat, _ limit: Int, to line: inout Line) -> Admission {
        var replaced: Job?
        if line.entries.count >= limit {
            guard let largest = line.addresses.largest, largest.count > line.addresses.count(of: seat.address) + 1,
                let index = line.entries.lastIndex(where: { $0.seat.address == largest.name })
            else { return .refused }
            replaced = line.remove(at: index, isServed: false)
        }
        line.add(Entry(seat: seat, job: job))
        return replaced.map { .replaced($0) } ?? .seated
    }

    /// Removes and returns the next login.
    ///
    /// - Parameter takesUnknown: Whether the next login may have a name without an account.
    /// - Returns: The login; `nil` if no such login waits.
    mutating func next(takesUnknown: Bool) -> Job? { known.next() ?? (takesUnknown ? unknown.next() : nil) }
}
