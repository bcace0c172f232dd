/// How a clash over one member is decided: two versions or more changed it, and not to the same value.
///
/// A rule that does not fit the values, as ``sum`` does not fit strings, gives way to ``MergeRules/onClash``; the
/// decision says so.
public enum MergeRule: Sendable {
    /// The value of the first version that changed the member; the CouchDB winner comes first.
    case winner

    /// A number as a counter: the base, or 0, plus what each version added to it.
    ///
    ///     base 5, versions 6 and 8        5 + 1 + 3 = 9
    ///
    /// Integers are exact at any size. As soon as one number is a float, the sum is one: floats are taken as the
    /// shortest decimals that stand for them, added exactly, and rounded once at the end, so that 0.1 and 0.2 make 0.3
    /// and the order of versions makes no difference to any bit.
    ///
    /// A counter given by its path counts every change: from 5, two versions with 6 make 7, where any other member
    /// would be taken as changed to 6 by both. Only versions that are equal as a whole count once.
    case sum

    /// An array as a set: the base without what any version removed, then what the versions added.
    ///
    /// Every value stays once. Those of the base keep its order, additions follow in the order of the versions.
    case union

    /// An array of objects, merged element by element: those with an equal member of this name belong together.
    ///
    /// Elements merge like objects, member by member. What one version removed and no other changed is gone; what one
    /// removed and another changed stays, with the change. The order is that of the first version that moved
    /// elements of the base, else the winner's; elements it does not have follow in the order of the versions.
    ///
    /// The identity must be a string or a number, and each must be there once in every version. In paths of rules an
    /// element is left out: `/items/count` is the `count` of every element of `items`.
    case array(identifiedBy: String)

    /// Text, merged line by line.
    ///
    /// Versions must have changed different lines, with an unchanged one between them; the same change made by several
    /// is no matter. A line ends with a line feed. Up to 1000 lines removed and added are found, in O(*n* · *d*) for
    /// *n* lines of which *d* differ; a version that differs more does not fit.
    case lines

    /// No decision: the document stays in conflict.
    case leave

    /// A function's answer, which is the value, or `nil` to remove the member.
    ///
    /// It must depend on nothing but the clash it is given: no clock, no random numbers, nothing of the device.
    /// Otherwise replicas that settle the same conflict write different revisions (SEMANTICS 83).
    case custom(String, @Sendable (MergeClash) -> JSON?)
}
