public import AppleAccounts
import AppleIdentity
import Commits
import Encodings
import Inspection
import KeySets
public import ServiceLifecycle
import SignIn
import StrictJSON
import Synchronization

/// Keeps the most recent refused or repeated notifications from Apple and events from Google in memory.
/// Exists only in a service with a console.
///
/// Accepted arrivals are in the database. Any client can send to these endpoints, so the log keeps a fixed
/// number of arrivals for one day, with a bounded part of each, and only in memory. Erasures do not affect
/// the log, so it keeps no data that identifies a user: no address, no name and no `sub`.
public final class ArrivalLog: Sendable {
    public enum Sender: String, Sendable, CaseIterable {
        case apple
        case google
    }

    public struct Arrival: Sendable, Hashable {
        /// Sequence number of the arrival. Later arrivals have larger numbers.
        public let number: Int64
        public let sender: Sender
        public let receivedAt: Moment
        /// The refusal code, or `duplicate` for a repeated arrival.
        public let code: String
        public let isRefused: Bool
        public let requestID: String
        /// The token's unverified claims, at most `longestClaims` bytes, with user data masked. Empty if the
        /// token has no readable claims.
        public let claims: [UInt8]
    }

    /// Maximum number of arrivals kept per sender.
    public static let most = 100
    /// Maximum size of an arrival's claims in bytes. The claims in real notifications need less than 1 KiB.
    public static let longestClaims = 4096
    /// Retention time of an arrival: one day, in milliseconds.
    public static let keptFor: Int64 = 86_400_000
    /// Tolerated clock setback in milliseconds: a smaller setback loses no arrivals. Arrivals further in the
    /// future were dated by a wrong clock, and would otherwise stay until that time.
    public static let mostAhead: Int64 = 60_000

    private struct State {
        var number: Int64 = 0
        var arrivals: [Sender: Ring<Arrival>] = [:]

        mutating func dropOld(at now: Moment) {
            for sender in Sender.allCases {
                arrivals[sender]?.removeAll {
                    now >= $0.receivedAt.advanced(byMilliseconds: keptFor)
                        || $0.receivedAt > now.advanced(byMilliseconds: mostAhead)
                }
            }
        }
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Moment
    private let masksPersons: Bool

    /// - Parameter masksPersons: False in `siwa dev`, where all users are fictitious.
    public init(now: @escaping @Sendable () -> Moment, masksPersons: Bool = true) {
        (self.now, self.masksPersons) = (now, masksPersons)
    }

    /// Returns a sender's arrivals, the newest first.
    public func arrivals(from sender: Sender) -> [Arrival] {
        let moment = now()
        return state.withLock { state in
            state.dropOld(at: moment)
            return state.arrivals[sender]?.inOrder.reversed() ?? []
        }
    }

    /// Drops arrivals that are older than a day or dated in the future. Called by a timer.
    public func dropOld() {
        let moment = now()
        state.withLock { $0.dropOld(at: moment) }
    }

    /// - Parameters:
    ///   - code: The refusal code, or `duplicate`.
    ///   - token: The token as received.
    func note(
        _ sender: Sender, _ code: String, isRefused: Bool = true, token: String, requestID: String
    ) {
        let claims = claims(of: token)
        let moment = now()
        state.withLock { state in
            state.number += 1
            let arrival = Arrival(
                number: state.number, sender: sender, receivedAt: moment, code: code, isRefused: isRefused,
                requestID: requestID, claims: claims)
            state.arrivals[sender, default: Ring(bound: Self.most)].append(arrival)
        }
    }

    /// Records a refused token. Ignores database errors, which are not the token's fault.
    fileprivate func noteRefusal(_ sender: Sender, _ error: any Error, _ token: String, _ requestID: String) {
        let code: String? =
            switch error {
            case let error as AppleTokenError: error.code.rawValue
            case let error as SecurityEventError: error.code.rawValue
            case let error as KeySetError: error.code.rawValue
            case _: nil
            }
        if let code { note(sender, code, token: token, requestID: requestID) }
    }

    /// Claims that identify a user, or contain part of a secret. The `token` claim in Google's events
    /// contains the beginning of a refresh token, or its digest.
    private static let hidden: Set<String> = ["sub", "token"]

    /// Returns the token's masked claims. Returns no bytes for a token without JSON claims, because such a
    /// token could be a secret.
    private func claims(of token: String) -> [UInt8] {
        let segments = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        // Four base64url characters encode three bytes, so this bounds the decoded size.
        guard segments.count == 3, segments[1].utf8.count <= Self.longestClaims / 3 * 4,
            let bytes = Base64URL.decode(String(segments[1])),
            let claims = try? JSONValue(parsing: bytes), claims.object != nil
        else { return [] }
        let masked = (masksPersons ? PersonMask.masked(claims, hiding: Self.hidden) : claims).serialized()
        // The mask is longer than an empty string, so masking can increase the size beyond the limit.
        return masked.count <= Self.longestClaims ? masked : []
    }
}

extension ArrivalLog? {
    /// Records a token's refusal, whether it occurs immediately or after a key fetch.
    func watching<Value>(
        _ sender: ArrivalLog.Sender, token: String, requestID: String, _ work: () throws -> Step<Value>
    ) throws -> Step<Value> {
        do {
            let step = try work()
            guard case .work(let work) = step else { return step }
            return .work { try await self.watching(sender, token: token, requestID: requestID, work) }
        } catch {
            self?.noteRefusal(sender, error, token, requestID)
            throw error
        }
    }

    func watching<Value>(
        _ sender: ArrivalLog.Sender, token: String, requestID: String, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch {
            self?.noteRefusal(sender, error, token, requestID)
            throw error
        }
    }
}

/// Removes each arrival within ten minutes after it becomes a day old.
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
