/// The action for a caller that looks up a key ID.
package enum LookUpAction: Sendable, Equatable {
    /// Use the cached key.
    case use
    /// Use the cached key, and start a fetch without waiting for it.
    case useAndStartFetch(KeySetFetch)
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case refuse(KeySetError)
}

/// The refresh loop's next action.
package enum RefreshAction: Sendable, Equatable {
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case sleep(untilMilliseconds: Int64)
}

/// The action after a fetch has ended.
package enum FinishAction: Sendable, Equatable {
    case wakeWaiters
    case wakeWaitersAndSave(KeySetSnapshot)
}

/// The action for a fetch that has read the snapshot store.
package enum StoredSetAction: Sendable, Equatable {
    /// Wake the waiters: the fetch has ended, because another process has stored a sufficient set.
    case wakeWaiters
    /// Send the request to Apple.
    case ask(KeySetFetch)
}

/// A fetch that the state machine has started.
package struct KeySetFetch: Sendable, Equatable {
    package let number: UInt64
    /// The value for `If-None-Match`.
    package let entityTag: String?
    /// Deadline, in milliseconds since 1970. A fetch that runs longer has failed.
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
