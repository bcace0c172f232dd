/// A text style on a terminal: the number of its ANSI style.
enum Style: String, Sendable {
    case bold = "1"
    case faint = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "36"
}

/// Styles text where styles are shown.
typealias Styled = (String, Style) -> String
