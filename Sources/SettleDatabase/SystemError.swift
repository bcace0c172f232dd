internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Whether an error of the system means that the disk, or a user's share of it, is full.
func meansFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }

/// An error of the system, with its message.
package func systemError(_ doing: String, _ number: Int32 = errno) -> DatabaseError {
    if meansFull(number) {
        return DatabaseError(.diskFull, "there is no room left while \(doing); free some and retry")
    }
    return DatabaseError(.inputOutput, "\(doing): \(String(cString: strerror(number)))")
}

/// An error of Foundation's file manager, with the system's message instead of Foundation's description.
func fileManagerError(_ doing: String, _ error: any Error) -> DatabaseError {
    guard let cause = (error as? CocoaError)?.underlying as? POSIXError else {
        return DatabaseError(.inputOutput, doing, cause: error)
    }
    return systemError(doing, cause.code.rawValue)
}
