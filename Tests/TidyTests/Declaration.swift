/// A declaration as far as the house rules care: its modifiers, its keyword, its name, and what it stands in.
struct Declaration {
    /// What a brace opened.
    enum Scope: Equatable {
        case publicEnum
        case publicProtocol
        case publicExtension
        case other
    }

    private static let narrower: Set = ["internal", "package", "private", "fileprivate"]

    var modifiers: [String]
    var keyword: String
    var name: String
    var line: Int
    /// Whether it is the first thing in its line.
    var startsLine: Bool
    var scopes: [Scope]

    var isPublic: Bool {
        if modifiers.contains("public") || modifiers.contains("open") { return true }
        switch scopes.last {
        case .publicEnum: return keyword == "case"
        case .publicProtocol: return true
        case .publicExtension: return modifiers.allSatisfy { !Declaration.narrower.contains($0) }
        case .other, nil: return false
        }
    }

    var isPrivate: Bool { modifiers.contains("private") || modifiers.contains("fileprivate") }

    /// The scope its own braces open.
    var ownScope: Scope {
        switch keyword {
        case "enum" where isPublic: .publicEnum
        case "protocol" where isPublic: .publicProtocol
        case "extension" where isPublic: .publicExtension
        default: .other
        }
    }
}

/// Finds the declarations in masked code, in order.
func declarations(in code: [String]) -> [Declaration] {
    var found: [Declaration] = []
    var scopes: [Declaration.Scope] = []
    var pending: Declaration?

    for (number, line) in code.enumerated() {
        var startsLine = true
        for piece in pieces(of: line) {
            if piece == "{" {
                scopes.append(pending?.ownScope ?? .other)
                pending = nil
            } else if piece == "}" {
                scopes = scopes.dropLast()
                pending = nil
            } else if var declaration = Declaration(piece) {
                declaration.line = number + 1
                declaration.startsLine = startsLine
                declaration.scopes = scopes
                found.append(declaration)
                pending = declaration
            }
            startsLine = false
        }
    }
    return found
}

/// Cuts a line at its braces and semicolons, and drops what is blank.
private func pieces(of line: String) -> [String] {
    var pieces = [""]
    for character in line {
        switch character {
        case "{", "}": pieces += [String(character), ""]
        case ";": pieces.append("")
        default: pieces[pieces.count - 1].append(character)
        }
    }
    return pieces.filter { !$0.allSatisfy(\.isWhitespace) }
}
