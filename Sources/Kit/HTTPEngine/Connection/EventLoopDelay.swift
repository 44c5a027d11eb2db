import NIOCore
import NIOPosix

/// The delay of the service's queues of commits.
public enum EventLoopDelay {
    /// A client on the same machine has sent its next request by then. A transaction takes ten times as long.
    private static let moment = TimeAmount.microseconds(50)

    /// Waits on an event loop: on the caller's own if there is one. Requests that the loop has read meanwhile
    /// are handled first.
    public static let commits: @Sendable (_ then: @escaping @Sendable () -> Void) -> Void = { then in
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        eventLoop.scheduleTask(in: moment) {
            // Runs after the requests that were read during the delay.
            eventLoop.execute(then)
        }
    }
}
