/// Spells JSON Pointers (RFC 6901).
enum JSONPointer {
    /// A member's name as a pointer has it.
    static func escaped(_ name: String) -> String { name.replacing("~", with: "~0").replacing("/", with: "~1") }
}
