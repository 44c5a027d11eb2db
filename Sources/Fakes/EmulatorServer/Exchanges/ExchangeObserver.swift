import Synchronization

/// Tells one listener of each exchange, for pages that show exchanges as they happen.
package final class ExchangeObserver: Sendable {
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// Replaces the listener. It is called on any thread, and must be fast.
    package func listen(_ action: @escaping @Sendable () -> Void) { listener.withLock { $0 = action } }

    package func tell() { listener.withLock { $0 }?() }
}
