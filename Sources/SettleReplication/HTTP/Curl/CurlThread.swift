internal import CCurl

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Makes the thread that a client's curl runs on.
enum CurlThread {
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Starts the thread; when that fails the mailbox stays closed.
    static func start(_ mailbox: CurlMailbox, _ options: HTTPClientOptions) {
        guard isReady, let multi = curl_multi_init() else { return }
        let work = Unmanaged.passRetained(Work(multi, mailbox, options))
        mailbox.open(multi)
        #if canImport(Glibc)
        var thread: pthread_t = 0
        let code = pthread_create(&thread, nil, { Work.run($0) }, work.toOpaque())
        #else
        var thread: pthread_t?
        let code = pthread_create(&thread, nil, { Work.run($0) }, work.toOpaque())
        #endif
        guard code == 0 else {
            work.release()
            _ = mailbox.retire()
            curl_multi_cleanup(multi)
            return
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
    }

    /// What the new thread gets.
    private final class Work {
        let multi: UnsafeMutableRawPointer
        let mailbox: CurlMailbox
        let options: HTTPClientOptions

        init(_ multi: UnsafeMutableRawPointer, _ mailbox: CurlMailbox, _ options: HTTPClientOptions) {
            (self.multi, self.mailbox, self.options) = (multi, mailbox, options)
        }

        static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
            CurlLoop(multi: work.multi, mailbox: work.mailbox, options: work.options).run()
            return nil
        }
    }
}
