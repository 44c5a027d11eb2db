public import AppleAccounts
import AppleIdentity
import Encodings
import KeySets
import SecurityEvents
import SignIn
import StrictJSON
import Synchronization

/// The last notifications of Apple's and events of Google's that were refused, or had come before, in memory.
///
/// The database has what was accepted. Anyone can send here, so the log holds a fixed number of arrivals, with a
/// bounded part of each, and nothing of it is stored.
public final class ArrivalLog: Sendable {
    public enum Sender: String, Sendable, CaseIterable {
        case apple
        case google
    }

    public struct Arrival: Sendable, Hashable {
        /// Grows with each arrival.
        public let number: Int64
        public let sender: Sender
        public let receivedAt: Moment
        /// The code of the refusal, or `duplicate`.
        public let code: String
        public let isRefused: Bool
        public let requestID: String
        /// The claims of the token as they came, unverified and unmasked, at most `longestClaims` bytes. Empty
        /// where there are none.
        public let claims: [UInt8]
    }

    /// Number of arrivals of each sender that are kept.
    public static let most = 100
    /// In bytes. Real notifications have less than 1 KiB.
    public static let longestClaims = 4096

    private struct State {
        var number: Int64 = 0
        var arrivals: [Sender: [Arrival]] = [:]
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Moment

    public init(now: @escaping @Sendable () -> Moment) {
        self.now = now
    }

    /// Returns the newest first.
    public func arrivals(from sender: Sender) -> [Arrival] {
        state.withLock { $0.arrivals[sender] ?? [] }.reversed()
    }

    /// - Parameters:
    ///   - code: Of the refusal, or `duplicate`.
    ///   - token: As it came.
    func note(
        _ sender: Sender, _ code: String, isRefused: Bool = true, token: String, requestID: String
    ) {
        let claims = Self.claims(of: token)
        let moment = now()
        state.withLock { state in
            state.number += 1
            var arrivals = state.arrivals[sender] ?? []
            if arrivals.count >= Self.most { arrivals.removeFirst() }
            arrivals.append(
                Arrival(
                    number: state.number, sender: sender, receivedAt: moment, code: code,
                    isRefused: isRefused, requestID: requestID, claims: claims))
            state.arrivals[sender] = arrivals
        }
    }

    /// Notes the refusal of a token, at once or when its key has been fetched.
    func watching<Value>(
        _ sender: Sender, token: String, requestID: String, _ work: () throws -> Step<Value>
    ) throws -> Step<Value> {
        do {
            switch try work() {
            case .now(let value): return .now(value)
            case .later(let work):
                return .later {
                    try await self.watching(sender, token: token, requestID: requestID, work)
                }
            }
        } catch {
            noteRefusal(sender, error, token, requestID)
            throw error
        }
    }

    func watching<Value>(
        _ sender: Sender, token: String, requestID: String, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch {
            noteRefusal(sender, error, token, requestID)
            throw error
        }
    }

    /// Errors of the database say nothing about a token.
    private func noteRefusal(_ sender: Sender, _ error: any Error, _ token: String, _ requestID: String) {
        let code: String? =
            switch error {
            case let error as AppleTokenError: error.code.rawValue
            case let error as SecurityEventError: error.code.rawValue
            case let error as KeySetError: error.code.rawValue
            case _: nil
            }
        if let code { note(sender, code, token: token, requestID: requestID) }
    }

    /// Returns nothing of a token without claims in JSON, so that no part of a secret is kept.
    private static func claims(of token: String) -> [UInt8] {
        let segments = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        // In base64url four characters are three bytes.
        guard segments.count == 3, segments[1].utf8.count <= longestClaims / 3 * 4,
            let bytes = Base64URL.decode(String(segments[1])),
            (try? JSONValue(parsing: bytes))?.object != nil
        else { return [] }
        return bytes
    }
}
