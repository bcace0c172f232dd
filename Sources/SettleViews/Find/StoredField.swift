internal import SettleDatabase

/// A stored property of a struct or a class, as the compiler describes it beside the type.
///
/// The functions are those of the standard library's `Mirror`. They read that description and run no code of the type, and they
/// need no instance.
struct StoredField {
    let name: String
    let type: Any.Type
    /// The distance from the start of the instance. Several properties have the same one if all but one of them are empty.
    let offset: Int

    /// The stored properties of a type, in their order; empty for a type that is neither a struct nor a class.
    static func all(of type: Any.Type) -> [StoredField] {
        guard type is AnyClass || metadataKind(type) == structKind else { return [] }
        return (0..<fieldCount(type)).map { index in
            var description = FieldDescription()
            let fieldType = fieldType(type, index: index, description: &description)
            defer { description.free?(description.name) }
            let name = description.name.map { String(cString: $0) } ?? ""
            return StoredField(name: name, type: fieldType, offset: fieldOffset(type, index: index))
        }
    }
}

/// The cases of an enumeration without associated values.
enum EnumCases {
    /// Each case with its name, in their order; `nil` for any other type.
    static func all<Value>(of type: Value.Type) -> [(name: String, value: Value)]? {
        guard metadataKind(type) == enumKind, let descriptor = typeDescriptor(type) else { return nil }
        let (payloadCases, count) = (descriptor[5] & 0xFF_FFFF, descriptor[6])
        // Such a value stores the position of its case in as few bytes as fit; an enumeration with one case stores nothing.
        let size = count < 2 ? 0 : count <= 256 ? 1 : 2
        guard payloadCases == 0, count <= 65_536, MemoryLayout<Value>.size == size else { return nil }
        return (0..<count).map { tag in
            let value = withUnsafeBytes(of: UInt64(tag).littleEndian) { $0.load(as: Value.self) }
            return (enumCaseName(value).map { String(cString: $0) } ?? "", value)
        }
    }
}

/// What the runtime says of a stored property: `_FieldReflectionMetadata` of the standard library.
private struct FieldDescription {
    var name: UnsafePointer<CChar>?
    var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
    var isStrong = false
    var isVariable = false
}

private let structKind: UInt = 0x200
private let enumKind: UInt = 0x201

@_silgen_name("swift_getMetadataKind")
private func metadataKind(_ type: Any.Type) -> UInt

@_silgen_name("swift_getTypeContextDescriptor")
private func typeDescriptor(_ type: Any.Type) -> UnsafePointer<UInt32>?

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func fieldCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func fieldType(
    _ type: Any.Type, index: Int, description: UnsafeMutablePointer<FieldDescription>
) -> Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func fieldOffset(_ type: Any.Type, index: Int) -> Int
