/// Elements that leave in the order they came, or are put back in front.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    /// How many there are.
    var count: Int { elements.count - head }

    /// Whether there are none.
    var isEmpty: Bool { head == elements.count }

    /// The one that leaves next.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// Puts one at the end.
    mutating func append(_ element: Element) { elements.append(element) }

    /// Puts one in front.
    mutating func putBack(_ element: Element) {
        if head > 0 {
            head -= 1
            elements[head] = element
        } else {
            elements.insert(element, at: 0)
        }
    }

    /// Takes the next one.
    mutating func popFirst() -> Element? {
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
