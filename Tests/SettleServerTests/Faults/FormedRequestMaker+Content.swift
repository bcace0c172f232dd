import SettleTesting

extension FormedRequestMaker {
    /// The body for a form; adds its content type to the fields.
    mutating func content(_ form: RequestForm, _ fields: inout [String]) -> [UInt8]? {
        var type = "application/json"
        var text = ""
        switch form.body {
        case .none: text = grammar.choices.element(of: ["", "{}"])
        case .document:
            text = grammar.document(hasID: true)
            if form.path.contains("_design") { text = design() }
        case .user: text = grammar.choices.oneIn(4) ? grammar.document(hasID: true) : grammar.user()
        case .documents:
            var members = [
                ("docs", grammar.list(5) { $0.choices.oneIn(40) ? $0.value() : $0.document(hasID: true) })
            ]
            if grammar.choices.oneIn(3) {
                members.append(("new_edits", grammar.choices.element(of: ["false", "true", "null"])))
            }
            text = grammar.object(members)
        case .bulkGet:
            text = grammar.object([
                (
                    "docs",
                    grammar.list(4) { grammar in
                        var members = [("id", grammar.text(grammar.id()))]
                        if grammar.choices.oneIn(2) { members.append(("rev", grammar.text(grammar.revision()))) }
                        if grammar.choices.oneIn(5) {
                            members.append(("atts_since", grammar.list(2) { $0.text($0.revision()) }))
                        }
                        return grammar.object(members)
                    }
                )
            ])
        case .revisions:
            text = grammar.object(
                (0..<grammar.choices.below(4)).map { _ in
                    (grammar.id(), grammar.list(3) { $0.text($0.revision()) })
                })
        case .keys:
            text = grammar.object([("keys", grammar.list(4) { $0.choices.oneIn(8) ? $0.value() : $0.text($0.id()) })]
            )
        case .queries:
            text = grammar.object([
                (
                    "queries",
                    grammar.list(3) { grammar in
                        grammar.object([
                            (
                                grammar.choices.element(of: ["limit", "skip", "key", "keys", "descending"]),
                                grammar.value(1)
                            )
                        ])
                    }
                )
            ])
        case .changes: text = changes()
        case .find: text = grammar.find()
        case .index: text = grammar.index()
        case .indexNames:
            text = grammar.object([
                (
                    "docids",
                    grammar.list(3) { $0.choices.oneIn(8) ? $0.value() : $0.choices.element(of: ["\"a\"", "\"b\""]) }
                )
            ])
        case .security:
            let group = { (grammar: inout Grammar) in
                grammar.choices.element(of: [
                    #"{"names":["mia"],"roles":[]}"#, #"{"roles":["_admin"]}"#, "{}", "null", #"{"names":[1]}"#,
                ])
            }
            text = grammar.object([("members", group(&grammar)), ("admins", #"{"roles":["_admin"]}"#)])
        case .access:
            text = grammar.object([
                ("user", grammar.choices.element(of: ["\"mia\"", "\"admin\"", "null", "5", "\"\""])),
                ("security", grammar.choices.element(of: ["{}", #"{"members":{"names":["mia"]}}"#, "[]", "null"])),
            ])
        case .number:
            text = grammar.choices.element(of: [
                "1", "5", "1000", "0", "-1", "\"true\"", "\"x\"", "1.5", "99999999999999999999",
            ])
        case .boolean: text = grammar.choices.element(of: ["true", "true", "true", "false", "1", "\"true\""])
        case .settling: text = grammar.settling()
        case .trial: text = grammar.trial()
        case .localChanges:
            text = grammar.object([
                (
                    "envelopes",
                    grammar.list(3) { grammar in
                        grammar.object([
                            ("id", grammar.text(grammar.id())),
                            (
                                "changes",
                                grammar.list(3) { grammar in
                                    grammar.object([
                                        ("attribute", grammar.text(grammar.id())), ("value", grammar.value()),
                                        (
                                            "timestamp",
                                            grammar.choices.element(of: [
                                                "1", "1423083473", "1423083473.5", "1e12", "-1", "\"1\"",
                                            ])
                                        ),
                                    ])
                                }
                            ),
                        ])
                    }
                )
            ])
        case .form:
            type = grammar.choices.element(of: ["application/json", "application/x-www-form-urlencoded"])
            text =
                type.hasSuffix("json")
                ? #"{"name":"mia","password":"pw"}"# : "name=mia&password=\(grammar.choices.element(of: ["pw", "x"]))"
        case .parts: (type, text) = ("multipart/related; boundary=\"b\"", grammar.parts())
        case .bytes:
            type = grammar.choices.element(of: ["image/x", "text/plain", "application/octet-stream"])
            text = String(
                repeating: grammar.choices.element(of: ["a", "bc", "\u{0}"]),
                count: grammar.choices.element(of: [0, 1, 10, 1000, 70_000]))
        }
        if grammar.choices.oneIn(25) {
            type = grammar.choices.element(of: ["text/plain", "application/json; charset=utf-8", "multipart/related;"])
        }
        fields.append("Content-Type: \(type)")
        return Array(text.utf8)
    }

    private mutating func design() -> String {
        grammar.choices.element(of: [
            #"{"views":{"v":{"map":"function(d){emit(1)}","reduce":"_count"}}}"#, #"{"filters":{"f":"function(){}"}}"#,
            #"{"views":1}"#, grammar.document(hasID: false),
        ])
    }

    private mutating func changes() -> String {
        grammar.choices.element(of: [
            #"{"doc_ids":["a","b"]}"#, #"{"selector":{"v":{"$gt":1}},"fields":["_id","v.w"]}"#, "{}", "",
            #"{"selector":{"$or":[{"v":{"$regex":"^l(o|x)+"}},{"w":{"$elemMatch":{"$eq":1}}}]}}"#,
            #"{"selector":{"$odd":1}}"#,
            grammar.object([("selector", grammar.object([("v", grammar.object([("$eq", grammar.value())]))]))]),
        ])
    }
}
