import NIOCore
import Synchronization

/// One object for each event loop, made at its first use.
final class EventLoopLocal<Value: AnyObject>: Sendable {
    private let values = Mutex<[ObjectIdentifier: NIOLoopBound<Value>]>([:])
    private let make: @Sendable (any EventLoop) -> Value

    init(_ make: @escaping @Sendable (any EventLoop) -> Value) {
        self.make = make
    }

    /// Must be called on the loop.
    func value(on eventLoop: any EventLoop) -> Value {
        values.withLock { values in
            if let value = values[ObjectIdentifier(eventLoop)] { return value }
            let value = NIOLoopBound(make(eventLoop), eventLoop: eventLoop)
            values[ObjectIdentifier(eventLoop)] = value
            return value
        }.value
    }
}
