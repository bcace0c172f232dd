/// How a server writes its logs.
public enum LogFormat: String, Sendable, CaseIterable {
    /// Words separated by blanks, for people.
    case text
    /// A JSON object a line, for programs.
    case json
}
