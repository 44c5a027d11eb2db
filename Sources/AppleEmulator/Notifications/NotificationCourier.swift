/// Posts again what receivers did not take. One task for each, so that a receiver that hangs delays no other.
struct NotificationCourier: Sendable {
    let state: EmulatorState
    let post: NotificationPost

    /// Until the task is cancelled. Call it once.
    func run() async {
        await withDiscardingTaskGroup { group in
            // Those that were waiting when the emulator was started from a file.
            for waiting in state.waitingNotifications where !waiting.isHeld {
                group.addTask { await keepTrying(waiting.id) }
            }
            for await id in state.awaitedRetries { group.addTask { await keepTrying(id) } }
        }
    }

    private func keepTrying(_ id: Int) async {
        while !Task.isCancelled, let waiting = state.waiting(id), let moment = waiting.nextAttemptAt {
            // Due when the sleep returns, whatever the clock says then: a clock that stands still must not spin here.
            guard (try? await state.clock.sleep(max(0, moment - state.now))) != nil else { return }
            let delivery = await post.deliver(waiting.notification.payload, to: waiting.target)
            state.note(waiting.notification, delivery)
            state.settle(id, isTaken: delivery.isTaken)
        }
    }
}
