import AppleAccounts

/// Keeps a fault that meets every token from filling the log: each cause is told at once and then at most
/// once a minute, with how often it was left out meanwhile. Pure.
struct Outcry: Sendable {
    static let pause: Int64 = 60_000
    /// Causes name client IDs and error codes, so there are few; the bound only makes that certain.
    static let mostCauses = 256

    private struct Memory {
        var toldAt: Moment
        var leftOut = 0
    }

    private var causes: [String: Memory] = [:]

    /// How many were left out since the cause was last told, when it is to be told now.
    mutating func tell(_ cause: String, at now: Moment) -> Int? {
        guard var memory = causes[cause] else {
            if causes.count >= Self.mostCauses { causes = [:] }
            causes[cause] = Memory(toldAt: now)
            return 0
        }
        let since = now.milliseconds - memory.toldAt.milliseconds
        guard since < 0 || since >= Self.pause else {
            memory.leftOut += 1
            causes[cause] = memory
            return nil
        }
        causes[cause] = Memory(toldAt: now)
        return memory.leftOut
    }
}
