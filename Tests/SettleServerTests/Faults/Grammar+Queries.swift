import SettleTesting

/// Nearly valid queries and index definitions.
extension Grammar {
    /// A body of `_find`.
    mutating func find() -> String {
        var members = [("selector", choices.oneIn(20) ? value() : selector(3))]
        for (name, values) in [
            ("limit", ["0", "1", "5", "-1", "1.5", "99999999999999999999", "\"x\"", "null"]),
            ("skip", ["0", "2", "-5", "99999999999999999999"]),
            ("sort", ["[]", "[\"v\"]", "[{\"v\":\"desc\"}]", "[\"v\",{\"w\":\"desc\"}]", "[\"_id\"]", "\"v\"", "[1]"]),
            ("fields", ["[]", "[\"_id\",\"v\"]", "[\"v.w\"]", "[\"\"]", "[{}]", "5"]),
            ("use_index", ["\"a\"", "[\"a\",\"b\"]", "\"_design/a/b\"", "[]", "null", "[1]", "\"a/b/c/d\""]),
            (
                "bookmark",
                [
                    "\"nil\"", "null", "\"\"",
                    "\"g1AAAAA2eJzLYWBgYMpgSmHgKy5JLCrJTq2MT8lPzkzJBYozJxoagaQ4YFIwwSwAg1EOQw\"", "\"g1AAAAA2\"",
                    "\"W10\"", "7",
                ]
            ),
            ("r", ["1", "2", "0"]), ("conflicts", ["true", "1"]), ("update", ["false", "true"]),
            ("stale", ["\"ok\"", "5"]), ("execution_stats", ["true"]), ("allow_fallback", ["false"]),
            ("partition", ["\"\"", "\"p\""]), ("stable", ["true"]), ("x", ["1"]),
        ] where choices.oneIn(5) { members.append((name, choices.element(of: values))) }
        return object(members)
    }

    private mutating func selector(_ depth: Int) -> String {
        guard depth > 0, choices.oneIn(2) else { return condition() }
        switch choices.below(5) {
        case 0: return object([("$and", list(3) { $0.selector(depth - 1) })])
        case 1: return object([("$or", list(3) { $0.selector(depth - 1) })])
        case 2: return object([("$nor", list(2) { $0.selector(depth - 1) })])
        case 3: return object([("$not", selector(depth - 1))])
        default: return object([("v", condition()), ("w", value(1))])
        }
    }

    private mutating func condition() -> String {
        let operators = [
            "$lt", "$lte", "$eq", "$ne", "$gte", "$gt", "$in", "$nin", "$exists", "$type", "$mod", "$regex",
            "$beginsWith", "$all", "$size", "$elemMatch", "$allMatch", "$keyMapMatch", "$text", "$foo",
        ]
        let argument = choices.oneIn(4) ? list(2) { $0.value(1) } : value(1)
        let path = choices.element(of: ["v", "w", "v.w", "_id", "_rev", "tags.0", "", "a..b", "\\\\"])
        return object([(path, object([(choices.element(of: operators), argument)]))])
    }

    /// A body of `_index`.
    mutating func index() -> String {
        var definition = [
            (
                "fields",
                choices.oneIn(8)
                    ? value()
                    : list(3) {
                        $0.choices.element(of: ["\"v\"", "\"w\"", "{\"v\":\"desc\"}", "\"v.w\"", "\"_id\"", "1"])
                    }
            )
        ]
        if choices.oneIn(4) { definition.append(("partial_filter_selector", selector(2))) }
        var members = [("index", choices.oneIn(15) ? value() : object(definition))]
        if choices.oneIn(2) {
            members.append(("ddoc", choices.element(of: ["\"a\"", "\"b\"", "\"_design/a\"", "\"\"", "1"])))
        }
        if choices.oneIn(2) { members.append(("name", choices.element(of: ["\"b\"", "\"c\"", "\"\"", "null"]))) }
        if choices.oneIn(8) { members.append(("type", choices.element(of: ["\"json\"", "\"text\"", "\"x\"", "3"]))) }
        if choices.oneIn(8) { members.append(("partitioned", choices.element(of: ["true", "false", "1"]))) }
        return object(members)
    }

    /// How a conflict is to be settled, as `_settle` reads it.
    mutating func settling() -> String {
        let policies = ["threeWayMerge", "deletesWin", "keepAll", "latestDocumentWins", "x"]
        let policy =
            choices.oneIn(2)
            ? text(choices.element(of: policies))
            : object([
                ("name", text(choices.element(of: policies))), ("rules", object([("/" + plain(), text(rule()))])),
                ("on_clash", text(rule())),
            ])
        let pick = choices.element(of: [
            "{\"rev\":\"\(revision())\"}", "{\"value\":\(value())}", "{\"removed\":true}", "{\"base\":true}", "1",
        ])
        return object([
            choices.element(of: [
                ("policy", policy), ("policy", policy), ("keep", text(revision())), ("delete", "true"),
                ("doc", document(hasID: false)),
            ]), ("picks", object([("/" + plain(), pick)])), ("leaves", "[\"\(revision())\"]"),
            ("dry_run", choices.element(of: ["true", "false", "1"])),
            ("limit", choices.element(of: ["1", "0", "-1", "\"2\""])),
            ("kind", text(choices.element(of: ["branches", "all", "x"]))), ("startkey", value()),
            ("may_delete", choices.element(of: ["true", "false", "1"])),
        ])
    }

    /// Functions that are to be tried, or a condition.
    mutating func trial() -> String {
        object([
            (
                "functions",
                choices.element(of: [
                    "\"stored\"", "{\"map\":\"function (doc) { emit(doc.a, 1); }\"}", "{\"map\":\"function (doc) {\"}",
                    "{\"map\":\"function (doc) { emit(doc.a); }\",\"reduce\":\"_sum\"}",
                    "{\"filter\":\"function (doc, req) { return doc.a; }\"}",
                    "{\"validate_doc_update\":\"function (doc, old) { if (old) throw({forbidden: 'no'}); }\"}", "1",
                ])
            ), ("modules", value()), ("query", value()),
            (
                "docs",
                choices.element(of: [
                    "{\"limit\":2}", "{\"selector\":{\"a\":1}}", "{\"ids\":[\"a\"]}", "{\"given\":[\(value())]}", "1",
                ])
            ),
            ("text", text(choices.element(of: ["a > 1", "a = ", "(", "a in [1, 2]"]))), ("user", value()),
        ])
    }

    private mutating func plain() -> String { choices.element(of: ["a", "b", "n", "_attachments/a", "~2", ""]) }

    private mutating func rule() -> String {
        choices.element(of: ["winner", "sum", "union", "lines", "leave", "array:id", "x"])
    }
}
