internal import SettlePlatform

/// What is at the other end of an output: a terminal, with or without colours, or a file or pipe.
struct Terminal: Sendable {
    /// Whether a person looks at it.
    let isTerminal: Bool
    /// Whether colours are wanted: on a terminal that has them, unless `NO_COLOR` is set.
    let hasColours: Bool
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        let isDumb = Self.variable("TERM").map { $0 == "dumb" } ?? true
        hasColours = isTerminal && !isDumb && (Self.variable("NO_COLOR") ?? "").isEmpty
    }

    /// How many columns it has now; 80 when it does not say.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Text in a style, where there are colours.
    func styled(_ text: String, _ style: Style) -> String {
        hasColours ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
