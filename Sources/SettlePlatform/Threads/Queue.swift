/// A FIFO queue whose elements can be put back at the front.
///
/// Public, so that other modules can specialize it, which the compiler does not do for `package` types.
public struct Queue<Element> {
    @usableFromInline
    var elements: [Element?] = []
    @usableFromInline
    var head = 0

    /// Creates an empty queue.
    @inlinable
    public init() {}

    /// The number of elements.
    @inlinable
    public var count: Int { elements.count - head }

    /// Whether the queue is empty.
    @inlinable
    public var isEmpty: Bool { head == elements.count }

    /// The next element.
    @inlinable
    public var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds an element at the end.
    @inlinable
    public mutating func append(_ element: Element) { elements.append(element) }

    /// Adds an element at the front.
    @inlinable
    public mutating func putBack(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Removes and returns the next element.
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
