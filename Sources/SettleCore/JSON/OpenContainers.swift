/// The arrays and objects that are open during a scan: one bit each.
struct OpenContainers {
    private(set) var depth = 0
    /// The innermost 64 levels, newest in the lowest bit.
    private var near: UInt64 = 0
    /// Full words shifted out of `near`, for texts nested deeper than 64.
    private var far: [UInt64] = []

    /// Whether the innermost container is an object, or `nil` outside of all.
    @inline(__always)
    var innermostIsObject: Bool? { depth == 0 ? nil : near & 1 == 1 }

    /// Enters a container; false if the limit is reached.
    @inline(__always)
    mutating func push(isObject: Bool, limit: Int) -> Bool {
        guard depth < limit else { return false }
        if depth > 0, depth % 64 == 0 { far.append(near) }
        near = near << 1 | (isObject ? 1 : 0)
        depth &+= 1
        return true
    }

    /// Leaves the innermost container.
    @inline(__always)
    mutating func pop() {
        depth &-= 1
        near >>= 1
        if depth > 0, depth % 64 == 0, let word = far.popLast() { near = word }
    }
}
