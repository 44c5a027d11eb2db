package import AppleAccounts
import ServiceLifecycle
import Synchronization

/// Carries out work that is due, up to `width` pieces at once. Claims more when it has capacity, and looks
/// again at a signal and when a claim said that something will be due.
///
/// At a graceful shutdown it claims nothing more and lets the work that it began end, which the time limits
/// of its calls bound. When it is cancelled, that work is cut off, and its claims expire.
package struct WorkerPool<Work: Sendable>: Sendable {
    package struct Claim: Sendable {
        package let work: [Work]
        /// When to look again if there is no signal.
        package let nextLook: Duration
        /// Whether a signal does not shorten the wait.
        let isPause: Bool

        package init(work: [Work], nextLook: Duration) {
            (self.work, self.nextLook, isPause) = (work, nextLook, false)
        }

        private init(pause: Duration) {
            (work, nextLook, isPause) = ([], pause, true)
        }

        /// For a claim that the database did not answer. A signal must not shorten this pause: while the
        /// database is away each request that fails could send one, and the pool would ask a thousand times a
        /// second.
        package static func failed(pause: Duration) -> Claim { Claim(pause: pause) }
    }

    private struct State {
        var busy = 0
        var isStopping = false
        var waitsForCapacity = false
    }

    let width: Int
    let signal: WakeupSignal
    let clock: any Clock<Duration>

    package init(width: Int, signal: WakeupSignal, clock: any Clock<Duration>) {
        (self.width, self.signal, self.clock) = (width, signal, clock)
    }

    /// The least capacity that is worth a claim. With one claim for each piece of work that ends, a busy pool
    /// would spend as many transactions on claims as on the work.
    private var leastCapacity: Int { max(width / 4, 1) }

    /// - Parameters:
    ///   - claim: Claims at most so many pieces of work.
    ///   - perform: Carries one out, and stores or logs its result itself.
    package func run(
        claim: @Sendable (Int) async -> Claim, perform: @escaping @Sendable (Work) async -> Void
    ) async {
        let (shared, stop) = (Shared(), WakeupSignal())
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                while let capacity = shared.capacity(of: width, least: leastCapacity) {
                    guard capacity > 0 else {
                        await signal.wait(atMost: nil, on: clock)
                        continue
                    }
                    let claimed = await claim(capacity)
                    if claimed.isPause {
                        await stop.wait(atMost: claimed.nextLook, on: clock)
                        continue
                    }
                    shared.begin(claimed.work.count)
                    for work in claimed.work {
                        group.addTask {
                            await perform(work)
                            if shared.end() { signal.wake() }
                        }
                    }
                    // Less than the capacity was everything that is due.
                    if claimed.work.count < capacity {
                        await signal.wait(atMost: claimed.nextLook, on: clock)
                    }
                }
            }
        } onCancelOrGracefulShutdown: {
            shared.stop()
            stop.wake()
            signal.wake()
        }
    }

    private final class Shared: Sendable {
        private let state = Mutex(State())

        /// `nil` when the pool stops, 0 when it has to wait for work of its own to end.
        func capacity(of width: Int, least: Int) -> Int? {
            state.withLock { state in
                guard !state.isStopping, !Task.isCancelled else { return nil }
                let capacity = width - state.busy
                state.waitsForCapacity = capacity < least
                return state.waitsForCapacity ? 0 : capacity
            }
        }

        func begin(_ count: Int) {
            state.withLock { $0.busy += count }
        }

        /// Returns whether the pool waits for capacity.
        func end() -> Bool {
            state.withLock { state in
                state.busy -= 1
                return state.waitsForCapacity
            }
        }

        func stop() {
            state.withLock { $0.isStopping = true }
        }
    }
}

extension WorkerPool.Claim {
    /// Looks again when something will be due, at the latest after `longest`. Not at once, so that a due time
    /// that cannot be claimed yet causes no busy loop.
    package init(work: [Work], due: Moment?, at now: Moment, atMost longest: Duration) {
        let wait = due.map { Duration.milliseconds(max($0.milliseconds - now.milliseconds, 50)) }
        self.init(work: work, nextLook: min(wait ?? longest, longest))
    }
}
