internal import SettlePlatform

/// An error of the system, with its message.
package func systemError(_ doing: String) -> DatabaseError {
    let number = errno
    if number == ENOSPC || number == EDQUOT {
        return DatabaseError(.diskFull, "there is no room left while \(doing); free some and retry")
    }
    return DatabaseError(.inputOutput, "\(doing): \(String(cString: strerror(number)))")
}
