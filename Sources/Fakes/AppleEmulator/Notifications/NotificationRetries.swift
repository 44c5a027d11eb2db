import EmulatorServer

/// Retries notifications that receivers did not accept. Each notification has its own task, so that a slow
/// receiver does not delay others.
struct NotificationRetries: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    /// Runs until the task is cancelled. Call it once.
    func run() async {
        await withDiscardingTaskGroup { group in
            // Notifications that were waiting in the state file.
            for waiting in state.waitingNotifications where !waiting.isHeld {
                group.addTask { await keepTrying(waiting.id) }
            }
            for await id in state.awaitedRetries { group.addTask { await keepTrying(id) } }
        }
    }

    private func keepTrying(_ id: Int) async {
        while !Task.isCancelled, let waiting = state.waiting(id), let moment = waiting.nextAttemptAt {
            // The attempt is made when the sleep returns, without reading the clock again: otherwise a test
            // clock that does not advance would cause a busy loop.
            guard (try? await state.clock.sleep(max(0, moment - state.now))) != nil else { return }
            let delivery = await post.deliver(waiting.notification.payload, to: waiting.target)
            state.note(waiting.notification, delivery)
            state.settle(id, isTaken: delivery.isTaken)
        }
    }
}
