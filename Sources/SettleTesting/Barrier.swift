/// Suspends tasks until a number of them have arrived, and lets all pass from then on.
package actor Barrier {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Creates a barrier for a number of tasks.
    package init(count: Int) { missing = count }

    /// Waits until enough tasks have arrived, or the barrier was opened. Cancelling the task does not end the wait.
    package func pass() async {
        missing -= 1
        guard missing > 0 else { return open() }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Lets all tasks pass from now on.
    package func open() {
        missing = 0
        for waiter in waiting { waiter.resume() }
        waiting = []
    }
}
