public import ServiceLifecycle

/// Forgets arrivals that are older than a day, within ten minutes.
public struct ArrivalExpiry: Service {
    private let log: ArrivalLog

    public init(log: ArrivalLog) {
        self.log = log
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                log.dropOld()
                try? await Task.sleep(for: .seconds(600))
            }
        }
    }
}
