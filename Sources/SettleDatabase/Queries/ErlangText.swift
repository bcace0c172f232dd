package import SettleCore

/// A JSON value in Erlang's term syntax, which CouchDB includes in some error reasons.
///
///     [2, "x", {"a": null}]    →    [2,<<120>>,{[{<<97>>,null}]}]
package enum ErlangText {
    /// The text of a value, which must not be nested deeper than a selector may be.
    package static func text(of value: JSON) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number.isInteger ? integer(number.text) : number.double.description
        case .string(let string): binary(string)
        case .array(let elements): "[" + elements.map { text(of: $0) }.joined(separator: ",") + "]"
        case .object(let members):
            "{[" + members.map { "{\(binary($0.name)),\(text(of: $0.value))}" }.joined(separator: ",") + "]}"
        }
    }

    private static func integer(_ text: String) -> String { text == "-0" ? "0" : text }

    private static func binary(_ string: String) -> String {
        "<<" + string.utf8.map { String($0) }.joined(separator: ",") + ">>"
    }
}
