internal import RevisionTree

/// Asks a normalized selector about one value.
///
/// - A missing member matches nothing but `$exists: false`, and a way through something that is no object or array
///   not even that.
/// - Values are compared by ``Collation``, those of `_id` by ``ErlangOrder``.
/// - What CouchDB fails at (`$mod` by zero, `$nor` inside of elements) makes the enclosing `$elemMatch` and its like not
///   match, and without one the whole selector.
struct SelectorMatch {
    /// CouchDB's answer would be an internal error.
    struct Failure: Error {}

    /// Whether values are compared as ids are.
    private var comparesIDs = false

    /// Whether a value matches.
    ///
    /// - Throws: ``Failure`` where the question has no answer.
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
        // Only a search index knows what is found.
        case .none, .member, .text, .misplaced: throw Failure()
        }
    }

    /// Where a value stands to another.
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
