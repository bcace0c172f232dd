internal import SettleCore
internal import SettleDatabase

/// Emits the texts of documents: an emission for each column, whose value is the text.
struct TextMapper: ViewMapper {
    private let extraction: TextExtraction
    private let filter: Selector?

    init(_ index: TextIndex) {
        extraction = TextExtraction(index)
        filter = index.filter
    }

    func start(_ documents: [DocumentRecord]) -> any ViewMapping { PageMapping(documents, emissions) }

    private func emissions(of record: DocumentRecord) -> [Emission] {
        guard let content = record.content, let winner = record.tree.winner else { return [] }
        if let filter {
            let document = Document(id: record.id, revision: winner.revision, isDeleted: false, content)
            guard filter.matches(document) else { return [] }
        }
        guard let texts = extraction.texts(of: content.body.json) else { return [] }
        return texts.enumerated().map { Emission(view: $0, key: [], value: Array($1.utf8)) }
    }
}
