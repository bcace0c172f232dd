public import SettleCore
public import SettleQuery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error of Settle's. An app shows it as `error.localizedDescription`, which is its description: what happened, to what, and what
/// to do.
public protocol SettleError: LocalizedError, CustomStringConvertible {}

extension SettleError {
    /// The description.
    public var errorDescription: String? { description }

    /// Nothing that the description has not.
    public var failureReason: String? { nil }

    /// Nothing that the description has not.
    public var recoverySuggestion: String? { nil }

    /// Nothing.
    public var helpAnchor: String? { nil }
}

extension DatabaseError: SettleError {}
extension DocumentRejection: SettleError {}
extension SchemaError: SettleError {}
extension SchemaProblem: SettleError {}
extension SelectorError: SettleError {}
extension InvalidIdentifier: SettleError {}
extension JSONError: SettleError {}
extension RevisionTreeError: SettleError {}
