internal import SettleCore

/// Orders objects so that each is written after the objects it refers to.
///
///     given    transfer → envelope    envelope    account
///     order    envelope               transfer    account
///
/// In a cycle of references, the object that was given first is written first.
struct ReferenceOrder {
    private let objects: [ObjectChanges]
    private let ids: Set<DocumentID>
    private let positions: [DocumentID: [Int]]

    init(_ objects: [ObjectChanges], and others: [DocumentID]) {
        self.objects = objects
        ids = Set(objects.map(\.id) + others)
        positions = Dictionary(grouping: objects.indices) { objects[$0].id }
    }

    /// The objects of the call that an object refers to.
    func references(of index: Int) -> [DocumentID] { objects[index].references(among: ids) }

    /// The positions of all objects, referenced ones before those that refer to them.
    ///
    /// - Complexity: O(*n*) in bytes of changes.
    var order: [Int] {
        var order: [Int] = []
        var isTaken = [Bool](repeating: false, count: objects.count)
        for first in objects.indices where !isTaken[first] {
            isTaken[first] = true
            // Each object with its unvisited references; an explicit stack, because a chain may be long.
            var path = [(index: first, rest: next(of: first))]
            while let (index, rest) = path.last {
                guard let following = rest.last else {
                    order.append(index)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].rest.removeLast()
                guard !isTaken[following] else { continue }
                isTaken[following] = true
                path.append((following, next(of: following)))
            }
        }
        return order
    }

    private func next(of index: Int) -> [Int] { references(of: index).flatMap { positions[$0] ?? [] }.reversed() }
}
