/// Waiting elements with owners that take turns. Each owner has at most a share of elements in progress at a time.
///
///     owner a   a1 a2 a3 ┐
///     owner b   b1       ├─→ a1  b1  c1  a2  c2 ····· a3        with a share of 2, a3 waits until a1 or a2 has finished
///     owner c   c1 c2    ┘
///
/// An owner can be put last for some time: its elements then leave only while no other element may, and it has a
/// smaller share. The empty owner's share is unlimited.
///
/// The queue is a value. Protect it with the lock of the threads that use it.
///
/// Public, so that other modules can specialize it, which the compiler does not do for `package` types.
public struct FairQueue<Element: Sendable>: Sendable {
    /// An element in progress, and the owner whose share it uses.
    public struct Entry: Sendable {
        /// The owner; empty for an element without one.
        public let owner: String
        /// The element.
        public let element: Element

        @inlinable
        init(owner: String, element: Element) { (self.owner, self.element) = (owner, element) }
    }

    @usableFromInline
    struct Owner: Sendable {
        @usableFromInline
        var waiting = Queue<Element>()
        /// The number of elements in progress, except for those of the empty owner.
        @usableFromInline
        var running = 0

        @inlinable
        init() {}

        @inlinable
        var isIdle: Bool { running == 0 && waiting.isEmpty }

        @inlinable
        func mayTake(_ share: Int) -> Bool { running < share }
    }

    @usableFromInline
    var owners: [String: Owner] = [:]
    /// The owners with elements that may leave, in the order of their turns, starting at `first`.
    @usableFromInline
    var turns: [String] = []
    @usableFromInline
    var first = 0
    /// The owners that were put last, and the end of that time.
    @usableFromInline
    var last: [String: Int64] = [:]
    @usableFromInline
    let share: Int
    @usableFromInline
    let lastShare: Int
    @usableFromInline
    var size = 0

    /// The number of waiting elements.
    @inlinable
    public var count: Int { size }

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - share: The maximum number of one owner's elements in progress.
    ///   - lastShare: The same for an owner that was put last; at most `share`.
    @inlinable
    public init(share: Int = .max, lastShare: Int = .max) {
        self.share = share
        self.lastShare = min(lastShare, share)
    }

    /// Adds an element after the other elements of its owner.
    @inlinable
    public mutating func add(_ element: Element, for name: String) {
        owners[name, default: Owner()].waiting.append(element)
        size += 1
        if let owner = owners[name], owner.waiting.count == 1, owner.mayTake(share) { turns.append(name) }
    }

    /// Removes the next element that may leave. It is in progress until ``finish(_:)`` is called for its owner.
    ///
    /// - Parameter now: The time, in the unit of ``putLast(_:until:now:)``.
    /// - Returns: The element and its owner; `nil` if none may leave.
    @inlinable
    public mutating func next(now: Int64 = 0) -> Entry? {
        guard let name = nextTurn(now), let place = owners.index(forKey: name),
            let element = owners.values[place].waiting.popFirst()
        else { return nil }
        if !name.isEmpty { owners.values[place].running += 1 }
        size -= 1
        if owners.values[place].isIdle {
            owners.remove(at: place)
        } else if !owners.values[place].waiting.isEmpty, owners.values[place].mayTake(share) {
            turns.append(name)
        }
        return Entry(owner: name, element: element)
    }

    /// Removes and returns the owner whose turn it is.
    @inlinable
    mutating func nextTurn(_ now: Int64) -> String? {
        guard first < turns.count else { return nil }
        var place = first
        if !last.isEmpty {
            let waiting = turns.indices[first...]
            guard
                let found = waiting.first(where: { !isLast(turns[$0], now) })
                    ?? waiting.first(where: { owners[turns[$0]]?.mayTake(lastShare) == true })
            else { return nil }
            place = found
        }
        let name = turns[place]
        guard place == first else {
            turns.remove(at: place)
            return name
        }
        first += 1
        if first == turns.count || first > 1000 {
            turns.removeFirst(first)
            first = 0
        }
        return name
    }

    /// Records that an owner's element is no longer in progress.
    @inlinable
    public mutating func finish(_ name: String) {
        guard let place = owners.index(forKey: name), owners.values[place].running > 0 else { return }
        let couldTake = owners.values[place].mayTake(share)
        owners.values[place].running -= 1
        if owners.values[place].isIdle {
            owners.remove(at: place)
        } else if !couldTake, !owners.values[place].waiting.isEmpty {
            turns.append(name)
        }
    }

    /// Puts an owner last until a time.
    @inlinable
    public mutating func putLast(_ owner: String, until end: Int64, now: Int64) {
        last = last.filter { $0.value > now }
        last[owner] = end
    }

    /// Removes and returns all waiting elements. Elements in progress stay so.
    @inlinable
    public mutating func removeAll() -> [Element] {
        var removed: [Element] = []
        for name in owners.keys {
            while let element = owners[name]?.waiting.popFirst() { removed.append(element) }
        }
        owners = owners.filter { $0.value.running > 0 }
        (turns, first, size) = ([], 0, 0)
        return removed
    }

    @inlinable
    func isLast(_ owner: String, _ now: Int64) -> Bool { (last[owner] ?? 0) > now }
}
