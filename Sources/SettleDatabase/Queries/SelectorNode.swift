internal import SettleCore

/// A selector as a tree, between JSON and evaluation.
///
///     JSON ── SelectorParser ──→ operators, members, implicit ones made explicit
///          ── SelectorNormalizer ──→ paths at the leaves, negations pushed down to them
///          ── SelectorMatch ──→ true or false for one document
indirect enum SelectorNode: Sendable {
    /// `$and`: all of them match.
    case all([SelectorNode])
    /// `$or`: one of them matches.
    case any([SelectorNode])
    /// `$nor`: none of them matches.
    case none([SelectorNode])
    /// `$not`: it does not match.
    case not(SelectorNode)
    /// A member of the value has to match; only before paths are pushed down.
    case member(String, SelectorNode)
    /// The value at a path has to match; only after paths are pushed down.
    case at(SelectorPath, SelectorNode)
    /// Elements or names of the value have to match.
    case each(Quantifier, SelectorNode)
    /// A test of the value itself.
    case test(SelectorTest)
    /// `$text`: what a search index has to find in the document's texts.
    case text(JSON)
    /// `$default` of something other than `$text`, which is allowed nowhere.
    case misplaced(JSON)

    /// Which of the elements have to match.
    enum Quantifier: String {
        /// One element of an array.
        case element = "$elemMatch"
        /// All elements of a nonempty array.
        case elements = "$allMatch"
        /// One name of an object's members.
        case name = "$keyMapMatch"
    }
}
