package import SettleCore

/// What carrying out a preview does to a document: the outcome, the result member by member, and what is lost.
///
///     base   {"count": 1, "note": "?"}
///     2-b    {"count": 3, "note": "?"}
///     2-a    {"count": 4}
///
///     keeps 2-b             rows: /count 3 from 2-b, /note "?"      lost: the value 4 of 2-a, and its removal of /note
///     merges, /count=sum    rows: /count 6 from both, /note gone    lost: nothing
///
/// A leaf's change of a member against the base is in the result if the result has that value there, or lacks the
/// member that was removed; if a rule that joins values (`sum`, `union`, `lines`, `array:KEY`) has put it there; or if
/// a leaf with the same history has replaced it knowingly, by a change that is in the result. Every other change is
/// lost. The value is a pure function of the preview, so what a user is shown is what will be written.
package struct SettlementEffect: Sendable {
    /// What becomes of the document.
    package enum Outcome: Hashable, Sendable {
        /// The content of one leaf stays as a whole.
        case keeps(RevisionID)
        /// The result has content that no leaf has.
        case merges
        /// The document is deleted.
        case deletes
        /// Nothing is written, and the conflict stays.
        case leaves
    }

    /// A member in which the live leaves or the result differ from the base. Members of objects have rows of their own;
    /// an attachment is one member, under `/_attachments`.
    package struct Row: Sendable {
        /// A value, and the live leaves that have it.
        package struct Value: Sendable {
            /// The value; `nil` if the member is missing.
            package let value: JSONValue?
            /// The leaves in order, the winner first.
            package let leaves: [RevisionID]
        }

        /// The member as a JSON pointer.
        package let path: String
        /// The value in the base; `nil` if it is missing there, or if there is no base.
        package let base: JSONValue?
        /// The different values of the live leaves, in their order.
        package let values: [Value]
        /// The value in the result; `nil` if the member is missing there, or if the conflict is left.
        package let result: JSONValue?
        /// The leaves whose changes are in the result.
        package let sources: [RevisionID]
        /// The reason for the result, in words, with whole revisions.
        package let reason: String
        /// Whether live leaves have changed it differently.
        package let isClash: Bool
        /// Whether it was left for somebody to decide.
        package let isLeft: Bool
        /// Whether a person decided it, and not the policy.
        package let isPicked: Bool
    }

    /// Something of a leaf that is not in the result.
    package struct Loss: Hashable, Sendable {
        /// The kinds of loss.
        package enum Kind: String, Sendable {
            /// The value of a member.
            case value
            /// The removal of a member or of an attachment, which the result still has.
            case removal
            /// An attachment, with its content.
            case attachment
            /// The deletion of the document, which stays alive.
            case deletion
            /// The document, which is deleted although this leaf is live.
            case document
        }

        /// The leaf that has it.
        package let leaf: RevisionID
        /// The member as a JSON pointer; empty for a deletion and for the document. An element of an array that is
        /// merged by identity is named by its identity.
        package let path: String
        /// The kind of loss.
        package let kind: Kind
        /// The lost value, or what describes the lost attachment; `nil` for all other kinds.
        package let value: JSONValue?
    }

    /// What becomes of the document.
    package let outcome: Outcome
    /// The outcome in words, with whole revisions: `deletes the document`.
    package let words: String
    /// Whether the content of the base is known. Otherwise nobody can tell what a leaf has removed, and every value of a
    /// leaf that the result lacks counts as lost.
    package let isBaseKnown: Bool
    /// The members of interest in the order of the leaves' members, at most ``maximumRows``.
    package let rows: [Row]
    /// How many rows there are.
    package let rowCount: Int
    /// What is lost, by leaf, at most ``maximumLosses``.
    package let losses: [Loss]
    /// How many losses there are.
    package let lossCount: Int

    /// How many rows an effect lists; the others are only counted.
    package static let maximumRows = 5_000
    /// How many losses an effect lists; the others are only counted.
    package static let maximumLosses = 5_000

    /// Computes the effect of a preview.
    ///
    /// - Complexity: O(*n* · *l*) for leaves of *n* bytes and *l* members that differ.
    package init(_ preview: SettlementPreview) {
        let (outcome, content) = Self.content(of: preview)
        var comparison = EffectComparison(preview, outcome, content)
        comparison.run()
        self.outcome = outcome
        isBaseKnown = comparison.isBaseKnown
        (rows, rowCount) = (comparison.rows, comparison.rowCount)
        (losses, lossCount) = (comparison.losses, comparison.lossCount)
        words = Self.words(preview.conflict, outcome, clashes: comparison.clashCount)
    }

    /// What becomes of the document, and its content if it stays.
    fileprivate static func content(of preview: SettlementPreview) -> (Outcome, Document?) {
        let conflict = preview.conflict
        func kept(_ revision: RevisionID?) -> (Outcome, Document?) {
            guard let revision, let leaf = conflict.leaf(revision) else { return (.leaves, nil) }
            return leaf.isDeleted ? (.deletes, nil) : (.keeps(revision), leaf)
        }
        func written(_ document: Document) -> (Outcome, Document?) {
            let same = conflict.liveLeaves.first { leaf in
                leaf.json == document.json && leaf.attachments.map(\.signature) == document.attachments.map(\.signature)
            }
            let outcome: Outcome = same?.revision.map { Outcome.keeps($0) } ?? .merges
            return (outcome, document)
        }
        guard let decision = preview.decision else { return kept(conflict.race?.survivor) }
        switch decision.resolution {
        case .leaveConflicted: return (.leaves, nil)
        case .delete: return (.deletes, nil)
        case .keep(let revision): return kept(revision)
        case .document(let document): return document.isDeleted ? (.deletes, nil) : written(document)
        case .merged(let body, let attachments):
            return written(Document(id: conflict.documentID, body: body, attachments: attachments))
        }
    }

    private static func words(_ conflict: Conflict, _ outcome: Outcome, clashes: Int) -> String {
        func many(_ number: Int, _ one: String, _ more: String) -> String { "\(number) \(number == 1 ? one : more)" }
        // A policy that does not decide about deletions leaves them.
        let isContested = conflict.deletions.isEmpty && !conflict.tree.disputedDeletions.isEmpty
        let rest = isContested ? "; the deletion beside it stays" : ""
        switch outcome {
        case .keeps(let revision): return "keeps \(revision)\(rest)"
        case .merges:
            let leaves = many(conflict.liveLeaves.count, "leaf", "leaves")
            return "merges \(leaves), \(many(clashes, "clash", "clashes"))\(rest)"
        case .deletes:
            let members = conflict.winner.json.object?.count ?? 0
            return "deletes the document, with \(many(members, "member", "members"))"
        case .leaves: return "leaves the conflict as it is"
        }
    }
}

extension SettlementEffect.Outcome {
    /// What becomes of the document by a preview.
    package init(_ preview: SettlementPreview) { self = SettlementEffect.content(of: preview).0 }
}
