/// A term of Erlang in its external format, minor version 1, as far as names that CouchDB derives from terms need it.
package enum ErlangTerm: Sendable {
    /// An atom, in ASCII.
    case atom(String)
    /// A text as a binary.
    case binary(String)
    /// A signed integer of up to 32 bits.
    case integer(Int32)
    /// A tuple.
    case tuple([ErlangTerm])
    /// A list.
    case list([ErlangTerm])
    /// The members of a document, in CouchDB's representation of JSON.
    case members(DocumentBody)
    /// A JSON value.
    case json(JSONValue)

    /// The bytes of the term, as `term_to_binary` returns them.
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
            // {[{<<"v">>, Value}]}: fifteen bytes precede the value, and the list's end follows it.
            guard let body = try? DocumentBody(["v": value]) else { return bytes.append(ExternalTerm.emptyList) }
            bytes += body.term.dropFirst(15).dropLast()
        }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
