package import AppleAccounts
public import AuthorizationServer
public import Encodings
import Synchronization

/// Slows down failed attempts, per subject and network.
///
/// Ten failures of an address cause no pause; a wide network may have `CountedNetwork.share` times as many.
/// After that, the next attempt waits for a second. Each further failure in time doubles the pause, up to a
/// minute. Fifteen minutes without a failure reset the count. Does no I/O and reads no clock.
package struct AttemptPauses<Subject: Hashable & Sendable>: Sendable {
    static var freeAttempts: Int { 10 }
    /// Milliseconds of the longest pause.
    static var longestPause: Int64 { 60_000 }
    static var memory: Int64 { 900_000 }
    /// Largest number of keys. Above it, the keys with the oldest last failure are removed.
    static var mostKeys: Int { 10_000 }

    struct Key: Hashable {
        let subject: Subject
        /// `nil` stands for all requests from unknown addresses.
        let network: CountedNetwork?

        var freeAttempts: Int { AttemptPauses.freeAttempts * (network?.share ?? 1) }
    }

    struct Record: Equatable {
        fileprivate(set) var failures = 0
        fileprivate var failedAt: Moment
        fileprivate var pausedUntil: Moment
    }

    /// A counted failure, for `takeBack`.
    package struct Counted: Sendable {
        fileprivate var changes: [(key: Key, before: Record?, after: Record)] = []
    }

    private var records: [Key: Record] = [:]

    package init() {}

    var count: Int { records.count }

    /// Returns the seconds of the pause; `nil` if the next failure is counted.
    ///
    /// - Parameter address: `nil` when it is unknown.
    package func pause(for subject: Subject, at address: RequesterAddress?, now: Moment) -> Int64? {
        Self.keys(subject, address).compactMap { pause(for: $0, now: now) }.max()
    }

    private func pause(for key: Key, now: Moment) -> Int64? {
        guard let record = records[key], now < record.pausedUntil, isKept(record, at: now) else { return nil }
        return (record.pausedUntil.milliseconds - now.milliseconds + 999) / 1000
    }

    private static func keys(_ subject: Subject, _ address: RequesterAddress?) -> [Key] {
        address?.networks.map { Key(subject: subject, network: $0) } ?? [Key(subject: subject, network: nil)]
    }

    /// Returns the networks whose failures count at this moment, the most failures first. Contains a wide
    /// network only while it is slowed; its failures are the failures of the networks in it. `seconds` is the
    /// pause; `nil` when the next failure is counted.
    func kept(
        for subject: Subject, now: Moment
    ) -> [(network: CountedNetwork?, failures: Int, isSlowed: Bool, seconds: Int64?)] {
        records.filter { key, record in
            key.subject == subject && isKept(record, at: now)
                && (!(key.network?.isWide ?? false) || record.failures >= key.freeAttempts)
        }
        .map { key, record in
            (key.network, record.failures, record.failures >= key.freeAttempts, pause(for: key, now: now))
        }
        .sorted { $0.failures > $1.failures }
    }

    /// Counts a failure. Returns it for `takeBack`.
    @discardableResult
    package mutating func failed(for subject: Subject, at address: RequesterAddress?, now: Moment) -> Counted
    {
        var counted = Counted()
        for key in Self.keys(subject, address) {
            let before = records[key]
            var record = before ?? Record(failedAt: now, pausedUntil: now)
            if !isKept(record, at: now) { record.failures = 0 }
            record.failures += 1
            record.failedAt = now
            let excess = record.failures - key.freeAttempts
            let pause: Int64 = excess < 0 ? 0 : min(1000 << Int64(min(excess, 16)), Self.longestPause)
            record.pausedUntil = now.advanced(byMilliseconds: pause)
            if before == nil, records.count >= Self.mostKeys { makeRoom(at: now) }
            records[key] = record
            counted.changes.append((key, before, record))
        }
        return counted
    }

    /// Removes a failure that was counted before its outcome was known. Pauses by other failures stay.
    mutating func takeBack(_ counted: Counted) {
        for (key, before, after) in counted.changes {
            guard var record = records[key] else { continue }
            if record == after {
                records[key] = before
            } else {
                record.failures = max(0, record.failures - 1)
                records[key] = record
            }
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

/// Subject of failures that are counted by address only.
package struct AnySubject: Hashable, Sendable {
    package init() {}
}

/// The origin of a request for counting: an IPv4 address, or the /64 network of an IPv6 address.
public struct RequesterAddress: Sendable, Hashable {
    private let network: UInt64
    private let isVersion4: Bool

    public init(network: UInt64, isVersion4: Bool) {
        (self.network, self.isVersion4) = (network, isVersion4)
    }

    /// The networks in which the origin is counted, the narrowest first.
    public var networks: [CountedNetwork] { CountedNetwork.all(of: network, isVersion4: isVersion4) }

    /// The address in text form: `203.0.113.7`, or the network `2001:db8:1:2::/64`.
    public var text: String { networks[0].text }
}

/// Slows down the guessing of client secrets, per client and
/// network (`AttemptPauses`). Does not count right secrets.
typealias SecretGuessing = AttemptPauses<OAuthClientID>

extension SecretGuessing {
    /// Returns the networks whose guesses of a client's secret count at this moment.
    func guesses(of client: OAuthClientID, now: Moment) -> [SecretGuesses] {
        kept(for: client, now: now).map {
            SecretGuesses(network: $0.network, wrong: $0.failures, isSlowed: $0.isSlowed, pause: $0.seconds)
        }
    }
}

/// The wrong secrets of a client from one address or network, for operators.
package struct SecretGuesses: Sendable, Equatable {
    /// `nil` stands for all requests from unknown addresses.
    package let network: CountedNetwork?
    /// Number of counted wrong secrets. Wrong secrets during a pause are not counted.
    package let wrong: Int
    /// True if the attempts without a pause are used up, so that each further wrong secret begins a pause.
    package let isSlowed: Bool
    /// Seconds of the pause; `nil` when the next wrong secret is counted.
    package let pause: Int64?
}

/// Authenticates clients, and slows down the guessing of their secrets.
///
/// A right secret is never refused because of wrong secrets, so that a guesser at the address of the client,
/// or behind the same proxy, cannot keep the client out. A comparison costs less than a lookup, and a secret
/// has 256 random bits, so comparing each secret costs no security.
public struct GuardedAuthentication: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Authenticates a client. While too many wrong secrets came from an
    /// address, the response to a further wrong secret requires a wait.
    ///
    /// - Parameters:
    ///   - credentials: The credentials to authenticate.
    ///   - address: `nil` when it is unknown. All unknown addresses count as one address.
    /// - Throws: `GuessingPaused`, and the error of `authenticate`.
    public func callAsFunction<Value: Sendable>(
        _ credentials: ClientCredentials, from address: RequesterAddress?,
        _ authenticate: () throws(TokenEndpointError) -> Value
    ) throws -> Value {
        do throws(TokenEndpointError) {
            // A right secret does not end a pause: at a shared address, the
            // honest client would otherwise end each pause of a guesser.
            return try authenticate()
        } catch {
            guard let client = error.guessedClient else { throw error }
            let now = server.now()
            // Locked, so that concurrent guesses are counted one after the other.
            let pause = server.guessing.withLock { guessing -> Int64? in
                if let seconds = guessing.pause(for: client, at: address, now: now) { return seconds }
                guessing.failed(for: client, at: address, now: now)
                return nil
            }
            guard let pause else { throw error }
            throw GuessingPaused(seconds: pause, usedBasic: credentials.method == .basic)
        }
    }
}

/// A further wrong secret of a client, from an address with too many wrong secrets.
public struct GuessingPaused: Error, Sendable, Equatable {
    /// Seconds for which wrong secrets get this response. At least 1.
    public let seconds: Int64
    let usedBasic: Bool

    /// The error for the client: `invalid_client`, as for every wrong secret.
    public var error: TokenEndpointError {
        TokenEndpointError(
            OAuthError(
                .invalidClient,
                "The client secret is wrong, as many were that came from this address; check it before the next "
                    + "request."),
            usedBasic: usedBasic)
    }
}
