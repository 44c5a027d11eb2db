/// What to do about a fetch when the snapshot store was looked into.
package enum StoredSetAction: Sendable, Equatable {
    /// Another process has asked Apple in the meantime, and its set will do: the fetch is over.
    case wakeWaiters
    /// Ask Apple.
    case ask(KeySetFetch)
}
