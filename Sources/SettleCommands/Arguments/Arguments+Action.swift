extension Arguments {
    /// What of several things a verb is to do, which its first operand says.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which names the nearest one.
    func action<Action: RawRepresentable & CaseIterable>(_ actions: Action.Type) throws -> Action
    where Action.RawValue == String {
        let given = try operand("ACTION")
        if let action = Action(rawValue: given) { return action }
        let advice =
            NearestWord.find(given, in: Action.allCases.map(\.rawValue)).map { "did you mean \($0)?" }
            ?? "`settle \(verb) list \(given)` lists what there is"
        throw CommandError.usage("there is nothing called \"\(given)\" to do; \(advice)", verb: verb)
    }
}
