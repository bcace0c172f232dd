/// A declaration as far as the rules need it: its modifiers, its keyword, its name, and its scope.
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
    /// The line of its closing brace; its own line if it has no braces.
    var lastLine = 0
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

    /// The scope that its own braces open.
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
    /// Which of the found declarations opened each brace.
    var owners: [Int?] = []
    var pending: Int?

    for (number, line) in code.enumerated() {
        var startsLine = true
        for piece in pieces(of: line) {
            if piece == "{" {
                scopes.append(pending.map { found[$0].ownScope } ?? .other)
                owners.append(pending)
                pending = nil
            } else if piece == "}" {
                scopes = scopes.dropLast()
                if let owner = owners.popLast() ?? nil { found[owner].lastLine = number + 1 }
                pending = nil
            } else if var declaration = Declaration(piece) {
                (declaration.line, declaration.lastLine) = (number + 1, number + 1)
                declaration.startsLine = startsLine
                declaration.scopes = scopes
                found.append(declaration)
                pending = found.count - 1
            }
            startsLine = false
        }
    }
    return found
}

/// Cuts a line at its braces and semicolons, and drops blank pieces.
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
