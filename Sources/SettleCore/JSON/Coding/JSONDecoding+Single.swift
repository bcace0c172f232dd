extension JSONDecoding: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch(type, "a boolean") }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let string) = value else { throw mismatch(type, "a string") }
        return string
    }

    func decode(_ type: Double.Type) throws -> Double {
        let number = try number(type)
        guard number.double.isFinite else { throw unfit(type, number) }
        return number.double
    }

    func decode(_ type: Float.Type) throws -> Float {
        let number = try number(type)
        guard let float = Float(number.text), float.isFinite else { throw unfit(type, number) }
        return float
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        let number = try number(type)
        let text = number.isInteger ? number.text : JSONDecimal(number).integerText
        guard let text, let integer = T(text) else { throw unfit(type, number) }
        return integer
    }

    private func number(_ type: Any.Type) throws -> JSONNumber {
        guard case .number(let number) = value else { throw mismatch(type, "a number") }
        return number
    }
}
