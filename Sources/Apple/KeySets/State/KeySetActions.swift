/// Action for the look-up of a key ID.
package enum LookUpAction: Sendable, Equatable {
    /// The key is in the cache.
    case use
    /// The key is in the cache; start a fetch, but do not wait for it.
    case useAndStartFetch(KeySetFetch)
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case refuse(KeySetError)
}

/// Next action of the refresh loop.
package enum RefreshAction: Sendable, Equatable {
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case sleep(untilMilliseconds: Int64)
}

/// Action after the end of a fetch.
package enum FinishAction: Sendable, Equatable {
    case wakeWaiters
    case wakeWaitersAndSave(KeySetSnapshot)
}

/// Action of a fetch after the snapshot store was read.
package enum StoredSetAction: Sendable, Equatable {
    /// Another process has stored a sufficient set: the fetch has ended.
    case wakeWaiters
    /// Send the request to Apple.
    case ask(KeySetFetch)
}

/// A fetch that the state machine has started.
package struct KeySetFetch: Sendable, Equatable {
    package let number: UInt64
    /// The value of `If-None-Match`.
    package let entityTag: String?
    /// The deadline, in milliseconds since 1970. A fetch that runs longer has failed.
    package let giveUpAt: Int64
    /// The unknown key ID that caused the fetch; `nil` for a refresh.
    package let keyID: String?

    package init(number: UInt64, entityTag: String?, giveUpAt: Int64, keyID: String? = nil) {
        self.number = number
        self.entityTag = entityTag
        self.giveUpAt = giveUpAt
        self.keyID = keyID
    }
}
