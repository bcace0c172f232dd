public import SettleCore
internal import SettleDatabase

extension OfflineConflict {
    /// A member that differs between the three sides.
    public struct Difference: Sendable, Hashable {
        /// The member's name.
        public let name: String
        /// Its value before the operation; `nil` if it was absent.
        public let old: JSON?
        /// Its value after the operation; `nil` if the operation removes it.
        public let new: JSON?
        /// The server's value; `nil` if it is absent.
        public let server: JSON?

        /// Whether both sides changed it differently, so that a person has to decide.
        public var isClash: Bool { new != old && server != old && new != server }
    }

    /// The members that differ between the document before the operation, after it, and at the server
    /// (SEMANTICS 177, 180).
    ///
    /// They are in the order of the operation's result; members that it lacks follow. Attachments are not compared.
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
