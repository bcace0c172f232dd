internal import SettleCore

/// Evaluates a normalized selector on one value.
///
///   - A missing member matches only `$exists: false`; a path through a value that is not an object or array does not
///     match even that.
///   - Values are compared by ``Collation``, those of `_id` by ``ErlangOrder``.
///   - If CouchDB would fail (`$mod` by zero, `$nor` inside of elements), the enclosing `$elemMatch` or similar does
///     not match; without one, the whole selector does not.
struct SelectorMatch {
    /// CouchDB's response would be an internal error.
    struct Failure: Error {}

    /// Whether values are compared like ids.
    private var comparesIDs = false

    /// Whether a value matches.
    ///
    /// - Throws: ``Failure`` if CouchDB would fail.
    func matches(_ node: SelectorNode, _ value: JSON) throws(Failure) -> Bool {
        switch node {
        case .all(let nodes):
            for node in nodes where try !matches(node, value) { return false }
            return true
        case .any(let nodes):
            for node in nodes where try matches(node, value) { return true }
            return nodes.isEmpty
        case .not(let node): return try !matches(node, value)
        case .at(let path, let node): return try matches(node, at: path, in: value)
        case .each(let quantifier, let node): return matches(node, quantifier, in: value)
        case .test(let test): return try passes(test, value)
        // Only a search index can evaluate it.
        case .none, .member, .text, .misplaced: throw Failure()
        }
    }

    /// Compares two values.
    func order(_ left: JSON, _ right: JSON) -> Collation.Order {
        comparesIDs ? ErlangOrder.compare(left, right) : Collation.compare(left, right)
    }

    private func matches(_ node: SelectorNode, at path: SelectorPath, in value: JSON) throws(Failure) -> Bool {
        guard path.names != nil else { throw Failure() }
        switch path.destination(in: value) {
        case .missing:
            if case .test(.exists(false)) = node { return true }
            return false
        case .astray: return false
        case .value(let member):
            var inner = self
            if path.isID { inner.comparesIDs = true }
            return try inner.matches(node, member)
        }
    }

    private func matches(_ node: SelectorNode, _ quantifier: SelectorNode.Quantifier, in value: JSON) -> Bool {
        do throws(Failure) {
            switch (quantifier, value) {
            case (.element, .array(let elements)):
                for element in elements where try matches(node, element) { return true }
                return false
            case (.elements, .array(let elements)):
                for element in elements where try !matches(node, element) { return false }
                return !elements.isEmpty
            case (.name, .object(let members)):
                for member in members where try matches(node, .string(member.name)) { return true }
                return false
            default: return false
            }
        } catch { return false }
    }
}
