internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// A page of documents that a closure maps on another thread, so that several pages are mapped at the same time.
final class PageMapping: ViewMapping, Sendable {
    private let result = Guarded<[[Emission]]>([])
    private let done = DispatchSemaphore(value: 0)

    init(_ documents: [DocumentRecord], _ map: @escaping @Sendable (DocumentRecord) -> [Emission]) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let emissions = documents.map(map)
            result.withLock { $0 = emissions }
            done.signal()
        }
    }

    func wait() -> [[Emission]] {
        done.wait()
        return result.withLock { $0 }
    }
}
