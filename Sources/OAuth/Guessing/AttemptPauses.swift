package import AppleAccounts

/// Slows failed attempts down, per key.
///
/// Ten failures are free. After them the next attempt waits for a second, and twice as long after each further
/// failure that came in time, up to a minute. Fifteen minutes without a failure reset the count. Does no I/O
/// and reads no clock.
package struct AttemptPauses<Key: Hashable & Sendable>: Sendable {
    static var freeAttempts: Int { 10 }
    /// Milliseconds of the longest pause.
    static var longestPause: Int64 { 60_000 }
    static var memory: Int64 { 900_000 }
    /// Number of keys. Above it the keys whose last failure is the oldest are forgotten.
    static var mostKeys: Int { 10_000 }

    package struct Record: Equatable {
        fileprivate var failures = 0
        fileprivate var failedAt: Moment
        fileprivate var pausedUntil: Moment
    }

    private var records: [Key: Record] = [:]

    package init() {}

    var count: Int { records.count }

    /// Returns the seconds of the pause; `nil` when the next failure is counted.
    package func pause(for key: Key, now: Moment) -> Int64? {
        guard let record = records[key], now < record.pausedUntil, isKept(record, at: now) else { return nil }
        return (record.pausedUntil.milliseconds - now.milliseconds + 999) / 1000
    }

    /// Returns the keys whose failures count at this moment, those with the most failures first. `seconds` is the
    /// pause; `nil` when the next failure is counted.
    func kept(
        where isWanted: (Key) -> Bool, now: Moment
    ) -> [(key: Key, failures: Int, seconds: Int64?)] {
        records.filter { isWanted($0.key) && isKept($0.value, at: now) }
            .map { ($0.key, $0.value.failures, pause(for: $0.key, now: now)) }
            .sorted { $0.failures > $1.failures }
    }

    /// Counts a failure. Returns the records before and after it, for `takeBack`.
    @discardableResult
    package mutating func failed(for key: Key, now: Moment) -> (before: Record?, after: Record) {
        let before = records[key]
        var record = before ?? Record(failedAt: now, pausedUntil: now)
        if !isKept(record, at: now) { record.failures = 0 }
        record.failures += 1
        record.failedAt = now
        let excess = record.failures - Self.freeAttempts
        let pause: Int64 = excess < 0 ? 0 : min(1000 << Int64(min(excess, 16)), Self.longestPause)
        record.pausedUntil = now.advanced(byMilliseconds: pause)
        if before == nil, records.count >= Self.mostKeys { makeRoom(at: now) }
        records[key] = record
        return (before, record)
    }

    /// Takes a failure back that was counted before its outcome was known. The pause of others that failed
    /// meanwhile stays.
    mutating func takeBack(_ counted: (before: Record?, after: Record), for key: Key) {
        guard var record = records[key] else { return }
        if record == counted.after {
            records[key] = counted.before
        } else {
            record.failures = max(0, record.failures - 1)
            records[key] = record
        }
    }

    /// A pause must not grow longer because the clock was set back.
    private func isKept(_ record: Record, at now: Moment) -> Bool {
        (0..<Self.memory).contains(now.milliseconds - record.failedAt.milliseconds)
    }

    /// Removes a quarter of the keys, so that a full table is not sorted for each failure.
    private mutating func makeRoom(at now: Moment) {
        records = records.filter { isKept($0.value, at: now) }
        guard records.count > Self.mostKeys * 3 / 4 else { return }
        let oldest = records.sorted { $0.value.failedAt < $1.value.failedAt }
        for (key, _) in oldest.prefix(records.count - Self.mostKeys * 3 / 4) { records[key] = nil }
    }
}

/// The origin of a request for counting failures: an IPv4 address, or the /64 network of an IPv6 address.
public struct RequesterAddress: Sendable, Hashable {
    private let network: UInt64
    private let isVersion4: Bool

    public init(network: UInt64, isVersion4: Bool) {
        (self.network, self.isVersion4) = (network, isVersion4)
    }

    /// The address as users know it: `203.0.113.7`, or the network `2001:db8:1:2::/64`.
    public var text: String {
        if isVersion4 {
            return stride(from: 24, through: 0, by: -8).map { "\(network >> UInt64($0) & 0xFF)" }
                .joined(separator: ".")
        }
        let groups = stride(from: 48, through: 0, by: -16).map {
            String(network >> UInt64($0) & 0xFFFF, radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }
}
