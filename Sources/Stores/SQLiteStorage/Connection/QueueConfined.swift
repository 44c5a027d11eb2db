/// A value that is only used on one dispatch queue.
///
/// `@unchecked Sendable`: its only holder, a connection, reads and writes `value` only in blocks that run on
/// its database's serial queue. So two blocks never run at once, and each block sees the writes of the
/// previous block.
final class QueueConfined<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
