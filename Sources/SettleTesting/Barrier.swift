internal import SettlePlatform

/// Suspends tasks until a number of them have arrived, and lets all pass from then on.
package actor Barrier {
    private var missing: Int
    private let opened = Promise<Void>()

    /// Creates a barrier for a number of tasks.
    package init(count: Int) { missing = count }

    /// Waits until enough tasks have arrived, or the barrier was opened. Cancelling the task does not end the wait.
    package func pass() async {
        missing -= 1
        if missing <= 0 { open() }
        await opened.get()
    }

    /// Lets all tasks pass from now on.
    package func open() { opened.fulfil(()) }
}
