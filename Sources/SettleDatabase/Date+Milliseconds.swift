#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Date {
    /// A time in milliseconds since 1970, as it is stored and sent.
    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The milliseconds since 1970, rounded; a time that is out of range becomes the nearest one that is not.
    package var milliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        return milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, -9e15), 9e15))
    }
}
