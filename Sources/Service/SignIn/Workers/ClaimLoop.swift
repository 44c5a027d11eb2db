import AppleAccounts
import Logging
import ServiceLifecycle

/// Runs a worker: claims its work, carries it out, counts the results, and ends the claims.
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
        // By the end of the wait there is room for a batch again.
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
            // An error here must not lose the work that was claimed.
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
