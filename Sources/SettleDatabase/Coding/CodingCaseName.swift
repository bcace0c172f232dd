/// The name of an enumeration's case, from the runtime's reflection metadata; `nil` for other values.
///
/// The standard library prints enumerations with this function. A coding key has a description of its own, which names its text, so
/// printing does not reveal the name of its case.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// The name of the property that a coding key stands for: that of its case, also where its text is another one. A key that is not an
/// enumeration stands for the property with its text.
///
///     enum CodingKeys: String, CodingKey { case id, age = "years" }        // id, age
package func propertyName(of key: some CodingKey) -> String { enumCaseName(key).map(String.init(cString:)) ?? key.stringValue }

/// Whether a coding key stands for the property `id`. It creates no string, because each member of each document is asked.
func isForID(_ key: some CodingKey) -> Bool {
    guard let name = enumCaseName(key) else { return key.stringValue == "id" }
    return name[0] == 105 && name[1] == 100 && name[2] == 0
}
