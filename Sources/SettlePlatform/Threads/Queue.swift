/// A FIFO queue whose elements can be put back at the front.
///
/// Public, so that other modules specialize it: the compiler does not do that for what is `package`.
public struct Queue<Element> {
    @usableFromInline
    var elements: [Element?] = []
    @usableFromInline
    var head = 0

    /// Makes an empty one.
    @inlinable
    public init() {}

    /// The number of elements.
    @inlinable
    public var count: Int { elements.count - head }

    /// Whether the queue is empty.
    @inlinable
    public var isEmpty: Bool { head == elements.count }

    /// The one that leaves next.
    @inlinable
    public var first: Element? { isEmpty ? nil : elements[head] }

    /// Puts one at the end.
    @inlinable
    public mutating func append(_ element: Element) { elements.append(element) }

    /// Puts one in front.
    @inlinable
    public mutating func putBack(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Takes the next one.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            elements[head] = nil
            head += 1
            if head > 1024, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}

extension Queue: Sendable where Element: Sendable {}
