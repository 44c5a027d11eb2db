/// What to do with a fetch after the snapshot store was read.
package enum StoredSetAction: Sendable, Equatable {
    /// Another process has stored a set that is good enough: the fetch is over.
    case wakeWaiters
    /// Send the request to Apple.
    case ask(KeySetFetch)
}
