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

/// The last refused or repeated notifications of Apple and events
/// of Google, in memory. Made only for a service with a console.
///
/// The database has the accepted arrivals. Any client can send here, so the log holds a fixed number of
/// arrivals for a day, with a bounded part of each, and stores nothing. It is not notified of erasures, so it
/// keeps no data that identifies a user: no address, no name and no `sub`.
public final class ArrivalLog: Sendable {
    public enum Sender: String, Sendable, CaseIterable {
        case apple
        case google
    }

    public struct Arrival: Sendable, Hashable {
        /// Number of the arrival, in ascending order.
        public let number: Int64
        public let sender: Sender
        public let receivedAt: Moment
        /// The code of the refusal, or `duplicate`.
        public let code: String
        public let isRefused: Bool
        public let requestID: String
        /// The claims of the token, unverified, at most `longestClaims`
        /// bytes, with data about users masked. Empty without claims.
        public let claims: [UInt8]
    }

    /// Largest number of kept arrivals of each sender.
    public static let most = 100
    /// Largest size of the claims in bytes. Real notifications have less than 1 KiB.
    public static let longestClaims = 4096
    /// Milliseconds for which an arrival is kept: a day.
    public static let keptFor: Int64 = 86_400_000
    /// Milliseconds by which the clock may be set back without a loss of arrivals. Arrivals further in the
    /// future were dated by a wrong clock, and would be kept until that time.
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

    /// - Parameter masksPersons: False in `siwa dev`, whose people are invented.
    public init(now: @escaping @Sendable () -> Moment, masksPersons: Bool = true) {
        (self.now, self.masksPersons) = (now, masksPersons)
    }

    /// Returns the arrivals of a sender, the newest first.
    public func arrivals(from sender: Sender) -> [Arrival] {
        let moment = now()
        return state.withLock { state in
            state.dropOld(at: moment)
            return state.arrivals[sender]?.inOrder.reversed() ?? []
        }
    }

    /// Drops arrivals older than a day or dated in the future. A timer calls it.
    public func dropOld() {
        let moment = now()
        state.withLock { $0.dropOld(at: moment) }
    }

    /// - Parameters:
    ///   - code: Code of the refusal, or `duplicate`.
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

    /// Errors of the database say nothing about a token.
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

    /// Claims that identify a user, or are a part of a secret. Google
    /// sends the beginning of a refresh token, or its digest, as `token`.
    private static let hidden: Set<String> = ["sub", "token"]

    /// Returns an empty text for a token without claims in JSON, so that no part of a secret is kept.
    private func claims(of token: String) -> [UInt8] {
        let segments = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        // In base64url, four characters encode three bytes.
        guard segments.count == 3, segments[1].utf8.count <= Self.longestClaims / 3 * 4,
            let bytes = Base64URL.decode(String(segments[1])),
            let claims = try? JSONValue(parsing: bytes), claims.object != nil
        else { return [] }
        let masked = (masksPersons ? PersonMask.masked(claims, hiding: Self.hidden) : claims).serialized()
        // Each mask of an empty text is longer than the text.
        return masked.count <= Self.longestClaims ? masked : []
    }
}

extension ArrivalLog? {
    /// Notes the refusal of a token, at once or when its key has been fetched.
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

/// Removes arrivals within ten minutes after they are a day old.
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
