/// The three values that are words.
enum JSONLiteral { case null, `true`, `false` }
