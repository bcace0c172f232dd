import Testing

/// A violation of a rule: its place, and what to do about it.
struct Complaint: Equatable, CustomStringConvertible {
    var path: String
    var line: Int
    var advice: String

    var description: String { "\(path):\(line): \(advice)" }
}

/// Fails the test once for each complaint, like a compiler's list of errors.
func expectNone(_ complaints: [Complaint], sourceLocation: SourceLocation = #_sourceLocation) {
    for complaint in complaints {
        Issue.record("\(complaint)", sourceLocation: sourceLocation)
    }
}
