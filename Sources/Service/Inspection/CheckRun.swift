/// The checks of one token as they run: which were reached, and which failed.
struct CheckRun {
    private(set) var stops: [IssuedTokenCheck: IssuedTokenInspection.Stop] = [:]
    /// The failure that decides.
    private(set) var first: IssuedTokenInspection.Stop?
    private var reached: Set<IssuedTokenCheck> = []

    /// Runs a check, also after a failure. Returns `nil` when it failed.
    mutating func run<Value>(
        _ check: IssuedTokenCheck, _ body: () async throws -> Value
    ) async -> Value? {
        do {
            let value = try await body()
            reached.insert(check)
            return value
        } catch let stop as IssuedTokenInspection.Stop {
            note(stop)
        } catch {
            note(IssuedTokenInspection.Stop(check, unknown: "the database cannot be read (\(error))"))
        }
        return nil
    }

    func hasPassed(_ check: IssuedTokenCheck) -> Bool { reached.contains(check) }

    private mutating func note(_ stop: IssuedTokenInspection.Stop) {
        stops[stop.check] = stop
        if first == nil { first = stop }
    }

    /// - Parameter wasAsked: True unless the caller gave nothing to compare with.
    func finding(_ check: IssuedTokenCheck, wasAsked: Bool) -> CheckReport.Finding {
        if let stop = stops[check] { return stop.unknown == nil ? .failed : .unknown }
        guard reached.contains(check) else { return .notReached }
        return wasAsked ? .passed : .notAsked
    }
}
