/// Which version of Settle this is.
package enum ProductVersion {
    /// Its number, as in `1.2.0`; with `-dev` behind it before it is released.
    package static let current = "0.1.0-dev"
}
