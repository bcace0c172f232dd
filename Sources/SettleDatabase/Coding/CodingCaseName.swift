/// The name of an enumeration's case, from the runtime's reflection metadata; `nil` for other values.
///
/// The standard library prints enumerations with this function. A coding key has a description of its own, which names its text, so
/// printing does not reveal the name of its case.
@_silgen_name("swift_EnumCaseName")
package func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// Whether a coding key stands for the property `id`: a case of that name, whatever its text is, or another key with that text.
func isForID(_ key: some CodingKey) -> Bool {
    // It creates no string, because it is asked for each member of each document.
    guard let name = enumCaseName(key) else { return key.stringValue == "id" }
    return name[0] == UInt8(ascii: "i") && name[1] == UInt8(ascii: "d") && name[2] == 0
}
