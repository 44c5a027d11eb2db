/// Something that is only ever touched on one dispatch queue.
///
/// `@unchecked Sendable`: the one place that holds it, a connection, reads and writes `value` only in blocks
/// that run on its database's serial queue, so two never do at once and each sees what the one before did.
final class QueueConfined<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
