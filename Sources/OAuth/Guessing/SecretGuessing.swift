import AppleAccounts
import AuthorizationServer

/// Slows the guessing of client secrets down, per client and address.
///
/// Ten wrong secrets are free. After them the response to a wrong secret requires a wait of a second, and
/// twice as long after each further wrong secret that came in time, up to a minute. Fifteen minutes without a
/// wrong secret reset the count. Right secrets are not counted here. Does no I/O and reads no clock.
struct SecretGuessing: Sendable {
    static let freeAttempts = 10
    /// Milliseconds of the longest pause.
    static let longestPause: Int64 = 60_000
    static let memory: Int64 = 900_000
    /// Number of pairs of client and address. Above it the pairs whose last wrong secret is the oldest are
    /// forgotten.
    static let mostPairs = 10_000

    private struct Pair: Hashable {
        let client: OAuthClientID
        /// `nil` stands for all requests from unknown addresses.
        let address: RequesterAddress?
    }

    private struct Record {
        var failures = 0
        var failedAt: Moment
        var pausedUntil: Moment
    }

    private var records: [Pair: Record] = [:]

    var count: Int { records.count }

    /// Returns the seconds for which wrong secrets must wait; `nil` when the next wrong secret is counted.
    func pause(for client: OAuthClientID, at address: RequesterAddress?, now: Moment) -> Int64? {
        guard let record = records[Pair(client: client, address: address)],
            now < record.pausedUntil, isKept(record, at: now)
        else { return nil }
        return (record.pausedUntil.milliseconds - now.milliseconds + 999) / 1000
    }

    mutating func failed(for client: OAuthClientID, at address: RequesterAddress?, now: Moment) {
        let pair = Pair(client: client, address: address)
        var record = records[pair] ?? Record(failedAt: now, pausedUntil: now)
        if !isKept(record, at: now) { record.failures = 0 }
        record.failures += 1
        record.failedAt = now
        let excess = record.failures - Self.freeAttempts
        let pause: Int64 = excess < 0 ? 0 : min(1000 << Int64(min(excess, 16)), Self.longestPause)
        record.pausedUntil = now.advanced(byMilliseconds: pause)
        if records[pair] == nil, records.count >= Self.mostPairs { makeRoom(at: now) }
        records[pair] = record
    }

    /// A pause must not grow longer because the clock was set back.
    private func isKept(_ record: Record, at now: Moment) -> Bool {
        (0..<Self.memory).contains(now.milliseconds - record.failedAt.milliseconds)
    }

    /// Removes a quarter of the pairs, so that a full table is not sorted for each wrong secret.
    private mutating func makeRoom(at now: Moment) {
        records = records.filter { isKept($0.value, at: now) }
        guard records.count > Self.mostPairs * 3 / 4 else { return }
        let oldest = records.sorted { $0.value.failedAt < $1.value.failedAt }
        for (pair, _) in oldest.prefix(records.count - Self.mostPairs * 3 / 4) { records[pair] = nil }
    }
}

/// The origin of a request for counting wrong secrets: an IPv4 address, or the /64 network of an IPv6
/// address.
public struct RequesterAddress: Sendable, Hashable {
    private let network: UInt64
    private let isVersion4: Bool

    public init(network: UInt64, isVersion4: Bool) {
        (self.network, self.isVersion4) = (network, isVersion4)
    }
}
