internal import SettleCore

/// The positions of a stored body's members, for comparing two bodies without building their values.
struct BodyMembers {
    private let bytes: [UInt8]
    private let members: [(name: String, range: Range<Int>)]

    /// Scans a body; `nil` has no members.
    init(_ body: DocumentBody?) {
        bytes = body?.utf8 ?? []
        members = bytes.isEmpty ? [] : (try? JSONOutline(bytes))?.members ?? []
    }

    /// The names in order.
    var names: [String] { members.map(\.name) }

    /// The text of a member's value.
    func value(at index: Int) -> ArraySlice<UInt8> { bytes[members[index].range] }

    /// The text of a member's value, searched first at its probable position; `nil` if it is absent.
    func value(of name: String, near index: Int) -> ArraySlice<UInt8>? {
        if index < members.count, members[index].name.utf8.elementsEqual(name.utf8) { return value(at: index) }
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }.map { bytes[$0.range] }
    }
}
