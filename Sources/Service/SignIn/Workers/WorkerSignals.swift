import Synchronization

/// The signal of each worker. A commit of this process that makes work for a worker sends its signal.
package final class WorkerSignals: Sendable {
    private let signals = Mutex<[ObjectIdentifier: WakeupSignal]>([:])

    package init() {}

    /// Returns the same signal every time.
    package subscript(worker: any Worker.Type) -> WakeupSignal {
        signals.withLock { signals in
            let key = ObjectIdentifier(worker)
            if let signal = signals[key] { return signal }
            let signal = WakeupSignal()
            signals[key] = signal
            return signal
        }
    }
}
