internal import Dispatch
package import SettleDatabase
internal import SettlePlatform

/// Maps documents to rows.
package protocol ViewMapper: Sendable {
    /// Starts to map documents, none of which is deleted. It may be called again before earlier mappings are done.
    func start(_ documents: [DocumentRecord]) throws -> any ViewMapping
}

// MARK: - ViewMapping

/// Documents that are being mapped.
package protocol ViewMapping {
    /// Waits for the emitted rows of each document, in order.
    func wait() throws -> [[Emission]]
}

// MARK: - PageMapping

/// A page of documents that a closure maps on another thread, so that several pages are mapped at the same time.
final class PageMapping: ViewMapping, Sendable {
    private let emissions = Promise<[[Emission]]>()

    init(_ documents: [DocumentRecord], _ map: @escaping @Sendable (DocumentRecord) -> [Emission]) {
        DispatchQueue.global(qos: .userInitiated).async { [emissions] in emissions.fulfil(documents.map(map)) }
    }

    func wait() -> [[Emission]] { emissions.wait() }
}

// MARK: - Emission

/// A key and a value that a map function emitted.
package struct Emission: Sendable {
    /// The number of the view that emitted it.
    package let view: Int
    /// The key, as JSON text.
    package let key: [UInt8]
    /// The value, as JSON text.
    package let value: [UInt8]

    /// Makes an emission.
    package init(view: Int, key: [UInt8], value: [UInt8]) {
        self.view = view
        self.key = key
        self.value = value
    }
}

// MARK: - IndexRow

/// A row of an index, which a map function has emitted for a document.
package struct IndexRow: Sendable {
    /// The key, as JSON text.
    package let key: ArraySlice<UInt8>
    /// The id of the document that emitted it.
    package let id: ArraySlice<UInt8>
    /// The value, as JSON text.
    package let value: ArraySlice<UInt8>
    /// The bytes by which it is ordered.
    let position: ArraySlice<UInt8>
}
