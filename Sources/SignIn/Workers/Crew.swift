import ServiceLifecycle
import Synchronization

/// Carries out what is due, so many at once: claims when there is room, and looks again when it is rung for
/// and when a claim said that something will be due.
///
/// When the service shuts down it claims nothing more and lets what it began come to its end, which the time
/// limits of a call bound. When it is cancelled, what it began is cut off; the claims then run out.
struct Crew<Work: Sendable>: Sendable {
    struct Claim: Sendable {
        let work: [Work]
        /// When to look again if nobody rings.
        let nextLook: Duration
    }

    private struct State {
        var busy = 0
        var isStopping = false
        var waitsForRoom = false
    }

    let width: Int
    let bell: Doorbell
    let clock: any Clock<Duration>

    /// Room that is worth a claim. With one claim for each that ends, a busy crew would spend as many
    /// transactions on claiming as on the work.
    private var leastRoom: Int { max(width / 4, 1) }

    /// - Parameters:
    ///   - claim: Claims at most so many.
    ///   - perform: Carries one out, and says itself what became of it.
    func run(
        claim: @Sendable (Int) async -> Claim, perform: @escaping @Sendable (Work) async -> Void
    ) async {
        let shared = Shared()
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                while let room = shared.room(of: width, least: leastRoom) {
                    guard room > 0 else {
                        await bell.wait(atMost: nil, on: clock)
                        continue
                    }
                    let claimed = await claim(room)
                    shared.begin(claimed.work.count)
                    for work in claimed.work {
                        group.addTask {
                            await perform(work)
                            if shared.end() { bell.ring() }
                        }
                    }
                    // Less than there is room for: that was all that is due.
                    if claimed.work.count < room { await bell.wait(atMost: claimed.nextLook, on: clock) }
                }
            }
        } onCancelOrGracefulShutdown: {
            shared.stop()
            bell.ring()
        }
    }

    private final class Shared: Sendable {
        private let state = Mutex(State())

        /// `nil` when it is time to stop, 0 when the crew has to wait for one of its own.
        func room(of width: Int, least: Int) -> Int? {
            state.withLock { state in
                guard !state.isStopping, !Task.isCancelled else { return nil }
                let room = width - state.busy
                state.waitsForRoom = room < least
                return state.waitsForRoom ? 0 : room
            }
        }

        func begin(_ count: Int) {
            state.withLock { $0.busy += count }
        }

        /// Whether somebody waits for the room.
        func end() -> Bool {
            state.withLock { state in
                state.busy -= 1
                return state.waitsForRoom
            }
        }

        func stop() {
            state.withLock { $0.isStopping = true }
        }
    }
}
