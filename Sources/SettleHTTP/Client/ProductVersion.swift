/// Settle's version.
package enum ProductVersion {
    /// The version, like `1.2.0`.
    package static let current = "0.1.0"
}
