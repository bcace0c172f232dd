/// The threads of a transport.
struct WorkerPools: Sendable {
    /// Where handlers and streams run.
    let workers: WorkerPool
    /// Where handlers run whose body is still arriving, so that slow clients can't take all workers.
    let uploads: WorkerPool

    /// Ends the threads once all jobs are done.
    func close() {
        workers.close()
        uploads.close()
    }
}
