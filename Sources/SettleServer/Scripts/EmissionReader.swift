internal import RevisionTree
internal import SettleViews

/// Reads what a worker says was emitted for a document, without building values.
///
///     [[[key,value],[key,value]],[]]        depth 1: functions, 2: their rows, 3: key and value
///
/// The text comes from a process that runs what others wrote, so it is checked first; what is of another form has no rows.
enum EmissionReader {
    static func read(_ answer: [UInt8]) -> [Emission] {
        answer.withUnsafeBufferPointer { text in
            guard (try? JSON.validate(utf8: text)) != nil else { return [] }
            return emissions(text)
        }
    }

    private static func emissions(_ text: UnsafeBufferPointer<UInt8>) -> [Emission] {
        var found: [Emission] = []
        var (view, depth, start, comma) = (0, 0, 0, 0)
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                index += 1
                while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth == 3 { (start, comma) = (index + 1, 0) }
            case UInt8(ascii: ","):
                if depth == 1 { view += 1 }
                if depth == 3, comma == 0 { comma = index }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 3, comma > start, index > comma + 1 {
                    found.append(
                        Emission(view: view, key: Array(text[start..<comma]), value: Array(text[(comma + 1)..<index])))
                }
                depth -= 1
            default: break
            }
            index += 1
        }
        return found
    }
}
