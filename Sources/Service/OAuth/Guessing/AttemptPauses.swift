package import AppleAccounts
public import AuthorizationServer
public import Encodings
import Synchronization

/// Slows down failed attempts per subject and network.
///
/// An address may fail ten times without a pause. A wide network may fail `CountedNetwork.share` times as
/// often. After that, the next attempt must wait for a second. Each further failure doubles the pause, up to
/// a minute. Fifteen minutes without a failure reset the count. Does no I/O and reads no clock.
package struct AttemptPauses<Subject: Hashable & Sendable>: Sendable {
    static var freeAttempts: Int { 10 }
    /// The longest pause in milliseconds.
    static var longestPause: Int64 { 60_000 }
    static var memory: Int64 { 900_000 }
    /// Maximum number of counted keys. Above this number, the keys with the oldest failures are removed.
    static var mostKeys: Int { 10_000 }

    struct Key: Hashable {
        let subject: Subject
        /// The network; `nil` for all requests from unknown addresses.
        let network: CountedNetwork?

        var freeAttempts: Int { AttemptPauses.freeAttempts * (network?.share ?? 1) }
    }

    struct Record: Equatable {
        fileprivate(set) var failures = 0
        fileprivate var failedAt: Moment
        fileprivate var pausedUntil: Moment
    }

    /// A counted failure, which `takeBack` can remove.
    package struct Counted: Sendable {
        fileprivate var changes: [(key: Key, before: Record?, after: Record)] = []
    }

    private var records: [Key: Record] = [:]

    package init() {}

    var count: Int { records.count }

    /// Returns the remaining pause in seconds; `nil` if there is no pause.
    ///
    /// - Parameter address: The request's address; `nil` if it is unknown.
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

    /// Returns the networks with counted failures, the most failures first. Includes a wide network only
    /// while it is slowed down. Its count includes the failures of all networks in it. `seconds` is the
    /// remaining pause; `nil` if there is none.
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

    /// Counts a failure. Returns a record of it that can be passed to `takeBack`.
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

    /// Removes a failure that was counted before its outcome was known. Does not shorten pauses that other
    /// failures caused.
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

    /// Returns `true` if the record still counts. The lower bound prevents a clock that was set back from
    /// extending a pause.
    private func isKept(_ record: Record, at now: Moment) -> Bool {
        (0..<Self.memory).contains(now.milliseconds - record.failedAt.milliseconds)
    }

    /// Removes a quarter of the keys at a time, so that a full table is not sorted for each failure.
    private mutating func makeRoom(at now: Moment) {
        records = records.filter { isKept($0.value, at: now) }
        guard records.count > Self.mostKeys * 3 / 4 else { return }
        let oldest = records.sorted { $0.value.failedAt < $1.value.failedAt }
        for (key, _) in oldest.prefix(records.count - Self.mostKeys * 3 / 4) { records[key] = nil }
    }
}

/// A single subject, for failures that are counted only by address.
package struct AnySubject: Hashable, Sendable {
    package init() {}
}

/// A request's origin for counting: an IPv4 address, or the /64 network of an IPv6 address.
public struct RequesterAddress: Sendable, Hashable {
    private let network: UInt64
    private let isVersion4: Bool

    public init(network: UInt64, isVersion4: Bool) {
        (self.network, self.isVersion4) = (network, isVersion4)
    }

    /// The networks in which requests from this origin are counted, the narrowest network first.
    public var networks: [CountedNetwork] { CountedNetwork.all(of: network, isVersion4: isVersion4) }

    /// The address in text form: `203.0.113.7`, or the network `2001:db8:1:2::/64`.
    public var text: String { networks[0].text }
}

/// Slows down the guessing of client secrets per client and network (`AttemptPauses`). Correct secrets do not
/// count.
typealias SecretGuessing = AttemptPauses<OAuthClientID>

extension SecretGuessing {
    /// Returns the networks that sent wrong secrets for a client.
    func guesses(of client: OAuthClientID, now: Moment) -> [SecretGuesses] {
        kept(for: client, now: now).map {
            SecretGuesses(network: $0.network, wrong: $0.failures, isSlowed: $0.isSlowed, pause: $0.seconds)
        }
    }
}

/// Wrong secrets for a client from one address or network, shown to operators.
package struct SecretGuesses: Sendable, Equatable {
    /// The network; `nil` for all requests from unknown addresses.
    package let network: CountedNetwork?
    /// Number of counted wrong secrets. A wrong secret during a pause does not count.
    package let wrong: Int
    /// True if each further wrong secret starts a pause, because no attempts without a pause remain.
    package let isSlowed: Bool
    /// The remaining pause in seconds; `nil` if there is none.
    package let pause: Int64?
}

/// Authenticates clients, and slows down the guessing of client secrets.
///
/// Wrong secrets never block a correct secret, so an attacker at the client's address, or behind the same
/// proxy, cannot lock the client out. Checking every secret does not weaken security, because a comparison
/// costs less than a lookup, and a secret has 256 random bits.
public struct GuardedAuthentication: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Authenticates a client. If an address has sent too many wrong secrets, the response to another wrong
    /// secret tells the sender to wait.
    ///
    /// - Parameters:
    ///   - credentials: The credentials that the client sent.
    ///   - address: The client's address; `nil` if it is unknown. All unknown addresses count as one address.
    /// - Throws: `GuessingPaused`, and the errors of `authenticate`.
    public func callAsFunction<Value: Sendable>(
        _ credentials: ClientCredentials, from address: RequesterAddress?,
        _ authenticate: () throws(TokenEndpointError) -> Value
    ) throws -> Value {
        do throws(TokenEndpointError) {
            // A correct secret does not end a pause, because otherwise an honest client at a shared address
            // would end an attacker's pauses.
            return try authenticate()
        } catch {
            guard let client = error.guessedClient else { throw error }
            let now = server.now()
            // The lock serializes concurrent attempts, so that each is counted.
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

/// The error for another wrong secret from an address that has already sent too many wrong secrets.
public struct GuessingPaused: Error, Sendable, Equatable {
    /// Number of seconds during which wrong secrets get this error; at least 1.
    public let seconds: Int64
    let usedBasic: Bool

    /// The error that the client receives: `invalid_client`, as for every wrong secret.
    public var error: TokenEndpointError {
        TokenEndpointError(
            OAuthError(
                .invalidClient,
                "The client secret is wrong, as many were that came from this address; check it before the next "
                    + "request."),
            usedBasic: usedBasic)
    }
}
