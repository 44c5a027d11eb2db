/// The checks of one token as they run: which were reached, and which failed.
struct CheckRun {
    /// True if the checks after the first failure run too.
    let showsAll: Bool
    private(set) var stops: [IssuedTokenCheck: IssuedTokenInspection.Stop] = [:]
    /// The failure that decides.
    private(set) var first: IssuedTokenInspection.Stop?
    private var reached: Set<IssuedTokenCheck> = []

    init(showsAll: Bool) {
        self.showsAll = showsAll
    }

    /// True if no further check runs.
    var isOver: Bool { first != nil && !showsAll }

    /// Runs a check. Returns `nil` when it failed, or when an earlier failure has ended the run.
    mutating func run<Value>(
        _ check: IssuedTokenCheck, _ body: () async throws -> Value
    ) async -> Value? {
        guard !isOver else { return nil }
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
