/// A term of Erlang in its external format, minor version 1, as far as names that CouchDB derives from terms need it.
package enum ErlangTerm: Sendable {
    /// A word of the program, in ASCII.
    case atom(String)
    /// A text.
    case binary(String)
    /// A whole number of up to 31 bits.
    case integer(Int32)
    /// Terms that belong together.
    case tuple([ErlangTerm])
    /// Terms in order.
    case list([ErlangTerm])
    /// The members of a document, as Erlang has JSON.
    case members(DocumentBody)
    /// A JSON value.
    case json(JSON)

    /// The bytes of the term, as `term_to_binary` makes them.
    package var bytes: [UInt8] {
        var bytes = [ExternalTerm.version]
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .atom(let word):
            bytes += [ExternalTerm.atom, 0, UInt8(truncatingIfNeeded: word.utf8.count)] + word.utf8
        case .binary(let text):
            bytes.append(ExternalTerm.binary)
            Self.append(text.utf8.count, to: &bytes)
            bytes += text.utf8
        case .integer(let number):
            guard !(0...255).contains(number) else {
                bytes += [ExternalTerm.smallInteger, UInt8(truncatingIfNeeded: number)]
                return
            }
            bytes.append(ExternalTerm.integer)
            Self.append(Int(number), to: &bytes)
        case .tuple(let terms):
            bytes += [ExternalTerm.smallTuple, UInt8(truncatingIfNeeded: terms.count)]
            for term in terms { term.append(to: &bytes) }
        case .list(let terms):
            if !terms.isEmpty {
                bytes.append(ExternalTerm.list)
                Self.append(terms.count, to: &bytes)
                for term in terms { term.append(to: &bytes) }
            }
            bytes.append(ExternalTerm.emptyList)
        case .members(let body): bytes += body.term
        case .json(let value):
            // {[{<<"v">>, Value}]}: what stands in front of the value has fifteen bytes, behind it is the list's end.
            guard let body = try? DocumentBody(["v": value]) else { return bytes.append(ExternalTerm.emptyList) }
            bytes += body.term.dropFirst(15).dropLast()
        }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
