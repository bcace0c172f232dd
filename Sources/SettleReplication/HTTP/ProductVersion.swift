/// Settle's version.
package enum ProductVersion {
    /// The version, like `1.2.0`; unreleased versions end in `-dev`.
    package static let current = "0.1.0-dev"
}
