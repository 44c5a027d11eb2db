/// What to do after a fetch has ended.
package enum FinishAction: Sendable, Equatable {
    case wakeWaiters
    case wakeWaitersAndSave(KeySetSnapshot)
}
