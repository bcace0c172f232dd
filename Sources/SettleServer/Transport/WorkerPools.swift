/// The threads of a transport.
struct WorkerPools: Sendable {
    /// Where handlers and streams run.
    let workers: WorkerPool
    /// Where parts of long bodies are put into files.
    let uploads: WorkerPool
    /// Where requests for feeds run, and streams that have waited. They come by the thousand, and others should not queue behind
    /// them.
    let feeds: WorkerPool

    /// Where a request runs.
    func workers(for target: RequestTarget) -> WorkerPool {
        let last = target.segments.last
        return last == "_changes" || last == "_db_updates" ? feeds : workers
    }

    /// Ends the threads once all jobs are done.
    func close() {
        workers.close()
        uploads.close()
        feeds.close()
    }
}
