/// What became of a document.
enum ImportOutcome {
    case stored, known, skipped
    case failed(any Error)
}
