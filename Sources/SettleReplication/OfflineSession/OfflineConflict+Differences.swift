public import RevisionTree
internal import SettleDatabase

extension OfflineConflict {
    /// A member that is not the same on the three sides.
    public struct Difference: Sendable, Hashable {
        /// The member's name.
        public let name: String
        /// Its value before the operation; `nil` where there was none.
        public let old: JSON?
        /// The value it was to have; `nil` where it was to go.
        public let new: JSON?
        /// The server's value; `nil` where it has none.
        public let server: JSON?

        /// Whether both changed it, and not alike: what somebody has to decide.
        public var isClash: Bool { new != old && server != old && new != server }
    }

    /// The members that are not the same before the operation, after it and at the server, one by one (SEMANTICS 177, 180).
    ///
    /// They stand in the order of the operation's result; those that it lacks follow. Attachments are not compared.
    ///
    /// - Complexity: O(*n* *m*) in members.
    public var differences: [Difference] {
        let sides = [new?.body, old?.body, server].map { $0?.json.object ?? JSONObject() }
        var names: [String] = []
        for name in sides.flatMap(\.names) where !names.contains(name) { names.append(name) }
        return names.compactMap { name in
            let (new, old, server) = (sides[0][name], sides[1][name], sides[2][name])
            return new == old && old == server ? nil : Difference(name: name, old: old, new: new, server: server)
        }
    }
}
