public import SettleCore
public import SettleQuery

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An error of Settle. An app shows it as `error.localizedDescription`, which is its description: what happened, to
/// which object, and what to do.
public protocol SettleError: LocalizedError, CustomStringConvertible {}

extension SettleError {
    /// The description.
    public var errorDescription: String? { description }

    /// Always `nil`; the description has everything.
    public var failureReason: String? { nil }

    /// Always `nil`; the description has everything.
    public var recoverySuggestion: String? { nil }

    /// Always `nil`.
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
