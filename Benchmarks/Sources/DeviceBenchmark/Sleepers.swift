/// Who sleeps, and until when: a binary heap whose first moment comes first.
struct Sleepers {
    typealias Waiter = UnsafeContinuation<Void, Never>
    private var heap: [(moment: Double, waiter: Waiter)] = []

    /// When the first one is to be woken.
    var next: Double? { heap.first?.moment }

    mutating func add(_ moment: Double, _ waiter: Waiter) {
        heap.append((moment, waiter))
        var child = heap.count - 1
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Wakes all whose moment has come.
    mutating func wake(until now: Double) {
        while let first = heap.first, first.moment <= now {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
            sink()
            first.waiter.resume()
        }
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].moment < heap[smallest].moment { smallest = child }
            }
            guard smallest != parent else { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
