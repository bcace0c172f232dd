/// The JSON literals.
enum JSONLiteral { case null, `true`, `false` }
