import Testing

/// Something in the repository that breaks a house rule: where it stands, and what to do about it.
struct Complaint: Equatable, CustomStringConvertible {
    var path: String
    var line: Int
    var advice: String

    var description: String { "\(path):\(line): \(advice)" }
}

/// Fails the test once for each complaint, so that a run reads like a compiler's list.
func expectNone(_ complaints: [Complaint], sourceLocation: SourceLocation = #_sourceLocation) {
    for complaint in complaints {
        Issue.record("\(complaint)", sourceLocation: sourceLocation)
    }
}
