package import AppleAccounts
import Logging
import ServiceLifecycle
import Synchronization

/// Runs a worker: claims its work, performs it, counts results, and ends claims.
package struct ClaimLoop<W: Worker>: Service {
    private let worker: W
    private var context: WorkerContext<W.WorkResult> { worker.context }

    package init(_ worker: W) {
        self.worker = worker
    }

    package func run() async throws {
        await WorkerPool(width: W.traits.width, signal: context.signal, clock: context.clock).run(
            claim: claim, perform: perform)
    }

    package func claim(_ capacity: Int) async -> WorkerPool<W.Work>.Claim {
        let moment = context.now()
        // After the wait, the pool has capacity for a batch of work.
        let admitted =
            worker.claimPace?.admit(upTo: capacity, least: max(W.traits.width / 4, 1), at: moment)
            ?? SharedPace.Admission(count: capacity, wait: .zero)
        guard admitted.count > 0 else { return WorkerPool.Claim(work: [], nextLook: admitted.wait) }
        do {
            let work = try await worker.claim(limit: admitted.count, at: moment)
            guard work.count < admitted.count else {
                return WorkerPool.Claim(work: work, nextLook: admitted.wait)
            }
            worker.claimPace?.update { $0.giveBack(admitted.count - work.count) }
            // If this read fails, the claimed work must not be lost.
            let due = try? await worker.nextDue()
            return WorkerPool.Claim(work: work, due: due, at: moment, atMost: W.traits.longestLook)
        } catch {
            worker.claimPace?.update { $0.giveBack(admitted.count) }
            context.log.tell(W.traits.unclaimed, about: error, at: moment)
            return .failed(pause: W.traits.failurePause)
        }
    }

    package func perform(_ work: W.Work) async {
        switch await worker.perform(work) {
        case .cutOff, .counted:
            return
        case .ended(let result):
            context.counters.count(result)
        case .ends(let result, let end):
            context.counters.count(result)
            do {
                try await end.write()
            } catch {
                worker.tell(end.unstored, of: work, error, level: .warning)
            }
        }
    }
}

/// Performs due work, with at most `width` concurrent work items. Claims more work when it has free capacity,
/// after a signal, and at the next due time that a claim returned.
///
/// On graceful shutdown, the pool stops claiming and waits for running work, within the time limits of its
/// calls. Cancelling the pool cancels running work, whose claims then expire.
package struct WorkerPool<Work: Sendable>: Sendable {
    package struct Claim: Sendable {
        package let work: [Work]
        /// Time until the next claim if no signal arrives.
        package let nextLook: Duration
        /// True if a signal must not shorten the wait.
        let isPause: Bool

        package init(work: [Work], nextLook: Duration) {
            (self.work, self.nextLook, isPause) = (work, nextLook, false)
        }

        private init(pause: Duration) {
            (work, nextLook, isPause) = ([], pause, true)
        }

        /// Makes the result of a claim that failed because the database did not respond. No signal may
        /// shorten this pause, because while the database is unavailable each failing request could send a
        /// signal, and the pool would claim a thousand times per second.
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

    /// Minimum capacity at which the pool claims. If it claimed after each completed item, a busy pool would
    /// need as many transactions for claims as for the work itself.
    private var leastCapacity: Int { max(width / 4, 1) }

    /// - Parameters:
    ///   - claim: Claims at most the given number of work items.
    ///   - perform: Performs a work item, and stores or logs its result.
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
                    // The claim returned less work than there is capacity for, so no more work is due.
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

        /// Returns the free capacity; `nil` if the pool is stopping, and 0 if the pool must wait until
        /// running work ends.
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

        /// Ends a work item. Returns `true` if the pool is waiting for capacity.
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
    /// Schedules the next claim for the next due time, or after `longest` if that is sooner. The next claim
    /// is never immediate, so that due work causes no busy loop while it cannot be claimed.
    package init(work: [Work], due: Moment?, at now: Moment, atMost longest: Duration) {
        let wait = due.map { Duration.milliseconds(max($0.milliseconds - now.milliseconds, 50)) }
        self.init(work: work, nextLook: min(wait ?? longest, longest))
    }
}
